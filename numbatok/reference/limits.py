"""Where the earlier splits of a chain cut: how far the rules of a pattern family may look.

A limit rule is called with the atoms and the start of a pretoken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numbatok.reference.atoms import Atom
from numbatok.reference.rules import AtomTest

LimitRule = Callable[[Sequence[Atom], int], int]


def end_of_text(atoms: Sequence[Atom], start: int) -> int:
    """Return the number of atoms: nothing cut the text before."""
    return len(atoms)


def same_kind(*kinds: AtomTest) -> LimitRule:
    """Return the limit that earlier splits set: where an atom belongs to another of some sets."""

    def kind(atom: Atom) -> int:
        return next((i for i, test in enumerate(kinds) if test(atom)), len(kinds))

    def limit(atoms: Sequence[Atom], start: int) -> int:
        end = start + 1
        while end < len(atoms) and kind(atoms[end]) == kind(atoms[start]):
            end += 1
        return end

    return limit


def before_newlines(atoms: Sequence[Atom], start: int) -> int:
    r"""Return where the next run of line ends begins (`(?:\r?\n)+`, merged with what follows)."""
    for place in range(start + 1, len(atoms)):
        before, here, *after = [chr(atom.code) for atom in atoms[place - 1 : place + 2]]
        is_line_end = here == "\n" or (here == "\r" and after == ["\n"])
        goes_on = before == "\n" or (before == "\r" and here == "\n")
        if is_line_end and not goes_on:
            return place
    return len(atoms)
