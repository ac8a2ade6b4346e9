r"""The rules that pattern families are made of, over atoms.

A rule is called with the atoms, the start of a pretoken, and a limit: the end of the text, or the
place where an earlier split of the chain cut it. It returns the end of the pretoken, or None. A
rule looks only forward from the start, so a scan can go on at the end of any pretoken.

A pattern is a list of rules, the first one that matches wins: the same as the alternatives of its
regex, each rule being one alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numbatok.reference.atoms import Atom
from numbatok.reference.properties import category, is_han, is_white_space

AtomTest = Callable[[Atom], bool]
Rule = Callable[[Sequence[Atom], int, int], "int | None"]

# --- sets of atoms ---


def in_categories(*names: str) -> AtomTest:
    """Return the test for general categories, by their first letter ("L") or in full ("Lu")."""

    def holds(atom: Atom) -> bool:
        return category(atom.code).startswith(names)

    return holds


def not_in_categories(*names: str) -> AtomTest:
    """Return the test for atoms that are neither white space nor of one of the categories."""

    def holds(atom: Atom) -> bool:
        return not white(atom) and not category(atom.code).startswith(names)

    return holds


def one_of(chars: str) -> AtomTest:
    """Return the test for the characters of a string."""

    def holds(atom: Atom) -> bool:
        return atom.is_character and chr(atom.code) in chars

    return holds


def white(atom: Atom) -> bool:
    r"""Return whether an atom is white space (`\s`)."""
    return is_white_space(atom.code)


def han(atom: Atom) -> bool:
    r"""Return whether an atom is `\p{Han}`."""
    return is_han(atom.code)


letter, number = in_categories("L"), in_categories("N")
newline, space, apostrophe = one_of("\r\n"), one_of(" "), one_of("'")


def word_prefix(atom: Atom) -> bool:
    r"""Return whether an atom is `[^\r\n\p{L}\p{N}]`."""
    return not (newline(atom) or letter(atom) or number(atom))


# --- rules ---


def run_end(atoms: Sequence[Atom], start: int, limit: int, members: AtomTest) -> int:
    """Return the end of the run of `members` from `start`; `start` itself if there is none."""
    end = start
    while end < limit and members(atoms[end]):
        end += 1
    return end


def run(
    members: AtomTest,
    prefix: AtomTest | None = None,
    most: int | None = None,
    tail: AtomTest | None = None,
) -> Rule:
    """Return the rule for a run of at most `most` members.

    One atom of `prefix` may come before it, any number of `tail` after it.
    """

    def rule(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
        starts = [start + 1] if prefix is not None and prefix(atoms[start]) else []
        for first in [*starts, start]:
            longest = limit if most is None else min(limit, first + most)
            end = run_end(atoms, first, longest, members)
            if end > first:
                return run_end(atoms, end, limit, tail) if tail is not None else end
        return None

    return rule


ENDINGS = ("s", "t", "re", "ve", "m", "ll", "d")


def contraction(ignore_case: bool) -> Rule:
    """Return the rule for an apostrophe and one of `s t re ve m ll d`.

    Where the case is ignored, U+017F (LATIN SMALL LETTER LONG S) is an `s`.
    """

    def spelled(atom: Atom) -> str:
        char = chr(atom.code) if atom.is_character else ""
        if not ignore_case:
            return char
        return "s" if char == "\u017f" else char.lower() if char.isascii() else char

    def rule(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
        if not apostrophe(atoms[start]):
            return None
        for ending in ENDINGS:
            end = start + 1 + len(ending)
            if end <= limit and [spelled(a) for a in atoms[start + 1 : end]] == list(ending):
                return end
        return None

    return rule


def cased_word(upper: AtomTest, lower: AtomTest, suffix: Rule | None) -> Rule:
    """Return the rule for a word that ends where a capital follows a small letter.

    In the regex: prefix? upper* lower+ suffix? | prefix? upper+ lower* suffix?. Some atoms are
    both: where the run of `upper` leaves no `lower` behind, it gives back from its last such atom.
    """

    def first(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
        end = run_end(atoms, start, limit, upper)
        if end < limit and lower(atoms[end]):
            return run_end(atoms, end, limit, lower)
        both = [place for place in range(start, end) if lower(atoms[place])]
        return both[-1] + 1 if both else None

    def second(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
        end = run_end(atoms, start, limit, upper)
        return run_end(atoms, end, limit, lower) if end > start else None

    def rule(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
        for word in (first, second):
            for skipped in (1, 0):
                if skipped and not word_prefix(atoms[start]):
                    continue
                end = word(atoms, start + skipped, limit)
                if end is not None:
                    return _with_suffix(suffix, atoms, end, limit)
        return None

    return rule


def _with_suffix(suffix: Rule | None, atoms: Sequence[Atom], end: int, limit: int) -> int:
    longer = suffix(atoms, end, limit) if suffix is not None and end < limit else None
    return end if longer is None else longer


def ascii_word(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
    """Match one character of ASCII punctuation and the ASCII letters after it."""
    if not one_of("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")(atoms[start]):
        return None
    letters = one_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    end = run_end(atoms, start + 1, limit, letters)
    return end if end > start + 1 else None


def white_to_newline(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
    r"""Match white space up to the last line end in it (`\s*[\r\n]+`)."""
    end = run_end(atoms, start, limit, white)
    while end > start and not newline(atoms[end - 1]):
        end -= 1
    return end if end > start else None


def white_at_end(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
    r"""Match white space that reaches the limit (`\s++$`)."""
    end = run_end(atoms, start, limit, white)
    return end if end > start and end == limit else None


def white_before_text(atoms: Sequence[Atom], start: int, limit: int) -> int | None:
    r"""Match white space without its last atom, which goes to what follows (`\s+(?!\S)`).

    At the limit nothing follows, and the last atom stays.
    """
    end = run_end(atoms, start, limit, white)
    if end < limit:
        end -= 1
    return end if end > start else None


white_run = run(white)
