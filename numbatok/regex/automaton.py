"""A machine laid out as the flat arrays that kernels run (`tables.Automaton`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.character_classes import wide_stages
from numbatok.errors import UnsupportedTokenizer
from numbatok.regex.chain import Chain
from numbatok.regex.cutting import Laid, safe_cuts
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
from numbatok.regex.rows import (
    AFTER_DROPPED,
    AFTER_KEPT,
    AT_EMPTY_MATCH,
    NOTHING,
    Rows,
    place_rows,
    unknown_rows,
)
from numbatok.tables import (
    COLUMN_BITS,
    CUTS_FROM,
    DROPS_FROM,
    EMPTY_FROM,
    ENDS_AT_EMPTY_MATCH,
    ENDS_DROPPED,
    MARK_SHIFT,
    N_SHAPE,
    N_SYMBOLS,
    PUNCTUATION,
    ROW_UNKNOWN_FROM,
    ROW_UNKNOWN_START,
    SAFE_CUTS,
    UNKNOWN_FROM,
    UNKNOWN_START,
    Automaton,
)
from numbatok.unicode import CODE_POINTS

MOST_COMPARED = 100_000_000  # cells looked at to join columns: half a second
ANY = -1  # what is done where it cannot come to that


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
    rows = place_rows(columns.events, columns.after, columns.possible)
    back = np.vstack([columns.back, unknown_rows(columns.back)])
    outputs = np.zeros(back.shape, np.uint16)
    outputs[: len(columns.back)] = columns.columns
    ends = machine.drops * ENDS_DROPPED + machine.empties * ENDS_AT_EMPTY_MATCH
    return Automaton(
        classes=wide_stages(chain.kinds[:CODE_POINTS], chain.ill_formed()),
        joint=chain.joint,
        back=(back * back.shape[1]).astype(np.uint32).ravel(),
        columns=outputs.ravel(),
        forward=rows.laid_out(),
        ends=ends[rows.states].astype(np.uint8),
        shape=_shape(chain, columns, rows, len(back)),
    )


def _shape(chain: Chain, columns: _Columns, rows: Rows, n_outlooks: int) -> NDArray[np.int64]:
    n_known, n_symbols = columns.back.shape
    shape = np.zeros(N_SHAPE, np.int64)
    shape[N_SYMBOLS], shape[COLUMN_BITS] = n_symbols, rows.bits
    shape[UNKNOWN_FROM] = n_known * n_symbols
    shape[UNKNOWN_START] = (n_outlooks - 1) * n_symbols
    shape[[CUTS_FROM, DROPS_FROM, EMPTY_FROM]] = [first << rows.bits for first in rows.firsts]
    shape[MARK_SHIFT] = int(shape[CUTS_FROM]).bit_length() - 8
    shape[ROW_UNKNOWN_FROM] = len(rows.states) << rows.bits
    shape[ROW_UNKNOWN_START] = (len(rows.table) - 1) << rows.bits
    shape[PUNCTUATION] = chain.ill_formed(as_punctuation=True)[0]
    laid = Laid(
        columns.back, columns.columns, rows.table[: len(rows.states)], rows.states, rows.firsts[0]
    )
    shape[SAFE_CUTS] = safe_cuts(laid, chain.kinds, chain.joint)
    return shape


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
