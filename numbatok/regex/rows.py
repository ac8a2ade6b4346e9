"""Rows of an automaton's tables, and those that stand for several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.regex.machine import START, Bools, Bytes, Numbers

MOST_UNKNOWN = 100  # sets of rows of which one is meant; more are taken for "any"
NEVER = -1  # in a table: it cannot come to that
NOTHING, AFTER_KEPT, AFTER_DROPPED, AT_EMPTY_MATCH = range(4)  # what happens at a place


class Rows(NamedTuple):
    """The forward table.

    A row is a state together with what happened at the place before it, so that this need not be
    looked up. Rows in which nothing happened come first; those after a cut from 2**k on, and where
    the piece before the cut is dropped, from 2**k + 2**(k - 1) on: both can be read off two bits.
    Rows from 2**(k + 1) on stand for several. What is between them is never reached.

    table    [n_rows, n_columns] next row, or NEVER
    states   [2**(k + 1)] the state of a row
    firsts   the first rows after a cut, after a dropped piece, and after an empty match
    bits     a row takes 1 << bits columns
    """

    table: Numbers
    states: Numbers
    firsts: tuple[int, int, int]
    bits: int

    def laid_out(self) -> NDArray[np.uint32]:
        """Return the table with the first cell of each row in the place of its number."""
        cells = np.zeros((len(self.table), 1 << self.bits), np.uint32)
        numbers = np.where(self.table == NEVER, START, self.table)
        cells[:, : self.table.shape[1]] = numbers << self.bits
        return cells.ravel()


def place_rows(events: Bytes, after: Numbers, possible: Bools) -> Rows:
    """Make the forward table of what happens, and of the state after it, by state and column."""
    n_states, n_columns = after.shape
    keys = events.astype(np.int64) * n_states + after
    reached = np.unique(np.append(keys[possible], START))
    counts = np.bincount(reached // n_states, minlength=4)
    bits = max(n_columns - 1, 1).bit_length()
    half = 1 << max(
        int(max(counts[NOTHING] - 1, 1)).bit_length() - 1,
        int(max(counts[AFTER_KEPT] - 1, 1)).bit_length(),
        int(max(counts[AFTER_DROPPED] + counts[AT_EMPTY_MATCH] - 1, 1)).bit_length(),
        7 - bits,  # the bits that tell are the highest of 8 or more
    )
    firsts = (2 * half, 3 * half, 3 * half + int(counts[AFTER_DROPPED]))
    starts = np.array([0, *firsts])
    within = np.arange(len(reached)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(starts, counts) + within
    number = np.zeros(int(reached.max()) + 1, np.int64)
    number[reached] = places
    states = np.zeros(4 * half, np.int32)
    states[places] = reached % n_states
    table = np.full((4 * half, n_columns), NEVER, np.int32)
    by_state = np.where(possible, number[np.where(possible, keys, START)], NEVER)
    table[places] = by_state[states[places]]
    table = np.vstack([table, unknown_rows(table, places)])
    return Rows(table, states, firsts, bits)


def unknown_rows(table: Numbers, rows: NDArray[np.int64] | None = None) -> Numbers:
    """Return rows that stand for "one of these" of some rows of a table; the last one for "any".

    They are where a text is read from a place about which nothing is known. One point more and
    often there is only one row left; then it is known.
    """
    n_known = len(table)
    every = frozenset((np.arange(n_known) if rows is None else rows).tolist())
    numbers: dict[frozenset[int], int] = {every: -1}
    sets, made = [every], list[Numbers]()
    while len(made) < len(sets):
        cells = table[np.fromiter(sets[len(made)], np.int64)]
        row = np.maximum(cells.max(axis=0), START)
        least = np.where(cells == NEVER, row, cells).min(axis=0)
        for column in np.flatnonzero(least < row).tolist():
            found = frozenset(cells[:, column].tolist()) - {NEVER}
            if found not in numbers and len(sets) < MOST_UNKNOWN:
                numbers[found] = n_known + len(sets) - 1
                sets.append(found)
            row[column] = numbers.get(found, -1)
        made.append(row)
    made.append(made.pop(0))
    unknown = np.array(made, np.int32)
    unknown[unknown < 0] = n_known + len(made) - 1
    return unknown
