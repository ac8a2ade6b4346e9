r"""Parser of patterns, in the dialects of Oniguruma ("tokenizers") and of tiktoken's engine.

They differ in what `^`, `$`, `\w`, `x{2,3}+` and `x{2}?` mean, in some escapes, and in how the case
is ignored. Places such as `\b` are spelled out as what stands behind and ahead of them. What is
missing is refused by name and position: backreferences, recursion, longer lookbehind, and whatever
an engine might read in another way.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import numpy as np

from numbatok import unicode
from numbatok.errors import UnsupportedTokenizer
from numbatok.regex.brackets import parse_class
from numbatok.regex.cursor import Cursor
from numbatok.regex.points import Flags, Found, literal, parse_escape, shorthand
from numbatok.regex.sets import SetTable, every_point, of_range
from numbatok.regex.tree import (
    EMPTY,
    Ahead,
    Atomic,
    Behind,
    Choice,
    Mode,
    Node,
    One,
    Repeat,
    Series,
    can_be_empty,
    edge_letters,
)

MOST_GROUPS = 100
"""Depth of nested groups."""

MAX_PATTERN = 20_000
"""Characters of a pattern, parsed in about 2 s at worst; the longest published one has 1,000."""

_REFUSED = {
    "(?P=": "a backreference",
    "(?P>": "a subexpression call",
    "(?R": "a recursion",
    "(?&": "a subexpression call",
    "(?(": "a conditional",
    "(?|": "a branch reset",
    "(?~": "an absent operator",
    "(?#": "a comment",
    "(?{": "a callout",
    "(*": "a callout",
}
_OPTIONS = re.compile(r"\(\?(?!R)([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME = re.compile(r"\(\?(P?)<([A-Za-z_]\w*)>")


def parse(pattern: str, engine: str, sets: SetTable) -> Node:
    """Return the tree of a pattern, its sets being put into `sets`.

    Errors: UnsupportedTokenizer, naming the construct and its position; InvalidTokenizerFile.
    """
    if len(pattern) > MAX_PATTERN:
        raise UnsupportedTokenizer(
            f"regex: {len(pattern)} characters, supported are {MAX_PATTERN}; make it shorter"
        )
    parser = _Parser(Cursor(pattern, engine), sets)
    node = parser.choice(Flags(), 0)
    if not parser.cursor.at_end():
        raise parser.cursor.damaged("an unmatched )")
    return node


def literal_node(text: str, sets: SetTable) -> Node:
    """Return the tree of a literal string."""
    return Series(tuple(One(sets.number(of_range(ord(c), ord(c)))) for c in text))


class _Parser:
    def __init__(self, cursor: Cursor, sets: SetTable) -> None:
        self.cursor, self.sets = cursor, sets

    def choice(self, flags: Flags, depth: int) -> Node:
        """Parse alternatives up to `)` or the end; options at their start hold for all of them."""
        if depth > MOST_GROUPS:
            raise self.cursor.unsupported(f"a group in more than {MOST_GROUPS} others")
        while (changed := self._options(flags, ")")) is not None:
            flags = changed
        parts = [self._series(flags, depth)]
        while self.cursor.take("|"):
            parts.append(self._series(flags, depth))
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _series(self, flags: Flags, depth: int) -> Node:
        parts: list[Node] = []
        while not self.cursor.at_end() and self.cursor.here() not in "|)":
            start = self.cursor.position
            node = self._quantified(self._term(flags, depth), start)
            if parts and self.cursor.is_oniguruma:
                self._check_folding(parts[-1], node, start)
            parts.append(node)
        return parts[0] if len(parts) == 1 else Series(tuple(parts))

    def _check_folding(self, left: Node, right: Node, start: int) -> None:
        """Refuse letters that Oniguruma, the case ignored, also finds in one: ss in U+00DF."""
        for pair in product(edge_letters(left, True), edge_letters(right, False)):
            if pair in folded_pairs():
                text = "".join(map(chr, pair))
                raise self.cursor.unsupported(
                    f"case-insensitive {text!r}, which is also one character,", start
                )

    # --- one term ---------------------------------------------------------------------------------

    def _term(self, flags: Flags, depth: int) -> Node:
        cursor, start = self.cursor, self.cursor.position
        if cursor.sees("("):
            return self._group(flags, depth)
        character = cursor.next()
        if character in "*+?":
            raise cursor.damaged(f"nothing before {character} to repeat", start)
        if character in "{}]" and not cursor.is_oniguruma:
            raise cursor.unsupported(f"an unescaped {character}", start)
        if character == "[":
            return One(self.sets.number(parse_class(cursor, flags)))
        if character == ".":
            mask = every_point() if flags.dot_all else ~of_range(10, 10)
            return One(self.sets.number(mask))
        if character in "^$":
            return self._place(character)
        if character == "\\":
            return self._escape(flags, start)
        return self._one(ord(character), flags, start)

    def _escape(self, flags: Flags, start: int) -> Node:
        cursor = self.cursor
        if cursor.here() in ("b", "B", "A", "z") or (cursor.sees("Z") and cursor.is_oniguruma):
            return self._place(cursor.next())
        if cursor.is_oniguruma and cursor.take("R"):  # a line break: CR LF before CR
            both = Series((self._character(0x0D), self._character(0x0A)))
            mask = of_range(0x0A, 0x0D) | of_range(0x85, 0x85) | of_range(0x2028, 0x2029)
            return Atomic(Choice((both, One(self.sets.number(mask)))))
        return self._one(parse_escape(cursor, flags, False), flags, start)

    def _character(self, code: int) -> Node:
        return One(self.sets.number(of_range(code, code)))

    def _one(self, found: Found, flags: Flags, start: int) -> Node:
        if isinstance(found, np.ndarray):
            return One(self.sets.number(found))
        mask = literal(self.cursor, found, flags, start)
        return One(self.sets.number(mask), found if flags.ignore_case else -1)

    def _place(self, name: str) -> Node:
        """Return what stands around a place; at the ends of a text there is nothing."""
        every = self.sets.number(every_point())
        start, end = Behind(every, True), Ahead(One(every), True)
        newline = self.sets.number(of_range(10, 10))
        is_oniguruma = self.cursor.is_oniguruma
        if name == "A" or (name == "^" and not is_oniguruma):
            return start
        if name == "z" or (name == "$" and not is_oniguruma):
            return end
        if name == "^":  # at the start of every line that is not the empty one at the end
            return Choice((start, Series((Behind(newline, False), Ahead(One(every), False)))))
        if name == "$":
            return Choice((end, Ahead(One(newline), False)))
        if name == "Z":
            return Choice((end, Ahead(Series((One(newline), end)), False)))
        word = self.sets.number(shorthand("w", is_oniguruma))
        differs = name == "b"
        return Choice(
            (
                Series((Behind(word, False), Ahead(One(word), differs))),
                Series((Behind(word, True), Ahead(One(word), not differs))),
            )
        )

    # --- groups -----------------------------------------------------------------------------------

    def _group(self, flags: Flags, depth: int) -> Node:
        cursor, start = self.cursor, self.cursor.position
        for opening, name in _REFUSED.items():
            if cursor.sees(opening):
                raise cursor.unsupported(name)
        for opening, negative in (("(?=", False), ("(?!", True)):
            if cursor.take(opening):
                return Ahead(self._inside(flags, depth, start), negative)
        for opening, negative in (("(?<=", False), ("(?<!", True)):
            if cursor.take(opening):
                return self._behind(self._inside(flags, depth, start), negative, start)
        if cursor.take("(?>"):
            return Atomic(self._inside(flags, depth, start))
        name_found = cursor.match(_NAME)
        if name_found is not None:
            if name_found[1] and cursor.is_oniguruma:
                raise cursor.damaged("an unknown kind of group", start)
            return self._inside(flags, depth, start)
        changed = self._options(flags, ":")
        if changed is not None:
            return self._inside(changed, depth, start)
        if cursor.sees("(?"):
            raise cursor.unsupported(f"the group {cursor.here(4)}")
        cursor.take("(")
        return self._inside(flags, depth, start)

    def _inside(self, flags: Flags, depth: int, start: int) -> Node:
        node = self.choice(flags, depth + 1)
        if not self.cursor.take(")"):
            raise self.cursor.damaged("a group without its )", start)
        return node

    def _options(self, flags: Flags, closing: str) -> Flags | None:
        """Go over `(?i:` or `(?i)`, by the closing character; return the options that hold then."""
        cursor, start = self.cursor, self.cursor.position
        found = _OPTIONS.match(cursor.pattern, start)
        if found is None or found[3] != closing:
            return None
        for letters, value in ((found[1], True), (found[2] or "", False)):
            for letter in letters:
                if letter == "i":
                    flags = flags._replace(ignore_case=value)
                elif letter == ("m" if cursor.is_oniguruma else "s"):
                    flags = flags._replace(dot_all=value)
                else:
                    raise cursor.unsupported(f"the option {letter!r}", start)
        cursor.position = found.end()
        return flags

    def _behind(self, node: Node, negative: bool, start: int) -> Node:
        """Return a lookbehind of one point."""
        parts = node.parts if isinstance(node, Choice) else (node,)
        mask = of_range(1, 0)
        for part in parts:
            if not isinstance(part, One):
                raise self.cursor.unsupported("a lookbehind of more than one character", start)
            mask = mask | self.sets.mask(part.members)
        return Behind(self.sets.number(mask), negative)

    # --- quantifiers ------------------------------------------------------------------------------

    def _quantified(self, node: Node, start: int) -> Node:
        cursor = self.cursor
        counts = cursor.quantifier()
        if counts is None:
            return node
        least, most, is_interval = counts
        mode: Mode = "greedy"
        if cursor.take("?"):
            mode = "lazy"
        elif cursor.take("+"):
            mode = "possessive"
        if cursor.quantifier() is not None:
            raise cursor.unsupported("a quantifier on a quantifier", start)
        if not isinstance(node, One) and _is_place(node):
            raise cursor.unsupported("a repeated place", start)
        self._check_can_loop(node, most, start)
        if is_interval and cursor.is_oniguruma:
            if mode == "possessive":  # it reads x{2,3}+ as (?:x{2,3})+
                inner = Repeat(node, least, most, "greedy")
                self._check_can_loop(inner, None, start)
                return Repeat(inner, 1, None, "greedy")
            if mode == "lazy" and least == most:  # and x{2}? as (?:x{2})?
                return Repeat(Repeat(node, least, most, "greedy"), 0, 1, "greedy")
        return Repeat(node, least, most, mode)

    def _check_can_loop(self, node: Node, most: int | None, start: int) -> None:
        if (most is None or most > 1) and can_be_empty(node):
            raise self.cursor.unsupported("a repeat of what can be empty", start)


def _is_place(node: Node) -> bool:
    """Tell whether a node never matches a point."""
    match node:
        case One():
            return False
        case Series(parts) | Choice(parts):
            return all(map(_is_place, parts)) and node != EMPTY
    return isinstance(node, Ahead | Behind)


@cache
def folded_pairs() -> frozenset[tuple[int, int]]:
    """Return pairs of characters which are, the case ignored, the first two that one folds to."""
    pairs: set[tuple[int, int]] = set()
    for code in unicode.expanding_characters():
        first, second, *_ = unicode.case_expansion(code)
        pairs.update(product(unicode.case_variants(first), unicode.case_variants(second)))
    return frozenset(pairs)
