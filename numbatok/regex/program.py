"""A tree written out as numbered steps, and the programs of its lookaheads and atomic groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from numbatok.errors import UnsupportedTokenizer
from numbatok.regex.tree import (
    Ahead,
    Atomic,
    Behind,
    Choice,
    Node,
    One,
    Repeat,
    Series,
)

MOST_STEPS = 10_000
"""Counted repeats are written out: one in another could ask for any number of steps."""


@dataclass(frozen=True)
class Take:
    """Go over one point of a set."""

    members: int
    then: int


@dataclass(frozen=True)
class Fork:
    """Go on at each of some steps, the first one preferred."""

    targets: tuple[int, ...]


@dataclass(frozen=True)
class Need:
    """Go on if the point before is in a set, or (`negative`) if none is."""

    members: int
    negative: bool
    then: int


@dataclass(frozen=True)
class Foresee:
    """Go on if a part matches what follows, or (`negative`) if it does not."""

    part: int
    negative: bool
    then: int


@dataclass(frozen=True)
class Enter:
    """Go over the first match of a part."""

    part: int
    then: int


@dataclass(frozen=True)
class Accept:
    """The end of a match."""


Step = Union[Take, Fork, Need, Foresee, Enter, Accept]
ACCEPT = 0  # the first step of every program


@dataclass
class Program:
    """Steps, and the programs that they refer to by number."""

    steps: list[Step] = field(default_factory=lambda: [Accept()])
    parts: list[Program] = field(default_factory=list)
    start: int = ACCEPT


def write_program(node: Node) -> Program:
    """Write a tree out. Errors: UnsupportedTokenizer if it takes more than MOST_STEPS."""
    return _Writer([MOST_STEPS]).program(node)


class _Writer:
    """Writes one program from its end, so that each step knows what comes then."""

    def __init__(self, left: list[int]) -> None:
        self._left = left  # how many steps may still be written; shared with the parts
        self._made, self._numbers = Program(), dict[Node, int]()

    def program(self, node: Node) -> Program:
        self._made.start = self._write(node, ACCEPT)
        return self._made

    def _add(self, step: Step) -> int:
        self._left[0] -= 1
        if self._left[0] < 0:
            raise UnsupportedTokenizer(
                f"regex: it takes more than {MOST_STEPS} steps; make its counted repeats smaller"
            )
        self._made.steps.append(step)
        return len(self._made.steps) - 1

    def _part(self, node: Node) -> int:
        number = self._numbers.setdefault(node, len(self._made.parts))
        if number == len(self._made.parts):
            self._made.parts.append(_Writer(self._left).program(node))
        return number

    def _write(self, node: Node, then: int) -> int:
        """Write a node and return its first step."""
        match node:
            case One(members):
                return self._add(Take(members, then))
            case Series(parts):
                for part in reversed(parts):
                    then = self._write(part, then)
                return then
            case Choice(parts):
                return self._add(Fork(tuple(self._write(part, then) for part in parts)))
            case Repeat():
                return self._write_repeat(node, then)
            case Ahead(body, negative):
                return self._add(Foresee(self._part(body), negative, then))
            case Behind(members, negative):
                return self._add(Need(members, negative, then))
            case Atomic(body):
                return self._add(Enter(self._part(body), then))

    def _write_repeat(self, node: Repeat, then: int) -> int:
        if node.mode == "possessive":
            greedy = Repeat(node.body, node.least, node.most, "greedy")
            return self._write(Atomic(greedy), then)
        is_lazy = node.mode == "lazy"
        first = then
        if node.most is None:
            first = self._add(Fork(()))
            body = self._write(node.body, first)
            self._made.steps[first] = Fork((then, body) if is_lazy else (body, then))
        else:
            for _ in range(node.most - node.least):
                body = self._write(node.body, first)
                first = self._add(Fork((then, body) if is_lazy else (body, then)))
        for _ in range(node.least):
            first = self._write(node.body, first)
        return first
