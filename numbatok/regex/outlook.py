"""What is known at a place of the text that follows: an automaton that reads from the end.

For every state of a program (`threads`) an outlook says two things:

    never   no match that is under way in this state will end, here or later
    ends    the match that is under way ends exactly here: it may end here, and none of the
            threads preferred to that will end later

The second is what a forward scan cannot know and would have to come back for. With it, every
decision is made where it falls due, and a scan takes the same time whatever the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import UnsupportedTokenizer

if TYPE_CHECKING:
    from numbatok.regex.threads import Threads

MOST_OUTLOOKS = 1500
END = 0  # the outlook at the end of a text


class PartOutlook(NamedTuple):
    """What an outlook says of one part of a program."""

    starts: list[int]
    never: NDArray[np.bool_]  # [n_states + 1]; of DEAD it is true
    ends: NDArray[np.bool_]  # [n_states + 1]; of DEAD it is false
    follows: NDArray[np.int32]  # [n_states, n_classes]


class Base:
    """The outlooks of all parts of a program together."""

    def __init__(self, parts: list[Outlook], n_classes: int) -> None:
        self._parts = parts
        self._states: list[tuple[int, ...]] = [tuple(END for _ in parts)]
        numbers = {self._states[0]: 0}
        rows: list[list[int]] = []
        while len(rows) < len(self._states):
            state = self._states[len(rows)]
            row = []
            for cls in range(n_classes):
                before = tuple(int(part.back[s, cls]) for part, s in zip(parts, state, strict=True))
                number = numbers.setdefault(before, len(self._states))
                if number == len(self._states):
                    _check(number)
                    self._states.append(before)
                row.append(number)
            rows.append(row)
        self.back = np.array(rows, np.int32)
        self.possible = np.zeros(self.back.shape, np.bool_)  # is this the outlook before a class
        self.possible[self.back, np.arange(n_classes)] = True

    @property
    def count(self) -> int:
        """The number of outlooks."""
        return len(self._states)

    def part(self, number: int, outlook: int) -> PartOutlook:
        """Return what an outlook says of a part."""
        return self._parts[number].about(self._states[outlook][number])


@dataclass(frozen=True)
class _Key:
    base: int
    bits: bytes


class Outlook:
    """The states of a program, and the automaton of what can follow.

    threads   the states
    bases     the outlook on the parts, by outlook
    back      int[n_outlooks, n_classes]: the outlook before a point, from that after it
    never, ends    bool[n_outlooks, n_states + 1]
    """

    def __init__(self, threads: Threads, base: Base) -> None:
        self.threads, self._base = threads, base
        end = ~threads.accepts[:, 0]
        self._never, self._ends, self._bases = [end], [~end], [0]
        rows: list[NDArray[np.int64]] = []
        numbers = {_Key(0, np.concatenate([end, ~end]).tobytes()): 0}
        while len(rows) < len(self._never):
            rows.append(self._before(len(rows), numbers))
        self.back = np.array(rows, np.int32)
        self.bases = np.array(self._bases)
        dead = np.ones((len(rows), 1), np.bool_)
        self.never = np.hstack([np.array(self._never), dead])
        self.ends = np.hstack([np.array(self._ends), ~dead])
        self._about: dict[int, PartOutlook] = {}

    def _before(self, outlook: int, numbers: dict[_Key, int]) -> NDArray[np.int64]:
        """Return the outlook before each class of points."""
        threads, n_classes = self.threads, self._base.back.shape[1]
        bases = self._base.back[self._bases[outlook]]
        follows = threads.follows[:, bases, np.arange(n_classes)]
        nothing_later = np.append(self._never[outlook], True)[follows]
        accepts = threads.accepts[:, bases]
        never, ends = ~accepts & nothing_later, accepts & nothing_later
        row = np.empty(n_classes, np.int64)
        both = np.vstack([never, ends]).T.copy()
        for cls in range(n_classes):
            key = _Key(int(bases[cls]), both[cls].tobytes())
            number = numbers.setdefault(key, len(self._never))
            if number == len(self._never):
                _check(number)
                self._never.append(never[:, cls])
                self._ends.append(ends[:, cls])
                self._bases.append(int(bases[cls]))
            row[cls] = number
        return row

    def about(self, outlook: int) -> PartOutlook:
        """Return what an outlook says, as the program around this one asks for it."""
        found = self._about.get(outlook)
        if found is None:
            found = PartOutlook(
                self.threads.starts,
                self.never[outlook],
                self.ends[outlook],
                self.threads.follows[:, self.bases[outlook]],
            )
            self._about[outlook] = found
        return found


def _check(number: int) -> None:
    if number >= MOST_OUTLOOKS:
        raise UnsupportedTokenizer(
            f"regex: it takes more than {MOST_OUTLOOKS} states to tell what follows; "
            "make it simpler"
        )
