"""Changes of a text that normalizers make here and there, and their application in one go."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from numbatok.alignment import Edit
from numbatok.pages import lend
from numbatok.tables import U8


def split_edits(
    edits: list[Edit], ends: NDArray[np.int64], change: Callable[[bytes], bytes], text: U8
) -> list[Edit]:
    """Return edits of documents, from edits of what they are as one text.

    A stretch of two documents is worked out for each of them.
    """
    if not edits or len(ends) < 2:
        return edits
    stops = np.array([end for _, end, _ in edits])
    starts = np.array([start for start, _, _ in edits])
    first = np.searchsorted(ends, starts, "right")  # the document of the first byte
    crossing = np.flatnonzero(ends[np.minimum(first, len(ends) - 1)] < stops)
    if not crossing.size:
        return edits
    view, result, done = text.data, [], 0
    for k in crossing.tolist():
        start, stop, _ = edits[k]
        result += edits[done:k]
        done = k + 1
        inner = ends[first[k] : np.searchsorted(ends, stop)].tolist()
        bounds = [start, *dict.fromkeys(inner), stop]
        for a, b in pairwise(bounds):
            old = bytes(view[a:b])
            new = change(old)
            if new != old:
                result.append((a, b, new))
    return result + edits[done:]


def apply_edits(
    text: U8, ends: NDArray[np.int64], edits: list[Edit]
) -> tuple[U8, NDArray[np.int64]]:
    """Return documents after edits, none of which crosses an end: the bytes, and the ends."""
    if not edits:
        return text, ends
    stops = np.array([end for _, end, _ in edits])
    growth = np.zeros(len(edits) + 1, np.int64)
    np.cumsum([len(new) - (end - start) for start, end, new in edits], out=growth[1:])
    size = text.size + int(growth[-1])
    room = lend(size)
    out = np.empty(size, np.uint8) if room is None else room
    source, target = text.data, out.data
    done = at = 0
    for start, end, new in edits:
        target[at : at + start - done] = source[done:start]
        at += start - done
        target[at : at + len(new)] = new
        at, done = at + len(new), end
    target[at:] = source[done:]
    return out, ends + growth[np.searchsorted(stops, ends, "right")]
