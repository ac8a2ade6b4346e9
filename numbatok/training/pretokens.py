"""Pretokens with counts as flat arrays, and what can be done with those arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numbatok.native import function
from numbatok.tables import I64, MARGIN, U8

KEY = 16  # bytes that two numbers compare; longer pretokens that share them are compared whole


@dataclass(frozen=True)
class Pretokens:
    """Distinct or repeated pretokens, each with how often it occurs.

    text      uint8[n_bytes or more], one after the other
    ends      int64[n + 1]; pretoken i is text[ends[i] : ends[i + 1]], ends[0] being 0
    numbers   int64[n] counts
    firsts    int64[n] where each occurs first, in bytes of the source; None if unknown
    """

    text: U8
    ends: I64
    numbers: I64
    firsts: I64 | None

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, i: int) -> bytes:
        """Return the bytes of pretoken i."""
        return self.text[self.ends[i] : self.ends[i + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> I64:
        """The number of bytes of each pretoken."""
        return np.diff(self.ends)

    @property
    def n_bytes(self) -> int:
        """The number of bytes of all pretokens."""
        return int(self.ends[-1])

    def padded_text(self) -> U8:
        """Return the bytes with MARGIN readable ones behind the last pretoken."""
        if self.text.size >= self.n_bytes + MARGIN:
            return self.text
        return np.concatenate([self.text[: self.n_bytes], np.zeros(MARGIN, np.uint8)])

    def firsts_or_zeros(self) -> I64:
        """Return the first places, or zeros if they are unknown."""
        return np.zeros(len(self), np.int64) if self.firsts is None else self.firsts

    def take(self, order: NDArray[np.int64]) -> Pretokens:
        """Return the pretokens of some indexes, in their order."""
        lengths = self.lengths[order]
        ends = np.zeros(len(order) + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        text = np.empty(int(ends[-1]) + MARGIN, np.uint8)
        source = self.padded_text()
        function("gather_pretokens")(
            source.ctypes.data, self.ends.ctypes.data, len(self), order.ctypes.data, len(order),
            text.ctypes.data, ends.ctypes.data,
        )  # fmt: skip
        firsts = None if self.firsts is None else self.firsts[order]
        return Pretokens(text, ends, self.numbers[order], firsts)

    def slice(self, start: int, stop: int) -> Pretokens:
        """Return pretokens start ... stop - 1 without a copy of their bytes."""
        first = self.ends[start]
        firsts = None if self.firsts is None else self.firsts[start:stop]
        return Pretokens(
            self.text[first : self.ends[stop]],
            self.ends[start : stop + 1] - first,
            self.numbers[start:stop],
            firsts,
        )


def make_pretokens(
    words: Sequence[bytes], numbers: Sequence[int], firsts: Sequence[int] | None = None
) -> Pretokens:
    """Lay pretokens out."""
    ends = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=ends[1:])
    text = np.frombuffer(b"".join(words) + bytes(MARGIN), np.uint8)
    places = None if firsts is None else np.array(firsts, np.int64)
    return Pretokens(text, ends, np.array(numbers, np.int64), places)


def join(parts: Sequence[Pretokens]) -> Pretokens:
    """Return the pretokens of all parts, one part after the other; equal ones stay apart."""
    sizes = np.cumsum([0, *(part.n_bytes for part in parts)])
    ends = [part.ends[1:] + size for part, size in zip(parts, sizes, strict=False)]
    ordered = all(part.firsts is not None for part in parts)
    return Pretokens(
        np.concatenate(
            [*(part.text[: part.n_bytes] for part in parts), np.zeros(MARGIN, np.uint8)]
        ),
        np.concatenate([np.zeros(1, np.int64), *ends]),
        np.concatenate([np.zeros(0, np.int64), *(part.numbers for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(p.firsts_or_zeros() for p in parts)])
        if ordered
        else None,
    )


def sorting_order(pretokens: Pretokens) -> NDArray[np.int64]:
    """Return the indexes of the pretokens sorted by their bytes."""
    n = len(pretokens)
    first, second = np.empty(n, np.uint64), np.empty(n, np.uint64)
    text = pretokens.padded_text()
    function("sort_keys")(
        text.ctypes.data, pretokens.ends.ctypes.data, n, first.ctypes.data, second.ctypes.data
    )
    lengths = pretokens.lengths
    order = np.lexsort((lengths, second, first))
    same = (first[order[1:]] == first[order[:-1]]) & (second[order[1:]] == second[order[:-1]])
    long = same & (lengths[order[:-1]] > KEY)
    if long.any():
        _sort_long(pretokens, order, long)
    return order


def _sort_long(pretokens: Pretokens, order: NDArray[np.int64], long: NDArray[np.bool_]) -> None:
    """Sort runs of pretokens that share their first 16 bytes and are longer, in place.

    long[i] tells that places i and i + 1 belong to one such run.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], long, [False]]).astype(np.int8)))
    for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        run = order[start : stop + 1]
        order[start : stop + 1] = sorted(run.tolist(), key=pretokens.__getitem__)


def sort_and_add_up(pretokens: Pretokens) -> Pretokens:
    """Return distinct pretokens sorted by their bytes, with the counts of equal ones added."""
    ordered = pretokens.take(sorting_order(pretokens))
    starts = np.flatnonzero(~equal_to_previous(ordered))
    if len(starts) == len(ordered):
        return ordered
    firsts = None if ordered.firsts is None else np.minimum.reduceat(ordered.firsts, starts)
    distinct = ordered.take(starts)
    return Pretokens(distinct.text, distinct.ends, np.add.reduceat(ordered.numbers, starts), firsts)


def equal_to_previous(pretokens: Pretokens) -> NDArray[np.bool_]:
    """Return which pretokens equal the one before them."""
    equal = np.zeros(len(pretokens), np.uint8)
    function("mark_repeated")(
        pretokens.text.ctypes.data, pretokens.ends.ctypes.data, len(pretokens), equal.ctypes.data
    )
    return equal.astype(bool)
