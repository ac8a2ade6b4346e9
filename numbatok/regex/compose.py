"""Two machines one behind the other, as one: the second sees each piece of the first alone.

The outlook of both is the first one's, and for each state of the first the second one's: how the
text looks to the second depends on where the first will cut it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import UnsupportedTokenizer
from numbatok.regex.machine import (
    END,
    NO_CUT,
    START,
    Machine,
    check_cells,
    minimized,
    number_pairs,
)

MOST_OUTLOOKS = 20_000
MOST_STATES = 8_000
MOST_WORK = 60_000_000  # cells of the tables that are gone through: about two seconds


def composed(first: Machine, second: Machine) -> Machine:
    """Return the machine that cuts by `first` and then every piece of it by `second`.

    Both are over the same classes. Errors: UnsupportedTokenizer if it would be too large.
    """
    outlooks = _Outlooks(first, second)
    return minimized(_States(first, second, outlooks).machine())


class _Outlooks:
    """The outlooks of both.

    of_first    [n_outlooks]
    of_second   [n_outlooks, n_first_states]
    """

    def __init__(self, first: Machine, second: Machine) -> None:
        self._first, self._second = first, second
        n_states = len(first.after)
        self._firsts, self._seconds = [END], [np.full(n_states, END, np.int32)]
        numbers = {(END, self._seconds[0].tobytes()): 0}
        rows: list[list[int]] = []
        while len(rows) < len(self._firsts):
            rows.append(self._before(len(rows), numbers))
        self.back = np.array(rows, np.int32)
        self.of_first, self.of_second = np.array(self._firsts), np.array(self._seconds)

    def _before(self, outlook: int, numbers: dict[tuple[int, bytes], int]) -> list[int]:
        """Return the outlook before each class of points."""
        first, second = self._first, self._second
        n_classes = first.back.shape[1]
        of_first, of_second = self._firsts[outlook], self._seconds[outlook]
        before = first.back[of_first]
        seen = seen_by_second(first, of_first, of_second, np.arange(n_classes))
        looks = second.back[seen, np.arange(n_classes)]
        looks[~first.meets[:, before]] = END
        row = []
        for cls, (one, other) in enumerate(zip(before.tolist(), looks.T.copy(), strict=True)):
            number = numbers.setdefault((one, other.tobytes()), len(self._firsts))
            if number == len(self._firsts):
                if number >= MOST_OUTLOOKS or number * looks.size > MOST_WORK:
                    raise UnsupportedTokenizer(
                        f"pre_tokenizer: its steps together take more than {number} states to "
                        "tell what follows; use fewer or simpler steps"
                    )
                self._firsts.append(one)
                self._seconds.append(looks[:, cls])
            row.append(number)
        return row


def seen_by_second(
    first: Machine, of_first: int, of_second: NDArray[np.int32], classes: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the second one's outlook after a point, by state of the first before it and class.

    Where the first cuts there, it is the end of its piece.
    """
    after = first.after[:, first.pairs[of_first, classes]]
    is_end = first.cuts[after, of_first] != NO_CUT
    return np.where(is_end, np.int32(END), of_second[after])


class _States:
    """Finds the states of both that can be reached, and builds the machine."""

    def __init__(self, first: Machine, second: Machine, outlooks: _Outlooks) -> None:
        self._first, self._second, self._looks = first, second, outlooks
        self.pairs, self.outlooks, self.classes = number_pairs(outlooks.back)
        n_pairs = len(self.outlooks)
        before = np.zeros(n_pairs, np.int64)  # an outlook after the point, for each pair
        before[self.pairs.ravel()] = np.repeat(
            np.arange(len(outlooks.back)), outlooks.back.shape[1]
        )
        check_cells(len(first.after), n_pairs)
        self._first_pairs = first.pairs[outlooks.of_first[before], self.classes]
        self._second_pairs = self._pairs_of_second(before)

    def _pairs_of_second(self, before: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return [n_first_states, n_pairs]: the second one's pair."""
        first, looks = self._first, self._looks
        of_first = looks.of_first[before]
        after = first.after[:, self._first_pairs]
        is_end = first.cuts[after, of_first] != NO_CUT
        seen = np.where(is_end, END, looks.of_second[before, after])
        return self._second.pairs[seen, self.classes]

    def machine(self) -> Machine:
        n_second = len(self._second.after)
        states, numbers = [(START, START)], {START: 0}  # by first * n_second + second
        rows: list[NDArray[np.int64]] = []
        cuts, meets = [], []
        while len(rows) < len(states):
            one, other = states[len(rows)]
            after, cut, meet = self._work_out(one, other)
            possible = meet[self.outlooks]
            for key in np.unique(after[possible]).tolist():
                if numbers.setdefault(key, len(states)) == len(states):
                    states.append(divmod(key, n_second))
            self._check(len(states))
            rows.append(np.where(possible, after, START))
            cuts.append(cut)
            meets.append(meet)
        places = np.zeros(max(numbers) + 1, np.int32)
        places[list(numbers)] = list(numbers.values())
        firsts, seconds = np.array(states).T
        return Machine(
            self._looks.back, self.pairs, self.outlooks, self.classes, places[np.array(rows)],
            np.array(cuts), np.array(meets),
            self._first.drops[firsts] | self._second.drops[seconds],
            np.zeros(len(states), np.bool_),
        )  # fmt: skip

    def _check(self, n_states: int) -> None:
        check_cells(n_states, len(self.outlooks))
        if n_states > MOST_STATES:
            raise UnsupportedTokenizer(
                f"pre_tokenizer: its steps together take more than {MOST_STATES} states; "
                "use fewer or simpler steps"
            )

    def _work_out(
        self, one: int, other: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the state after each pair, the cut at each outlook, and whether they meet."""
        first, second, looks = self._first, self._second, self._looks
        of_second = looks.of_second[:, one]
        cut_by_first = first.cuts[one, looks.of_first]
        anew = (cut_by_first != NO_CUT) | first.drops[one]
        cut = np.where(anew, cut_by_first, second.cuts[other, of_second])
        met = second.meets[np.where(anew, START, other), of_second]
        meet = first.meets[one, looks.of_first] & met
        after_first = first.after[one, self._first_pairs].astype(np.int64)
        state = np.where(anew[self.outlooks], START, other)
        after_second = second.after[state, self._second_pairs[one]]
        after_second = np.where(first.drops[after_first], START, after_second)
        return after_first * len(second.after) + after_second, cut, meet
