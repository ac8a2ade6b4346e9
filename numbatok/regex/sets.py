r"""Sets of points: what one step over a text can go over.

A point is a character or a byte that belongs to no well-formed character. Such a stray byte has the
properties (`\p{..}`, `\s`, `\w`) of the character that stands for it in the byte alphabet, or with
invalid="punct" those of `!`; but no literal and no range holds it. So the sets are over 0x110000
code points, 256 stray bytes, and the stray byte that counts as punctuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numbatok.character_classes import byte_alphabet
from numbatok.unicode import CODE_POINTS

Mask = NDArray[np.bool_]  # [POINTS]

STRAY_BYTES = CODE_POINTS  # a stray byte is the point STRAY_BYTES + byte
STRAY_MARK = CODE_POINTS + 256
POINTS = CODE_POINTS + 257
PUNCTUATION_MARK = ord("!")


@cache
def _stray_codes() -> NDArray[np.int64]:
    return np.append(byte_alphabet(), PUNCTUATION_MARK)


def with_property(table: NDArray[Any]) -> NDArray[Any]:
    """Return what each point has of a property, from an array[CODE_POINTS]."""
    return np.concatenate([table, table[_stray_codes()]])


def of_characters(table: Mask) -> Mask:
    """Return the characters of bool[CODE_POINTS], without any stray byte."""
    return np.concatenate([table, np.zeros(POINTS - CODE_POINTS, np.bool_)])


def of_range(first: int, last: int) -> Mask:
    """Return the characters first ... last."""
    mask = np.zeros(POINTS, np.bool_)
    mask[first : last + 1] = True
    return mask


def every_point() -> Mask:
    """Return the set of all points."""
    return np.ones(POINTS, np.bool_)


class SetTable:
    """The sets of one step of a chain, each with a number, equal ones once.

    A set is kept as the points where it begins and ends by turns: 0.1 KB instead of 1.1 MB.
    """

    def __init__(self) -> None:
        self.edges: list[NDArray[np.int64]] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, mask: Mask) -> int:
        """Return the number of a set."""
        edges = np.flatnonzero(np.diff(mask, prepend=np.False_))
        number = self._numbers.setdefault(edges.tobytes(), len(self.edges))
        if number == len(self.edges):
            self.edges.append(edges)
        return number

    def mask(self, number: int) -> Mask:
        """Return a set by its number."""
        counts = np.zeros(POINTS, np.int8)
        counts[self.edges[number]] = 1
        return np.bitwise_xor.accumulate(counts).astype(np.bool_)


@dataclass(frozen=True)
class Classes:
    """Points in stretches of one class each.

    starts   where the stretches start, int64[n_stretches], the first 0
    labels   the class of each, int64[n_stretches]
    holds    bool[n_sets, n_classes]: whether a set holds the points of a class
    """

    starts: NDArray[np.int64]
    labels: NDArray[np.int64]
    holds: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """The number of classes."""
        return int(self.holds.shape[1])

    def at(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the classes of points."""
        return self.labels[np.searchsorted(self.starts, points, side="right") - 1]


def classify(
    edges: Sequence[NDArray[np.int64]], points: NDArray[np.int64] | None = None
) -> Classes:
    """Classify points by which of some sets, given as in SetTable, hold them.

    With `points`, the classes are those of these points, which count as 0, 1, 2 and so on.
    """
    starts = (
        np.unique(np.concatenate([np.zeros(1, np.int64), *edges])) if points is None else points
    )
    rows = [np.searchsorted(each, starts, side="right") % 2 == 1 for each in edges]
    inside = np.array(rows, np.bool_).reshape(len(edges), len(starts))
    labels, first = joint_labels(inside)
    places = starts if points is None else np.arange(len(points))
    return Classes(places, labels, inside[:, first])


def joint_labels(columns: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the columns of a table, equal ones alike; return the numbers and where each is."""
    rows = np.ascontiguousarray(columns.T)
    if rows.shape[1] == 0:
        return np.zeros(len(rows), np.int64), np.zeros(1, np.int64)
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, labels = np.unique(keys, return_index=True, return_inverse=True)
    return labels.ravel(), first
