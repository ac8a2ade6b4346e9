"""Whether a text may be cut in the places that `numbatok.cuts` finds, shown on the tables.

A cut between two characters is safe if, whatever stands before and after them,

- to what is before it, the end of the text looks the same as what is after it;
- there is a cut there, and what is after it is then cut as at the start of a text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.regex.machine import Numbers
from numbatok.regex.rows import NEVER
from numbatok.tables import CUT_COMMAS, CUT_WORDS

Symbols = NDArray[np.int64]

END = 0
LETTERS = np.array([*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1)])
IDEOGRAPHS = np.arange(0x5000, 0x9000)
COMMAS = np.array([0xFF0C, 0x3001, 0x3002])


class Laid(NamedTuple):
    """The tables of an automaton, not multiplied out.

    back, columns   [n_outlooks, n_symbols]
    forward         [n_rows, n_columns] or NEVER
    states          [n_rows] the state of a row
    cuts_from       first row after a cut
    """

    back: Numbers
    columns: Numbers
    forward: Numbers
    states: Numbers
    cuts_from: int


def safe_cuts(laid: Laid, kinds: NDArray[np.uint16], joint: NDArray[np.uint16]) -> int:
    """Return which of the cuts that `numbatok.cuts.find_cut` finds are safe: CUT_WORDS, CUT_COMMAS.

    kinds, joint   as in `chain.Chain`
    """
    letters = _spelled(LETTERS, kinds, joint)
    space = _spelled(np.array([ord(" ")]), kinds, joint)
    words = np.array([[*space[0], *letter] for letter in letters])
    ideographs, commas = _spelled(IDEOGRAPHS, kinds, joint), _spelled(COMMAS, kinds, joint)
    in_words, at_commas = _are_safe(laid, letters, words), _are_safe(laid, ideographs, commas)
    return CUT_WORDS * in_words | CUT_COMMAS * at_commas


def _spelled(
    points: NDArray[np.int64], kinds: NDArray[np.uint16], joint: NDArray[np.uint16]
) -> Symbols:
    """Return the symbols of the bytes of characters of equal length, equal ones once."""
    if points[0] < 0x80:
        spelled = np.array([points])
    else:
        spelled = np.array([0xE0 | points >> 12, 0x80 | points >> 6 & 0x3F, 0x80 | points & 0x3F])
    classes = np.zeros(spelled.shape, np.int64)
    classes[0] = kinds[points]
    symbols = joint[classes << 8 | spelled] if joint.size else classes
    unique: Symbols = np.unique(symbols.T, axis=0).astype(np.int64)
    return unique


def _are_safe(laid: Laid, before: Symbols, after: Symbols) -> bool:
    """Tell whether a cut is safe between any of `before` and any of `after`."""
    outlooks, columns = _here(laid, after)
    return all(_is_safe(laid, symbols, outlooks, columns) for symbols in before)


def _here(laid: Laid, after: Symbols) -> tuple[Symbols, Symbols]:
    """Return the outlooks there can be before `after`, and the columns of its first symbol."""
    found = []
    for symbols in after:
        outlooks = np.arange(len(laid.back))
        columns = outlooks
        for symbol in symbols[::-1]:
            columns = laid.columns[outlooks, symbol]
            outlooks = laid.back[outlooks, symbol]
        found.append(np.stack([outlooks, columns], axis=1))
    outlooks, columns = np.unique(np.vstack(found), axis=0).T
    return outlooks.astype(np.int64), columns.astype(np.int64)


def _is_safe(laid: Laid, symbols: Symbols, outlooks: Symbols, columns: Symbols) -> bool:
    seen = np.append(END, outlooks)  # the end of a text, and what there is in truth
    rows = np.arange(len(laid.forward))
    read = []
    for symbol in symbols[::-1]:
        read.append(laid.columns[seen, symbol])
        seen = laid.back[seen, symbol]
    if any((values != values[0]).any() for values in [seen, *read]):
        return False
    for values in read[::-1]:
        rows = np.unique(laid.forward[rows, values[0]])
        rows = rows[rows != NEVER]
    after = laid.forward[rows[:, None], columns]
    same = laid.states[after] == laid.states[laid.forward[0, columns]]
    return bool((same & (after >= laid.cuts_from) | (after == NEVER)).all())
