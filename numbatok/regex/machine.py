"""A step of a chain, or several of them, as two automata over the text.

The one reads from the end and has an outlook at every place (0 at the end); the other reads from
the start, has a state at every place (0 at the start), and decides there, by its state and the
outlook, whether to cut. Together they need one step a point, whatever the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import UnsupportedTokenizer

Bools = NDArray[np.bool_]
Numbers = NDArray[np.int32]
Bytes = NDArray[np.uint8]

START, END = 0, 0
NO_CUT, CUT, CUT_AT_EMPTY_MATCH = range(3)
MOST_CELLS = 12_000_000  # states times pairs: more would take seconds and hundreds of megabytes


@dataclass(frozen=True)
class Machine:
    """Two automata over classes of points.

    back      [n_outlooks, n_classes] the outlook before a point, by the outlook after it
    pairs     [n_outlooks, n_classes] number of the pair of the outlook before a point and its class
    outlooks, classes   [n_pairs] the pairs
    after     [n_states, n_pairs] the state after a point
    cuts      [n_states, n_outlooks] NO_CUT, CUT or CUT_AT_EMPTY_MATCH: is there a cut here?
    meets     [n_states, n_outlooks] whether this state and this outlook can be at one place; where
              they cannot, `after` and `cuts` mean nothing
    drops     [n_states] whether the piece that ends in this state is dropped
    empties   [n_states] whether there is an empty match at the end of the text
    """

    back: Numbers
    pairs: Numbers
    outlooks: Numbers
    classes: Numbers
    after: Numbers
    cuts: Bytes
    meets: Bools
    drops: Bools
    empties: Bools


def number_pairs(back: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return `pairs`, `outlooks` and `classes` of a Machine from its `back`."""
    n_classes = back.shape[1]
    keys = back.astype(np.int64) * n_classes + np.arange(n_classes)
    unique, pairs = np.unique(keys, return_inverse=True)
    outlooks, classes = np.divmod(unique, n_classes)
    return (
        pairs.reshape(back.shape).astype(np.int32),
        outlooks.astype(np.int32),
        classes.astype(np.int32),
    )


def check_cells(n_states: int, n_pairs: int) -> None:
    """Refuse tables that would be too large."""
    if n_states * n_pairs > MOST_CELLS:
        raise UnsupportedTokenizer(
            f"pre_tokenizer: its automaton would have {n_states} states and {n_pairs} pairs of "
            f"outlook and character class, above {MOST_CELLS:,} together; use a simpler pattern"
        )


def whole_text() -> Machine:
    """Return the machine that never cuts."""
    zeros = np.zeros((1, 1), np.int32)
    cuts = np.array([[CUT], [NO_CUT]], np.uint8)
    after = np.ones((2, 1), np.int32)
    return Machine(
        zeros, zeros, zeros[0], zeros[0], after, cuts,
        np.ones((2, 1), np.bool_), np.zeros(2, np.bool_), np.zeros(2, np.bool_),
    )  # fmt: skip


def with_classes(machine: Machine, classes: NDArray[np.int64]) -> Machine:
    """Return a machine over finer classes; class c of it is classes[c] of the given machine."""
    back = machine.back[:, classes]
    pairs, outlooks, finer = number_pairs(back)
    coarse = np.zeros((len(back), machine.back.shape[1]), np.int32)
    coarse[machine.outlooks, machine.classes] = np.arange(len(machine.outlooks))
    after = machine.after[:, coarse[outlooks, classes[finer]]]
    return replace(machine, back=back, pairs=pairs, outlooks=outlooks, classes=finer, after=after)


# --- minimization ---------------------------------------------------------------------------------


def minimized(machine: Machine) -> Machine:
    """Return an equal machine without states and outlooks that do the same."""
    return _merge_outlooks(_merge_states(_reachable(machine)))


def _reachable(machine: Machine) -> Machine:
    """Drop the states that nothing leads to."""
    possible = machine.meets[:, machine.outlooks]
    reached = np.zeros(len(machine.after), np.bool_)
    frontier = np.array([START])
    while frontier.size:
        reached[frontier] = True
        found = np.unique(machine.after[frontier][possible[frontier]])
        frontier = found[~reached[found]]
    places = np.cumsum(reached) - 1
    after = np.where(possible, places[machine.after], START)[reached]
    return replace(
        machine, after=after.astype(np.int32), cuts=machine.cuts[reached],
        meets=machine.meets[reached], drops=machine.drops[reached],
        empties=machine.empties[reached],
    )  # fmt: skip


def labels_of(rows: NDArray[np.generic]) -> Numbers:
    """Number the rows of a table, equal ones alike, in the order in which they first appear."""
    content, size = np.ascontiguousarray(rows), rows[:1].nbytes
    data, numbers = content.tobytes(), dict[bytes, int]()
    labels = [
        numbers.setdefault(data[at : at + size], len(numbers))
        for at in range(0, len(rows) * size, size)
    ]
    return np.array(labels, np.int32)


def refined(labels: Numbers, after: Numbers) -> Numbers:
    """Split classes of rows until equal rows lead to equal rows."""
    count = 0
    while count < labels.max() + 1:
        count = int(labels.max()) + 1
        labels = labels_of(np.hstack([labels[:, None], labels[after]]))
    return labels


def _merge_states(machine: Machine) -> Machine:
    marks = np.hstack([
        machine.cuts, machine.meets, machine.drops[:, None], machine.empties[:, None],
    ])  # fmt: skip
    labels = refined(labels_of(marks), machine.after)
    first = first_of_each(labels)
    return replace(
        machine, after=labels[machine.after[first]], cuts=machine.cuts[first],
        meets=machine.meets[first], drops=machine.drops[first], empties=machine.empties[first],
    )  # fmt: skip


def _merge_outlooks(machine: Machine) -> Machine:
    columns = labels_of(machine.after.T)
    own = np.full((len(machine.back), machine.back.shape[1]), -1, np.int32)
    own[machine.outlooks, machine.classes] = columns
    marks = np.hstack([columns[machine.pairs], own, machine.cuts.T, machine.meets.T])
    labels = refined(labels_of(marks), machine.back)
    first = first_of_each(labels)
    back = labels[machine.back[first]]
    pairs, outlooks, classes = number_pairs(back)
    old = np.zeros(len(outlooks), np.int64)
    old[pairs.ravel()] = machine.pairs[first].ravel()
    return replace(
        machine, back=back, pairs=pairs, outlooks=outlooks, classes=classes,
        after=machine.after[:, old], cuts=machine.cuts[:, first], meets=machine.meets[:, first],
    )  # fmt: skip


def first_of_each(labels: Numbers) -> NDArray[np.int64]:
    """Return where each label first appears; labels are numbered in that order."""
    return np.unique(labels, return_index=True)[1]
