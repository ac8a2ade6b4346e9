"""Parser of classes in brackets: ranges, nested classes, intersections, POSIX names."""

from __future__ import annotations

import re

import numpy as np

from numbatok import unicode
from numbatok.errors import InvalidValue
from numbatok.regex.cursor import Cursor
from numbatok.regex.points import Flags, Found, parse_escape, widened
from numbatok.regex.sets import Mask, of_range, with_property

MOST_NESTED = 50
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")


def parse_class(cursor: Cursor, flags: Flags, depth: int = 0) -> Mask:
    """Go over a class whose `[` is behind the cursor and return its set."""
    start = cursor.position - 1
    if depth > MOST_NESTED:
        raise cursor.unsupported(f"a class in more than {MOST_NESTED} others", start)
    complement = cursor.take("^")
    if flags.ignore_case and complement and depth:
        raise cursor.unsupported("a nested complement where the case is ignored", start)
    parts = [_members(cursor, flags, depth, first=True)]
    while cursor.take("&&"):
        if flags.ignore_case:
            raise cursor.unsupported("an intersection where the case is ignored", start)
        parts.append(_members(cursor, flags, depth, first=False))
    cursor.take("]")
    mask = parts[0]
    for part in parts[1:]:
        mask = mask & part
    if flags.ignore_case:
        # Oniguruma forgets the foldings to several characters of a class that is complemented
        mask = _closed(mask) if complement else widened(cursor, mask, start)
    return ~mask if complement else mask


def _closed(mask: Mask) -> Mask:
    closed = mask.copy()
    closed[: unicode.CODE_POINTS] = unicode.close_under_case(mask[: unicode.CODE_POINTS])
    return closed


def _members(cursor: Cursor, flags: Flags, depth: int, first: bool) -> Mask:
    """Return the union of the members up to `&&` or `]`."""
    mask = of_range(1, 0)
    if first and cursor.sees("]"):  # a literal, if another one follows
        if "]" not in cursor.pattern[cursor.position + 1 :]:
            raise cursor.damaged("a class without a member")
        mask |= _range(cursor, flags)
    while not (cursor.sees("&&") or cursor.sees("]")):
        mask |= _member(cursor, flags, depth)
    return mask


def _member(cursor: Cursor, flags: Flags, depth: int) -> Mask:
    start = cursor.position
    if cursor.sees("[:"):
        found = cursor.match(_POSIX)
        if found is None or not cursor.is_oniguruma:
            raise cursor.unsupported("this POSIX bracket", start)
        try:
            mask = with_property(unicode.posix_bracket(found[2]))
        except InvalidValue:
            raise cursor.unsupported(f"the POSIX bracket {found[2]!r}", start) from None
        return ~mask if found[1] else mask
    _refuse_operator(cursor)
    if cursor.take("["):
        return parse_class(cursor, flags, depth + 1)
    return _range(cursor, flags)


def _refuse_operator(cursor: Cursor) -> None:
    if not cursor.is_oniguruma and cursor.here(2) in ("--", "~~"):
        raise cursor.unsupported(f"the class operator {cursor.here(2)}")


def _range(cursor: Cursor, flags: Flags) -> Mask:
    """Return one character, escape or range."""
    start = cursor.position
    first = _character(cursor, flags)
    _refuse_operator(cursor)
    is_range = cursor.sees("-") and cursor.here(2) != "-]" and not cursor.sees("-&&")
    if isinstance(first, np.ndarray):
        if is_range:
            raise cursor.unsupported("a - after a class in a class")
        return first
    if not is_range:
        return of_range(first, first)
    cursor.take("-")
    last = _character(cursor, flags)
    if isinstance(last, np.ndarray):
        raise cursor.unsupported("a range that ends in a class", start)
    if last < first:
        raise cursor.damaged("a range that ends before it begins", start)
    if cursor.sees("-") and cursor.here(2) != "-]":
        raise cursor.unsupported("a - after a range")
    return of_range(first, last)


def _character(cursor: Cursor, flags: Flags) -> Found:
    if cursor.sees("["):
        raise cursor.unsupported("a range that ends in a class")
    character = cursor.next()
    if character != "\\":
        return ord(character)
    if cursor.take("b"):
        return 8
    return parse_escape(cursor, flags, in_brackets=True)
