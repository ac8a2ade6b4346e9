"""The parsed form of a regex: sets of atoms and the nodes built over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Union

from numbatok.reference.atoms import Atom

# --- sets of atoms ---


@dataclass(frozen=True)
class CodeRange:
    """The characters first..last. A byte of an ill-formed sequence is no character."""

    first: int
    last: int

    def holds(self, atom: Atom) -> bool:
        """Return whether the atom is in the set."""
        return atom.is_character and self.first <= atom.code <= self.last


@dataclass(frozen=True)
class Characters:
    """The characters that a test holds for."""

    test: Callable[[int], bool]

    def holds(self, atom: Atom) -> bool:
        """Return whether the atom is in the set."""
        return atom.is_character and self.test(atom.code)


@dataclass(frozen=True)
class Property:
    r"""The atoms with a property of Unicode, such as `\p{L}` or `\s`."""

    name: str
    test: Callable[[int], bool]

    def holds(self, atom: Atom) -> bool:
        """Return whether the atom is in the set."""
        return self.test(atom.code)


@dataclass(frozen=True)
class AnyOf:
    """The union of some sets; without any it is empty."""

    sets: tuple[CharSet, ...]

    def holds(self, atom: Atom) -> bool:
        """Return whether the atom is in the set."""
        return any(part.holds(atom) for part in self.sets)


@dataclass(frozen=True)
class AllOf:
    """The intersection of some sets."""

    sets: tuple[CharSet, ...]

    def holds(self, atom: Atom) -> bool:
        """Return whether the atom is in the set."""
        return all(part.holds(atom) for part in self.sets)


@dataclass(frozen=True)
class NoneOf:
    """The complement of a set."""

    excluded: CharSet

    def holds(self, atom: Atom) -> bool:
        """Return whether the atom is in the set."""
        return not self.excluded.holds(atom)


CharSet = Union[CodeRange, Characters, Property, AnyOf, AllOf, NoneOf]

# --- nodes ---

Mode = Literal["greedy", "lazy", "possessive"]
Place = Literal[
    "word_boundary", "no_word_boundary", "line_start", "line_end", "start", "end", "end_or_newline"
]


@dataclass(frozen=True)
class One:
    """One atom of a set."""

    chars: CharSet
    folded: int | None = None  # the character, if this is one in all its cases


@dataclass(frozen=True)
class Concat:
    """Nodes one after the other; without any it matches nothing at all, that is everywhere."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """The first of some nodes that leads to a match."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """A node at least `least` and at most `most` times (None: any number)."""

    body: Node
    least: int
    most: int | None
    mode: Mode


@dataclass(frozen=True)
class Look:
    """A lookahead: what follows matches (or, `negative`, does not)."""

    body: Node
    negative: bool


@dataclass(frozen=True)
class Atomic:
    """The first match of a node, never another one."""

    body: Node


@dataclass(frozen=True)
class At:
    """A place between two atoms; `word` says what a word is made of."""

    place: Place
    word: CharSet = field(default_factory=lambda: AnyOf(()))


Node = Union[One, Concat, Choice, Repeat, Look, Atomic, At]

EMPTY = Concat(())


def can_be_empty(node: Node) -> bool:
    """Return whether a node can match no atom at all."""
    if isinstance(node, One):
        return False
    if isinstance(node, Concat):
        return all(can_be_empty(part) for part in node.parts)
    if isinstance(node, Choice):
        return any(can_be_empty(part) for part in node.parts)
    if isinstance(node, Repeat):
        return node.least == 0 or can_be_empty(node.body)
    if isinstance(node, Atomic):
        return can_be_empty(node.body)
    return True
