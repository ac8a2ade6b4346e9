"""The parsed form of a pattern: nodes over numbered sets of points (`sets.SetTable`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union

Mode = Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True)
class One:
    """One point of a set."""

    members: int  # number of the set
    letter: int = -1  # the code point, if this is a literal whose case is ignored


@dataclass(frozen=True)
class Series:
    """Nodes one after the other; without any it matches the empty string."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """The first of some nodes that leads to a match."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """A node at least `least` and at most `most` times; None: any number."""

    body: Node
    least: int
    most: int | None
    mode: Mode


@dataclass(frozen=True)
class Ahead:
    """What follows matches, or if `negative` does not."""

    body: Node
    negative: bool


@dataclass(frozen=True)
class Behind:
    """The point before this place is in a set, or if `negative` there is none that is."""

    members: int
    negative: bool


@dataclass(frozen=True)
class Atomic:
    """The first match of a node, and never another one."""

    body: Node


Node = Union[One, Series, Choice, Repeat, Ahead, Behind, Atomic]

EMPTY = Series(())


def can_be_empty(node: Node) -> bool:
    """Tell whether a node can match the empty string."""
    match node:
        case One():
            return False
        case Series(parts):
            return all(map(can_be_empty, parts))
        case Choice(parts):
            return any(map(can_be_empty, parts))
        case Repeat(body, least):
            return least == 0 or can_be_empty(body)
        case Atomic(body):
            return can_be_empty(body)
    return True


def edge_letters(node: Node, last: bool) -> frozenset[int]:
    """Return the literals whose case is ignored that a node can begin or end with."""
    match node:
        case One(_, letter):
            return frozenset() if letter < 0 else frozenset([letter])
        case Series(parts):
            return edge_letters(parts[-1 if last else 0], last) if parts else frozenset()
        case Choice(parts):
            return frozenset().union(*(edge_letters(part, last) for part in parts))
        case Repeat(body) | Atomic(body):
            return edge_letters(body, last)
    return frozenset()


def sets_behind(node: Node) -> frozenset[int]:
    """Return the numbers of the sets that a tree asks for behind a place."""
    match node:
        case Behind(members):
            return frozenset([members])
        case Series(parts) | Choice(parts):
            return frozenset().union(*map(sets_behind, parts))
        case Repeat(body) | Ahead(body) | Atomic(body):
            return sets_behind(body)
    return frozenset()
