"""Backtracking search over atoms, with an explicit stack and no step taken twice.

A pattern becomes a list of steps. The search keeps the alternatives that it has not tried yet on a
stack, the preferred one on top, so the first match found is the leftmost-first one. A step that
failed at a position fails there again, whatever led to it (there are no captures), so each pair of
step and position is tried once: the time is O(steps * atoms), also for patterns that explode
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Union

from numbatok.errors import UnsupportedTokenizer
from numbatok.reference.atoms import Atom
from numbatok.reference.regex_tree import (
    At,
    Atomic,
    CharSet,
    Choice,
    Concat,
    Look,
    Node,
    One,
    Repeat,
)

MOST_STEPS = 10_000
"""A counted repeat is written out; `(?:x{1000}){1000}` is refused instead of filling the memory."""


@dataclass(frozen=True)
class Take:
    """Go over one atom of a set."""

    chars: CharSet


@dataclass
class Fork:
    """Go on at each of some steps, the first one preferred."""

    targets: list[int]


@dataclass(frozen=True)
class Test:
    """Go on where a place is."""

    at: At


@dataclass(frozen=True)
class Inner:
    """Run another program here: go on after its match, or, in a lookahead, where it started."""

    program: Program
    ahead: bool
    negative: bool


@dataclass(frozen=True)
class Accept:
    """The end of a match."""


Step = Union[Take, Fork, Test, Inner, Accept]
Program = list[Step]


class Regex:
    """A pattern that can be searched for."""

    def __init__(self, node: Node) -> None:
        self.program = _Writer().program(node)

    def matches(self, atoms: Sequence[Atom]) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match, from left to right, without overlaps.

        After a match the search goes on at its end. A match of nothing directly after the match
        before it does not count: the search goes on one atom further.
        """
        position, last_end = 0, -1
        while position <= len(atoms):
            found = self._search(atoms, position)
            if found is None:
                return
            start, end = found
            if start == end == last_end:
                position = start + 1
                continue
            yield found
            position = last_end = end

    def _search(self, atoms: Sequence[Atom], position: int) -> tuple[int, int] | None:
        failed: set[tuple[int, int]] = set()
        for start in range(position, len(atoms) + 1):
            end = _run(self.program, atoms, start, failed)
            if end is not None:
                return start, end
        return None


def _run(
    program: Program, atoms: Sequence[Atom], start: int, tried: set[tuple[int, int]]
) -> int | None:
    """Return the end of the match at `start`, or None; `tried` fills with what failed."""
    stack = [(0, start)]
    while stack:
        state = stack.pop()
        if state in tried:
            continue
        tried.add(state)
        number, position = state
        step = program[number]
        if isinstance(step, Accept):
            return position
        if isinstance(step, Fork):
            stack.extend((target, position) for target in reversed(step.targets))
            continue
        after = _after(step, atoms, position)
        if after is not None:
            stack.append((number + 1, after))
    return None


def _after(step: Take | Test | Inner, atoms: Sequence[Atom], position: int) -> int | None:
    """Return the position behind a step, or None if it fails."""
    if isinstance(step, Take):
        return position + 1 if position < len(atoms) and step.chars.holds(atoms[position]) else None
    if isinstance(step, Test):
        return position if is_at(step.at, atoms, position) else None
    end = _run(step.program, atoms, position, set())
    if step.ahead:
        return position if (end is None) == step.negative else None
    return end


def is_at(at: At, atoms: Sequence[Atom], position: int) -> bool:
    """Return whether a place is at a position between two atoms."""
    before = atoms[position - 1] if position > 0 else None
    here = atoms[position] if position < len(atoms) else None
    if at.place in ("word_boundary", "no_word_boundary"):
        left = before is not None and at.word.holds(before)
        right = here is not None and at.word.holds(here)
        return (left != right) == (at.place == "word_boundary")
    if at.place == "line_start":
        return before is None or (_is_newline(before) and here is not None)
    if at.place == "line_end":
        return here is None or _is_newline(here)
    if at.place == "start":
        return before is None
    if at.place == "end":
        return here is None
    return here is None or (_is_newline(here) and position + 1 == len(atoms))


def _is_newline(atom: Atom) -> bool:
    return atom.is_character and atom.code == 10


class _Writer:
    """Writes a node out as steps; all programs of one pattern share the limit of their number."""

    def __init__(self) -> None:
        self.steps_left = MOST_STEPS

    def program(self, node: Node) -> Program:
        """Return the steps of a node, with the end of the match."""
        program: Program = []
        self._write(node, program)
        program.append(Accept())
        return program

    def _write(self, node: Node, program: Program) -> None:
        self.steps_left -= 1
        if self.steps_left < 0:
            raise UnsupportedTokenizer(
                f"a regex needs more than {MOST_STEPS} steps; make its counted repeats smaller"
            )
        if isinstance(node, One):
            program.append(Take(node.chars))
        elif isinstance(node, Concat):
            for part in node.parts:
                self._write(part, program)
        elif isinstance(node, Choice):
            self._write_choice(node, program)
        elif isinstance(node, Repeat):
            self._write_repeat(node, program)
        elif isinstance(node, At):
            program.append(Test(node))
        elif isinstance(node, Look):
            program.append(Inner(self.program(node.body), ahead=True, negative=node.negative))
        elif isinstance(node, Atomic):
            program.append(Inner(self.program(node.body), ahead=False, negative=False))

    def _write_choice(self, node: Choice, program: Program) -> None:
        fork = Fork([])
        program.append(fork)
        leaves: list[Fork] = []
        for part in node.parts:
            fork.targets.append(len(program))
            self._write(part, program)
            leaves.append(Fork([]))
            program.append(leaves[-1])
        for leave in leaves:
            leave.targets.append(len(program))

    def _write_repeat(self, node: Repeat, program: Program) -> None:
        if node.mode == "possessive":
            greedy = Repeat(node.body, node.least, node.most, "greedy")
            self._write(Atomic(greedy), program)
            return
        for _ in range(node.least):
            self._write(node.body, program)
        lazy = node.mode == "lazy"
        if node.most is None:
            fork, start = Fork([]), len(program)
            program.append(fork)
            self._write(node.body, program)
            program.append(Fork([start]))
            _aim(fork, start + 1, len(program), lazy)
            return
        forks: list[tuple[Fork, int]] = []
        for _ in range(node.most - node.least):
            forks.append((Fork([]), len(program) + 1))
            program.append(forks[-1][0])
            self._write(node.body, program)
        for fork, body in forks:
            _aim(fork, body, len(program), lazy)


def _aim(fork: Fork, body: int, end: int, lazy: bool) -> None:
    fork.targets.extend((end, body) if lazy else (body, end))
