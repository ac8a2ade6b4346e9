"""Where each byte of a changed text comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]
Edit = tuple[int, int, bytes]  # start, end, and what stands there instead


class Alignment(NamedTuple):
    """Byte spans in the text as it was given, one for each byte of what became of it."""

    starts: I64  # [n]
    ends: I64  # [n]

    @classmethod
    def identity(cls, start: int, end: int) -> Alignment:
        """Return the alignment of an unchanged part of a text."""
        starts = np.arange(start, end, dtype=np.int64)
        return cls(starts, starts + 1)

    def part(self, start: int, end: int) -> Alignment:
        """Return the alignment of some of the bytes."""
        return Alignment(self.starts[start:end], self.ends[start:end])

    def bounds(self, start: int, end: int) -> tuple[int, int]:
        """Return where some of the bytes start and end in the text as it was given.

        Of none, both are where the byte before them ends.
        """
        if start < end:
            return int(self.starts[start]), int(self.ends[end - 1])
        place = int(self.ends[start - 1]) if start else int(self.starts[0])
        return place, place

    def edited(self, edits: Sequence[Edit]) -> Alignment:
        """Follow a change: every byte of a replacement comes from all that it replaces.

        No replacement stands where nothing stood.
        """
        starts, ends, done = [], [], 0
        for start, end, replacement in edits:
            if end > start:
                first, last = self.starts[start], self.ends[end - 1]
                starts += [self.starts[done:start], np.full(len(replacement), first)]
                ends += [self.ends[done:start], np.full(len(replacement), last)]
                done = end
        starts.append(self.starts[done:])
        ends.append(self.ends[done:])
        return Alignment(np.concatenate(starts), np.concatenate(ends))


def put_before(text: bytes, content: bytes) -> list[Edit]:
    """Return the edit that puts something before a text: it comes from the first character."""
    length = next((k for k in range(1, len(text)) if text[k] & 0xC0 != 0x80), len(text))
    return [(0, length, content + text[:length])] if text else []
