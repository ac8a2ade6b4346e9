"""A machine laid out as the flat arrays that kernels run (`tables.Automaton`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.character_classes import wide_stages
from numbatok.errors import UnsupportedTokenizer
from numbatok.regex.chain import Chain
from numbatok.regex.cutting import NEVER, Laid, may_cut
from numbatok.regex.machine import (
    CUT_AT_EMPTY_MATCH,
    NO_CUT,
    START,
    Bools,
    Bytes,
    Machine,
    Numbers,
    first_of_each,
    labels_of,
    refined,
)
from numbatok.tables import (
    CUTS_FROM,
    EMPTY_FROM,
    ENDS_AT_EMPTY_MATCH,
    ENDS_DROPPED,
    MAY_CUT,
    N_COLUMNS,
    N_SHAPE,
    N_SYMBOLS,
    PUNCTUATION,
    UNKNOWN_FROM,
    UNKNOWN_START,
    Automaton,
)
from numbatok.unicode import CODE_POINTS

MOST_UNKNOWN = 300  # sets of outlooks of which one is meant; more are taken for "any"
MOST_COMPARED = 100_000_000  # cells looked at to join columns: half a second
ANY = -1  # what is done where it cannot come to that
NOTHING, AFTER_KEPT, AFTER_DROPPED, AT_EMPTY_MATCH = range(4)  # what happens at a place


class _Columns(NamedTuple):
    """What happens at a place, for every state: pairs that do the same are one column.

    events, after   [n_states, n_columns]
    possible        [n_states, n_columns] whether it can come to that
    back, columns   [n_outlooks, n_symbols] the outlook before a symbol, and its column
    """

    events: Bytes
    after: Numbers
    possible: Bools
    back: Numbers
    columns: Numbers


def lay_out(chain: Chain, marks_empty: bool = False) -> Automaton:
    """Return the arrays of a compiled chain; `marks_empty` tells cuts at empty matches apart.

    Errors: UnsupportedTokenizer if they would be too large.
    """
    machine = chain.machine
    columns = _columns(machine, marks_empty)
    back, outputs, n_known = _with_unknown(columns.back, columns.columns)
    forward, firsts, states = _forward(columns)
    n_symbols, n_columns = back.shape[1], columns.after.shape[1]
    shape = np.zeros(N_SHAPE, np.int64)
    shape[N_SYMBOLS], shape[N_COLUMNS] = n_symbols, n_columns
    shape[UNKNOWN_FROM] = n_known * n_symbols
    shape[UNKNOWN_START] = (len(back) - 1) * n_symbols
    shape[CUTS_FROM : EMPTY_FROM + 1] = firsts * n_columns
    shape[PUNCTUATION] = chain.ill_formed(as_punctuation=True)[0]
    laid = Laid(
        columns.back, columns.columns, np.where(columns.possible[states], forward, NEVER),
        states, int(firsts[0]),
    )  # fmt: skip
    shape[MAY_CUT] = may_cut(laid, chain.kinds, chain.joint)
    ends = machine.drops * ENDS_DROPPED + machine.empties * ENDS_AT_EMPTY_MATCH
    return Automaton(
        classes=wide_stages(chain.kinds[:CODE_POINTS], chain.ill_formed()),
        joint=chain.joint,
        back=(back * n_symbols).astype(np.uint32).ravel(),
        columns=outputs.astype(np.uint16).ravel(),
        forward=(forward * n_columns).astype(np.uint32).ravel(),
        ends=ends[states].astype(np.uint8),
        shape=shape,
    )


def _columns(machine: Machine, marks_empty: bool) -> _Columns:
    cuts = machine.cuts[:, machine.outlooks]
    events = np.where(machine.drops[:, None], AFTER_DROPPED, AFTER_KEPT)
    events = np.where(cuts == NO_CUT, NOTHING, events)
    if marks_empty:
        events[cuts == CUT_AT_EMPTY_MATCH] = AT_EMPTY_MATCH
    steps = events.astype(np.int64) * len(machine.after) + machine.after
    steps[~machine.meets[:, machine.outlooks]] = ANY
    labels, rows = _matched(np.ascontiguousarray(steps.T))
    if len(rows) > 0xFFFF:
        raise UnsupportedTokenizer(f"pre_tokenizer: its automaton has {len(rows)} columns")
    possible = rows.T != ANY
    events, after = np.divmod(np.where(possible, rows.T, START), len(machine.after))
    outputs = labels[machine.pairs]
    labels = refined(labels_of(outputs), machine.back)
    kept = first_of_each(labels)
    return _Columns(
        events.astype(np.uint8), after.astype(np.int32), possible,
        labels[machine.back[kept]], outputs[kept],
    )  # fmt: skip


def _matched(rows: NDArray[np.int64]) -> tuple[Numbers, NDArray[np.int64]]:
    """Join rows that differ only where one of them has ANY; return labels and the joint rows."""
    labels = labels_of(rows)
    different = rows[first_of_each(labels)]
    joint, places = different[:0].copy(), np.zeros(len(different), np.int32)
    for row in np.argsort((different == ANY).sum(axis=1), kind="stable").tolist():
        values = different[row]
        fits = np.zeros(0, np.int64)
        if len(different) * joint.size < MOST_COMPARED:
            same = (joint == values) | (joint == ANY) | (values == ANY)
            fits = np.flatnonzero(same.all(axis=1))
        if fits.size:
            places[row] = fits[0]
            joint[fits[0]] = np.where(values == ANY, joint[fits[0]], values)
        else:
            places[row] = len(joint)
            joint = np.vstack([joint, values])
    return places[labels], joint


def _forward(columns: _Columns) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the rows of the forward table, the first row of each event, and each row's state.

    A row is a state together with what happened at the place before it, so that this need not be
    looked up: rows in which nothing happened come first, then those after each kind of cut.
    """
    keys = columns.events.astype(np.int64) * len(columns.after) + columns.after
    reached = np.unique(np.append(keys, START))
    places = np.zeros(int(reached.max()) + 1, np.int32)
    places[reached] = np.arange(len(reached))
    events, states = np.divmod(reached, len(columns.after))
    firsts = np.searchsorted(events, np.array([AFTER_KEPT, AFTER_DROPPED, AT_EMPTY_MATCH]))
    return places[keys][states], firsts, states


def _with_unknown(back: Numbers, columns: Numbers) -> tuple[Numbers, Numbers, int]:
    """Append outlooks that stand for "one of these", the last one for "any".

    They are where a text is read from a place behind which it goes on. One point more and often
    there is only one outlook left; then it is known.
    """
    n_known, n_symbols = back.shape
    every = frozenset(range(n_known))
    numbers: dict[frozenset[int], int] = {every: -1}
    sets, rows = [every], list[list[int]]()
    while len(rows) < len(sets):
        members = np.fromiter(sets[len(rows)], np.int64)
        row = []
        for symbol in range(n_symbols):
            found = frozenset(np.unique(back[members, symbol]).tolist())
            if len(found) == 1:
                row.append(next(iter(found)))
                continue
            if found not in numbers and len(sets) < MOST_UNKNOWN:
                numbers[found] = n_known + len(sets) - 1
                sets.append(found)
            row.append(numbers.get(found, -1))
        rows.append(row)
    rows.append(rows.pop(0))
    unknown = np.array(rows, np.int32)
    unknown[unknown < 0] = n_known + len(rows) - 1
    outputs = np.zeros(unknown.shape, columns.dtype)
    return np.vstack([back, unknown]), np.vstack([columns, outputs]), n_known
