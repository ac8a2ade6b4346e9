r"""Parser of what one atom can be in a regex: classes, escapes, `\p{..}`."""

from __future__ import annotations

import re
from typing import NamedTuple

from numbatok.errors import InvalidTokenizerFile, UnsupportedTokenizer
from numbatok.reference import properties
from numbatok.reference.properties import CodeTest
from numbatok.reference.regex_tree import (
    AllOf,
    AnyOf,
    Characters,
    CharSet,
    CodeRange,
    NoneOf,
    Property,
)

CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
MOST_COUNT = 100_000
MOST_CLASSES = 50
"""Depth of nested classes."""

INTERVAL = re.compile(r"\{(\d{0,6})(,?)(\d{0,6})\}")
CODE_POINT = re.compile(r"x\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})")


class Counts(NamedTuple):
    """How often a quantifier repeats."""

    least: int
    most: int | None  # None: any number
    is_interval: bool  # written in braces


class Cursor:
    """A place in a pattern."""

    def __init__(self, pattern: str, engine: str) -> None:
        self.pattern = pattern
        self.engine = engine
        self.position = 0

    def at_end(self) -> bool:
        """Return whether nothing is left."""
        return self.position >= len(self.pattern)

    def peek(self) -> str:
        """Return the character here; at the end an InvalidTokenizerFile is raised."""
        if self.at_end():
            raise self.damaged("an early end")
        return self.pattern[self.position]

    def rest(self, length: int) -> str:
        """Return up to `length` characters from here on."""
        return self.pattern[self.position : self.position + length]

    def looking_at(self, text: str) -> bool:
        """Return whether `text` stands here."""
        return self.pattern.startswith(text, self.position)

    def take(self, text: str) -> bool:
        """Go over `text` if it stands here."""
        if self.looking_at(text):
            self.position += len(text)
            return True
        return False

    def quantifier(self) -> Counts | None:
        """Go over a quantifier and return it, None if there is none."""
        for char, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.take(char):
                return Counts(least, most, is_interval=False)
        found = INTERVAL.match(self.pattern, self.position)
        if found is None or not (found[1] or found[3]):
            return None
        first, comma, last = found.groups()
        if not first and self.engine == "tiktoken":
            raise self.unsupported("an interval without its first number")
        self.position = found.end()
        least_count = int(first or 0)
        most_count = least_count if not comma else int(last) if last else None
        if most_count is not None and most_count < least_count:
            raise self.unsupported(f"the interval {found[0]}")
        if max(least_count, most_count or 0) > MOST_COUNT:
            raise self.unsupported(f"the interval {found[0]}, larger than {MOST_COUNT}")
        return Counts(least_count, most_count, is_interval=True)

    def unsupported(self, what: str) -> UnsupportedTokenizer:
        """Return the error for a construct that is not reproduced."""
        return UnsupportedTokenizer(
            f"regex: {what} is not supported, at character {self.position} of {self.pattern!r:.200}"
        )

    def damaged(self, what: str) -> InvalidTokenizerFile:
        """Return the error for a pattern that is no regex."""
        return InvalidTokenizerFile(
            f"regex: {what}, at character {self.position} of {self.pattern!r:.200}"
        )


def character_set(cursor: Cursor, letter: str, in_brackets: bool) -> CharSet:
    r"""Return the set of `\d \s \w \h` or of the capital, their complement."""
    if letter in "wW" and cursor.engine == "tiktoken":
        test: CodeTest | None = properties.is_crate_word
    elif letter in "sS":
        test = properties.is_white_space
    else:
        name = {"d": "Nd", "w": "word", "h": "xdigit"}[letter.lower()]
        test = properties.named(name, "tokenizers", in_brackets, ignore_case=False)
    if test is None:
        raise cursor.unsupported(f"the escape \\{letter}")
    found = Property(letter.lower(), test)
    return NoneOf(found) if letter.isupper() else found


def fold(cursor: Cursor, first: int, last: int) -> CharSet:
    """Return the characters first..last with those that differ from them in case only.

    Oniguruma also takes a character for the two or three that it folds to; that is refused.
    """
    if cursor.engine == "tokenizers" and properties.expands(first, last):
        raise cursor.unsupported("a case-insensitive character that folds to several")
    return Characters(properties.case_variants(first, last))


def parse_escape(cursor: Cursor, ignore_case: bool, in_brackets: bool) -> int | CharSet:
    """Go over an escape whose backslash is behind the cursor; return its code point or its set."""
    char = cursor.peek()
    if char in "dDsSwWhH":
        cursor.position += 1
        return character_set(cursor, char, in_brackets)
    if char in "pP":
        return _property(cursor, ignore_case, in_brackets)
    found = CODE_POINT.match(cursor.pattern, cursor.position)
    if found is not None:
        return _code_point(cursor, found)
    if char in CONTROLS:
        cursor.position += 1
        return CONTROLS[char]
    if char.isascii() and char.isalnum():
        raise cursor.unsupported(f"the escape \\{char}")
    cursor.position += 1
    return ord(char)


def _code_point(cursor: Cursor, found: re.Match[str]) -> int:
    code = int(found[1] or found[2] or found[3], 16)
    if found[2] and code > 0x7F and cursor.engine == "tokenizers":
        raise cursor.unsupported(f"\\{found[0]}, a byte above 7F")
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise cursor.damaged(f"\\{found[0]}, which is no character")
    cursor.position = found.end()
    return code


def _property(cursor: Cursor, ignore_case: bool, in_brackets: bool) -> CharSet:
    complement = cursor.take("P")
    if not complement:
        cursor.take("p")
    if cursor.take("{"):
        end = cursor.pattern.find("}", cursor.position)
        if end < 0:
            raise cursor.damaged("a property without its }")
        name = cursor.pattern[cursor.position : end]
    elif cursor.engine == "tiktoken":
        name, end = cursor.peek(), cursor.position
    else:
        raise cursor.unsupported("a property without braces")
    if name.startswith("^"):
        complement, name = not complement, name[1:]
    test = properties.named(name, cursor.engine, in_brackets, ignore_case)
    if test is None:
        raise cursor.unsupported(f"the property {name!r}")
    cursor.position = end + 1
    found = Property(name, test)
    return NoneOf(found) if complement else found


# --- classes ---


def parse_class(cursor: Cursor, ignore_case: bool, depth: int) -> CharSet:
    """Go over a class whose `[` is behind the cursor and return its set."""
    if depth > MOST_CLASSES:
        raise cursor.unsupported(f"more than {MOST_CLASSES} nested classes")
    complement = cursor.take("^")
    if ignore_case and complement and depth:
        raise cursor.unsupported("a nested complement where the case is ignored")
    factors: list[CharSet] = []
    members: list[CharSet] = []
    if cursor.looking_at("]"):
        if cursor.pattern.find("]", cursor.position + 1) < 0:
            raise cursor.damaged("an empty class")
        members.append(_range(cursor, ignore_case))
    while not cursor.take("]"):
        if cursor.take("&&"):
            if ignore_case:
                raise cursor.unsupported("an intersection where the case is ignored")
            factors.append(AnyOf(tuple(members)))
            members = []
        else:
            members.append(_member(cursor, ignore_case, depth))
    factors.append(AnyOf(tuple(members)))
    found = factors[0] if len(factors) == 1 else AllOf(tuple(factors))
    return NoneOf(found) if complement else found


def _member(cursor: Cursor, ignore_case: bool, depth: int) -> CharSet:
    if cursor.looking_at("[:"):
        raise cursor.unsupported("a POSIX bracket")
    _refuse_operators(cursor)
    if cursor.take("["):
        return parse_class(cursor, ignore_case, depth + 1)
    return _range(cursor, ignore_case)


def _refuse_operators(cursor: Cursor) -> None:
    if cursor.engine == "tiktoken" and cursor.rest(2) in ("--", "~~"):
        raise cursor.unsupported(f"the class operator {cursor.rest(2)}")


def _range(cursor: Cursor, ignore_case: bool) -> CharSet:
    first = _class_character(cursor, ignore_case)
    _refuse_operators(cursor)
    is_range = cursor.looking_at("-") and cursor.rest(2) != "-]"
    if not isinstance(first, int):
        if is_range:
            raise cursor.unsupported("a - after a class in a class")
        return first
    last = first
    if is_range and not cursor.looking_at("-&&"):
        cursor.position += 1
        last = _range_end(cursor, first, ignore_case)
    return fold(cursor, first, last) if ignore_case else CodeRange(first, last)


def _range_end(cursor: Cursor, first: int, ignore_case: bool) -> int:
    last = _class_character(cursor, ignore_case)
    if not isinstance(last, int):
        raise cursor.unsupported("a range that ends in a class")
    if last < first:
        raise cursor.damaged("a range that ends before it begins")
    if cursor.looking_at("-") and cursor.rest(2) != "-]":
        raise cursor.unsupported("a - after a range")
    return last


def _class_character(cursor: Cursor, ignore_case: bool) -> int | CharSet:
    if cursor.looking_at("["):
        raise cursor.unsupported("a range that ends in a class")
    char = cursor.peek()
    cursor.position += 1
    if char != "\\":
        return ord(char)
    if cursor.take("b"):
        return 8
    return parse_escape(cursor, ignore_case, in_brackets=True)
