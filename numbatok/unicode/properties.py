r"""Scripts, binary properties, and the names that `\p{..}` and `[[:..:]]` take in Oniguruma."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import InvalidValue
from numbatok.unicode.categories import category, han, white_space
from numbatok.unicode.names import CODE_POINTS, SCRIPT_NAMES
from numbatok.unicode.store import Content, read, set_of_runs, table_of_runs

Mask = NDArray[np.bool_]

LATIN_1_NUMBERS = (0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE)
r"""Superscripts and fractions that Oniguruma takes for word characters outside brackets."""


@cache
def content() -> Content:
    """Return the data file of scripts, binary properties, case and components' sets."""
    return read("unicode-properties.bin")


def _loose(name: str) -> str:
    """Return a name as Oniguruma compares it: case, space, `_` and `-` do not count."""
    return re.sub(r"[ _-]", "", name).lower()


@cache
def _script_numbers() -> NDArray[np.uint8]:
    arrays = content().arrays
    table: NDArray[np.uint8] = table_of_runs(arrays["script.values"], arrays["script.lengths"])
    return table


@cache
def script(name: str) -> Mask:
    """Return bool[CODE_POINTS]: the characters whose Script (not its extensions) is `name`.

    Takes long names and aliases: "Han", "Hani", "old_italic". Errors: InvalidValue.
    """
    if _loose(name) in ("han", "hani"):
        return han()
    long = content().header["script_aliases"].get(_loose(name))
    if long is None:
        raise InvalidValue(
            f"{name!r} is not a script of Unicode 16.0; numbatok.unicode.SCRIPT_NAMES lists them"
        )
    return _read_only(_script_numbers() == SCRIPT_NAMES.index(long))


@cache
def binary_property(name: str) -> Mask:
    r"""Return bool[CODE_POINTS]: the members of a binary property ("Alphabetic", "Alpha", ...).

    Errors: InvalidValue for one that `\p{..}` does not know.
    """
    header, arrays = content()
    long = header["binary_aliases"].get(_loose(name))
    if long is None:
        raise InvalidValue(
            f"{name!r} is not a binary property that patterns know; they know "
            f"{', '.join(header['binary'])}"
        )
    number = header["binary"].index(long)
    start, end = arrays["binary.offsets"][number : number + 2]
    return set_of_runs(arrays["binary.runs"][start:end])


def _read_only(table: Mask) -> Mask:
    table.flags.writeable = False
    return table


def _only(*code_points: int) -> Mask:
    table = np.zeros(CODE_POINTS, np.bool_)
    table[list(code_points)] = True
    return table


def _graph() -> Mask:
    return ~(white_space() | category("Cc") | category("Cn") | category("Cs"))


def _word() -> Mask:
    alphabetic = binary_property("Alphabetic")
    return alphabetic | category("M") | category("Nd") | category("Pc")


POSIX_BRACKETS: dict[str, Callable[[], Mask]] = {
    "alnum": lambda: binary_property("Alphabetic") | category("Nd"),
    "alpha": lambda: binary_property("Alphabetic"),
    "ascii": lambda: binary_property("ASCII"),
    "blank": lambda: category("Zs") | _only(0x09),
    "cntrl": lambda: category("Cc"),
    "digit": lambda: category("Nd"),
    "graph": _graph,
    "lower": lambda: binary_property("Lowercase"),
    "print": lambda: _graph() | category("Zs"),
    "punct": lambda: category("P") | category("S"),
    "space": white_space,
    "upper": lambda: binary_property("Uppercase"),
    "word": _word,
    "xdigit": lambda: binary_property("ASCII_Hex_Digit"),
}


@cache
def posix_bracket(name: str) -> Mask:
    """Return bool[CODE_POINTS]: what `[[:name:]]` matches in Oniguruma (not in tiktoken: ASCII).

    Names are lower case. Errors: InvalidValue.
    """
    if name not in POSIX_BRACKETS:
        raise InvalidValue(
            f"[[:{name}:]] is not a POSIX bracket; use one of {', '.join(POSIX_BRACKETS)}"
        )
    return _read_only(POSIX_BRACKETS[name]())


@cache
def oniguruma_word_characters() -> Mask:
    r"""Return bool[CODE_POINTS]: what `\w` outside brackets and `\b` take for a word (144,671).

    Inside brackets it is `posix_bracket("word")`, without LATIN_1_NUMBERS.
    """
    return _read_only(posix_bracket("word") | _only(*LATIN_1_NUMBERS))


@cache
def oniguruma_property(name: str, in_brackets: bool = False) -> Mask:
    r"""Return bool[CODE_POINTS]: what `\p{name}` matches in Oniguruma.

    Knows categories, scripts and binary properties by every alias, and the POSIX names; not blocks
    (`In_...`), ages and grapheme properties. Case, spaces, `_` and `-` in names do not count.
    `in_brackets` says that it stands in `[...]`, where "word" has six members fewer. "punct" is P
    here, not what `[[:punct:]]` means, which is "posixpunct". Errors: InvalidValue.
    """
    loose = _loose(name)
    header = content().header
    if loose == "word" and not in_brackets:
        return oniguruma_word_characters()
    if loose in header["category_aliases"]:
        return category(header["category_aliases"][loose])
    if loose in header["script_aliases"]:
        return script(loose)
    if loose in header["binary_aliases"]:
        return binary_property(loose)
    if loose in POSIX_BRACKETS:
        return posix_bracket(loose)
    if loose == "posixpunct":
        return posix_bracket("punct")
    if loose == "newline":
        return _read_only(_only(0x0A))
    raise InvalidValue(
        rf"\p{{{name}}} is not supported; use a general category, a script, a binary property "
        f"or a POSIX name"
    )
