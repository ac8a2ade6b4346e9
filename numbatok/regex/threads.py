"""A program made deterministic: its ordered threads as numbered states.

A state is the list of threads that are alive before a point, the preferred one first, and the kind
of the point before (what lookbehind asks). Which of them pass a lookahead, or leave an atomic
group, is known from the outlook: the state of an automaton that has read the text from its end to
this place (`outlook`). So the states are found by following every point from every state under
every outlook that can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Union

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import UnsupportedTokenizer
from numbatok.regex.outlook import Base, Outlook
from numbatok.regex.program import ACCEPT, Enter, Foresee, Fork, Need, Program, Take

MOST_STATES = 1200
MOST_WORK = 400_000  # threads looked at: about a second

Thread = Union[int, tuple[int, int]]  # a step; or a step that entered a part, and the part's state


@dataclass(frozen=True)
class Alphabet:
    """Classes of points, as one step of a chain tells them apart.

    holds    bool[n_sets, n_classes]
    kinds    the kind of a point as lookbehind sees it, by class; 0 is that of no point at all
    behind   bool[n_kinds, n_sets]: whether a point of that kind is in a set
    """

    holds: NDArray[np.bool_]
    kinds: NDArray[np.int64]
    behind: NDArray[np.bool_]


@dataclass
class Threads:
    """The states of a program; DEAD, the number of states, stands for no thread at all.

    starts     the state at the start of a match, by the kind of the point before
    kinds      the kind of the point before, by state
    accepts    bool[n_states, n_outlooks]: whether the match may end here
    follows    int[n_states, n_outlooks, n_classes]: the state after a point, which only the
               threads preferred to the end of the match live to see
    """

    starts: list[int]
    kinds: NDArray[np.int64]
    accepts: NDArray[np.bool_]
    follows: NDArray[np.int32]


@dataclass
class _Found:
    """What a state is, and where it leads; rows are added as it is worked out."""

    threads: tuple[Thread, ...]
    kind: int
    accepts: list[bool] = field(default_factory=list)
    follows: list[NDArray[np.int32]] = field(default_factory=list)


class Determinizer:
    """Finds the states of one program."""

    def __init__(self, program: Program, alphabet: Alphabet, base: Base) -> None:
        self._program, self._alphabet, self._base = program, alphabet, base
        self._states: list[_Found] = []
        self._numbers: dict[tuple[tuple[Thread, ...], int], int] = {}
        self._work = 0

    def run(self) -> Threads:
        """Return all states. Errors: UnsupportedTokenizer above MOST_STATES or MOST_WORK."""
        starts = [
            self._number([self._program.start], kind) for kind in range(len(self._alphabet.behind))
        ]
        done = 0
        while done < len(self._states):
            self._work_out(self._states[done])
            done += 1
        follows = np.array([state.follows for state in self._states], np.int32)
        follows[follows < 0] = len(self._states)
        return Threads(
            starts,
            np.array([state.kind for state in self._states]),
            np.array([state.accepts for state in self._states]),
            follows,
        )

    def _number(self, threads: Iterable[Thread], kind: int) -> int:
        """Return the number of a state, or -1 for no threads."""
        unfolded = self._unfold(threads)
        if not unfolded:
            return -1
        number = self._numbers.setdefault((unfolded, kind), len(self._states))
        if number == len(self._states):
            if number >= MOST_STATES:
                raise UnsupportedTokenizer(
                    f"regex: it takes more than {MOST_STATES} states; make it simpler"
                )
            self._states.append(_Found(unfolded, kind))
        return number

    def _count(self, work: int) -> None:
        self._work += work
        if self._work > MOST_WORK:
            raise UnsupportedTokenizer("regex: it takes too many states; make it simpler")

    def _unfold(self, threads: Iterable[Thread]) -> tuple[Thread, ...]:
        """Follow forks, which depend on nothing, up to an end of the match."""
        steps = self._program.steps
        stack, seen, unfolded = list(threads)[::-1], set[Thread](), list[Thread]()
        while stack:
            thread = stack.pop()
            self._count(1)
            if thread in seen:
                continue
            seen.add(thread)
            step = steps[thread] if isinstance(thread, int) else None
            if isinstance(step, Fork):
                stack.extend(reversed(step.targets))
                continue
            unfolded.append(thread)
            if thread == ACCEPT:
                break
        return tuple(unfolded)

    # --- one state under every outlook ------------------------------------------------------------

    def _work_out(self, state: _Found) -> None:
        known: dict[tuple[tuple[Thread, ...], bool], list[int]] = {}
        for outlook in range(self._base.count):
            alive, accepts = self._pass(state, outlook)
            known.setdefault((alive, accepts), []).append(outlook)
            state.accepts.append(accepts)
        rows: dict[int, NDArray[np.int32]] = {}
        for (alive, _), outlooks in known.items():
            self._follow(alive, outlooks, rows)
        state.follows = [rows[outlook] for outlook in range(self._base.count)]

    def _pass(self, state: _Found, outlook: int) -> tuple[tuple[Thread, ...], bool]:
        """Return the threads that go on to the next point, and whether the match may end here."""
        stack: list[Thread] = list(reversed(state.threads))
        seen, alive = set[Thread](), list[Thread]()
        while stack:
            thread = stack.pop()
            self._count(1)
            if thread in seen:
                continue
            seen.add(thread)
            if thread == ACCEPT:
                return tuple(alive), True
            self._advance(thread, state.kind, outlook, stack, alive)
        return tuple(alive), False

    def _advance(
        self, thread: Thread, kind: int, outlook: int, stack: list[Thread], alive: list[Thread]
    ) -> None:
        """Put a thread with the living, or what it becomes on the stack, or drop it."""
        if isinstance(thread, tuple):
            number, inner = thread
            step = self._program.steps[number]
            assert isinstance(step, Enter)
            part = self._base.part(step.part, outlook)
            if part.ends[inner]:
                stack.append(step.then)
            elif not part.never[inner]:
                alive.append(thread)
            return
        step = self._program.steps[thread]
        match step:
            case Take():
                alive.append(thread)
            case Fork(targets):
                stack.extend(reversed(targets))
            case Need(members, negative, then):
                if self._alphabet.behind[kind, members] != negative:
                    stack.append(then)
            case Foresee(number, negative, then):
                part = self._base.part(number, outlook)
                if part.never[part.starts[kind]] == negative:
                    stack.append(then)
            case Enter(number):
                stack.append((thread, self._base.part(number, outlook).starts[kind]))

    def _follow(
        self, alive: tuple[Thread, ...], outlooks: list[int], rows: dict[int, NDArray[np.int32]]
    ) -> None:
        """Put the states after each class of points, for outlooks under which these live."""
        depends = any(isinstance(thread, tuple) for thread in alive)
        for group in [[outlook] for outlook in outlooks] if depends else [outlooks]:
            possible = np.logical_or.reduce(self._base.possible[group])
            row = np.full(possible.shape, -1, np.int32)
            for cls in np.flatnonzero(possible).tolist():
                row[cls] = self._number(
                    self._take(alive, cls, group[0]), int(self._alphabet.kinds[cls])
                )
            for outlook in group:
                rows[outlook] = row

    def _take(self, alive: tuple[Thread, ...], cls: int, outlook: int) -> list[Thread]:
        taken: list[Thread] = []
        for thread in alive:
            if isinstance(thread, tuple):
                step = self._program.steps[thread[0]]
                assert isinstance(step, Enter)
                part = self._base.part(step.part, outlook)
                inner = int(part.follows[thread[1], cls])
                if inner < len(part.never) - 1:
                    taken.append((thread[0], inner))
            else:
                step = self._program.steps[thread]
                assert isinstance(step, Take)
                if self._alphabet.holds[step.members, cls]:
                    taken.append(step.then)
        return taken


def outlook_of(program: Program, alphabet: Alphabet) -> Outlook:
    """Return a program with the automaton of its outlooks, its parts first."""
    base = Base([outlook_of(part, alphabet) for part in program.parts], len(alphabet.kinds))
    return Outlook(Determinizer(program, alphabet, base).run(), base)
