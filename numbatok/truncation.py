"""Cutting a text down to what fits, between characters."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from numbatok.batch import Side


def inside_character(data: bytes, pos: int) -> bool:
    """Tell whether a well-formed character covers both sides of pos."""
    for start in range(max(0, pos - 3), pos):
        if data[start] >= 0xC2:
            length = 2 + (data[start] >= 0xE0) + (data[start] >= 0xF0)
            if start + length > pos:
                try:
                    data[start : start + length].decode()
                except UnicodeDecodeError:
                    continue
                return True
    return False


def cut_between_characters(data: bytes, size: int, side: Side) -> bytes:
    """Return the first or last `size` bytes, less a character cut in two."""
    pos = size if side == "right" else len(data) - size
    step = -1 if side == "right" else 1
    while 0 < pos < len(data) and data[pos] & 0xC0 == 0x80 and inside_character(data, pos):
        pos += step
    return data[:pos] if side == "right" else data[pos:]


def halve(data: bytes, fits: Callable[[bytes], bool], side: Side) -> bytes:
    """Return as much of a text as fits, where ids say nothing about bytes: by halving.

    A text of one character less that fits is looked at as if all shorter ones did; nothing fits.
    """

    def kept(size: int) -> bytes:
        return cut_between_characters(data, size, side)

    first_that_does_not = bisect_left(range(len(data) + 1), True, key=lambda n: not fits(kept(n)))
    return kept(first_that_does_not - 1)
