r"""Parser of what one point can be: literals, escapes, `\p{..}`.

The two engines differ in `\w`, in some escapes, and in what ignoring the case does to a property:
Oniguruma widens one in brackets only, tiktoken's engine everywhere.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Union

from numbatok import unicode
from numbatok.errors import InvalidValue
from numbatok.regex.cursor import Cursor
from numbatok.regex.sets import Mask, of_characters, of_range, with_property

Found = Union[int, Mask]  # a code point, or a set


class Flags(NamedTuple):
    """What options such as `(?i:` set."""

    ignore_case: bool = False
    dot_all: bool = False  # a dot matches line feeds too


_CODE_POINT = re.compile(r"x\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})")
_NAME = re.compile(r"\{(\^?)([^{}^]*)\}")
_CONTROLS = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D, "a": 0x07}
_ONLY_ONIGURUMA = ("alnum", "blank", "graph", "print", "word", "xdigit", "posixpunct", "newline")
_KEYS = ("script", "sc", "generalcategory", "gc")  # of tiktoken's engine: a script is no category
_NAMED = {
    "R": "a line break",
    "X": "a grapheme cluster",
    "K": "a keep",
    "G": "a search start",
    "k": "a backreference",
    "g": "a subexpression call",
    "y": "a text segment boundary",
    "Y": "a text segment boundary",
    "c": "a control character",
    "C": "a control character",
    "M": "a meta character",
    "Q": "a quotation",
}


def parse_escape(cursor: Cursor, flags: Flags, in_brackets: bool) -> Found:
    """Go over an escape whose backslash is behind the cursor."""
    start = cursor.position - 1
    code = _code_point(cursor, start)
    if code is not None:
        return code
    letter = cursor.next()
    if letter in "dDsSwWhH":
        mask = shorthand(letter.lower(), cursor.is_oniguruma, in_brackets)
        return ~mask if letter.isupper() else mask
    if letter in "pP":
        return _property(cursor, letter == "P", flags, in_brackets, start)
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    if letter == "e" and cursor.is_oniguruma:
        return 0x1B
    if letter in "NO" and cursor.is_oniguruma and not in_brackets:
        return ~of_range(10, 10) if letter == "N" else ~of_range(1, 0)
    if letter.isascii() and (letter.isalnum() or (letter in "<>" and not cursor.is_oniguruma)):
        what = (
            "a backreference or an octal escape" if letter.isdigit() else f"the escape \\{letter}"
        )
        raise cursor.unsupported(_NAMED.get(letter, what), start)
    return ord(letter)


def shorthand(letter: str, is_oniguruma: bool, in_brackets: bool = False) -> Mask:
    r"""Return the set of `\d`, `\s`, `\w` or `\h`."""
    if letter == "d":
        return with_property(unicode.category("Nd"))
    if letter == "s":
        return with_property(unicode.white_space())
    if letter == "h":
        return with_property(unicode.oniguruma_property("xdigit"))
    if not is_oniguruma:
        return with_property(unicode.word_characters())
    return with_property(unicode.oniguruma_property("word", in_brackets))


def _code_point(cursor: Cursor, start: int) -> int | None:
    found = cursor.match(_CODE_POINT)
    if found is None:
        return None
    code = int(found[1] or found[2] or found[3], 16)
    if found[2] and code > 0x7F and cursor.is_oniguruma:
        raise cursor.unsupported(f"\\{found[0]}, a byte above 7F", start)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise cursor.damaged(f"\\{found[0]} is no character", start)
    return code


def _property(
    cursor: Cursor, complement: bool, flags: Flags, in_brackets: bool, start: int
) -> Mask:
    found = cursor.match(_NAME)
    if found is not None:
        name, inverted = found[2], complement != bool(found[1])
    elif cursor.is_oniguruma or cursor.sees("{"):
        raise cursor.unsupported("a property without a name in braces", start)
    else:
        name, inverted = cursor.next(), complement
    loose = re.sub(r"[ _-]", "", name).lower()
    key, equals, value = loose.partition("=")
    if equals and key in _KEYS and not cursor.is_oniguruma:
        name = value
    try:
        if loose in _ONLY_ONIGURUMA and not cursor.is_oniguruma:
            raise InvalidValue(name)
        table = unicode.oniguruma_property(name, in_brackets)
    except InvalidValue:
        raise cursor.unsupported(f"the property {name!r}", start) from None
    if flags.ignore_case and not (cursor.is_oniguruma and (inverted or not in_brackets)):
        table = unicode.close_under_case(table)
    mask = with_property(table)
    return ~mask if inverted else mask


def literal(cursor: Cursor, code: int, flags: Flags, start: int) -> Mask:
    """Return the characters that a literal matches."""
    if not flags.ignore_case:
        return of_range(code, code)
    return widened(cursor, of_range(code, code), start)


def widened(cursor: Cursor, mask: Mask, start: int) -> Mask:
    """Return a set with the case variants of its characters.

    Oniguruma also takes a character for the two or three that it folds to; that is refused.
    """
    characters = mask[: unicode.CODE_POINTS]
    if cursor.is_oniguruma and characters[list(unicode.expanding_characters())].any():
        raise cursor.unsupported("a case-insensitive character that folds to several", start)
    return mask | of_characters(unicode.close_under_case(characters))
