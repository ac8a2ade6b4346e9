r"""Properties of one code point, as each component of the libraries sees them.

The tables are those of `numbatok.unicode`, where the tests ask the libraries about every one; here
they are only looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from numbatok import unicode
from numbatok.errors import InvalidValue

CodeTest = Callable[[int], bool]

ONIGURUMA_ONLY = frozenset(["alnum", "blank", "graph", "print", "word", "xdigit", "posixpunct"])
r"""Names that `\p{..}` of tiktoken's engine does not know, `newline` besides."""


@cache
def _numbers(table: str) -> bytes:
    """Return the number of each code point in a table of numbatok.unicode."""
    return {
        "category": unicode.general_categories,
        "cutting script": unicode.cutting_scripts,
        "white space": unicode.white_space,
        "crate word": unicode.word_characters,
        "word": unicode.oniguruma_word_characters,
        "numeric": unicode.numeric_characters,
        "punctuation": unicode.punctuation_characters,
        "han": unicode.han,
    }[table]().tobytes()


def category(code: int) -> str:
    """Return the general category, for example "Lu"."""
    return unicode.CATEGORY_NAMES[_numbers("category")[code]]


def is_white_space(code: int) -> bool:
    r"""Return whether `\s` matches: one of 25 characters, in every component."""
    return _numbers("white space")[code] == 1


def is_han(code: int) -> bool:
    """Return whether a character's script is Han (not its script extensions)."""
    return _numbers("han")[code] == 1


def is_crate_word(code: int) -> bool:
    r"""Return whether `\w` of the Rust crate regex matches: added tokens, and tiktoken's engine."""
    return _numbers("crate word")[code] == 1


def is_word(code: int) -> bool:
    r"""Return whether `\w` of Oniguruma matches, outside brackets."""
    return _numbers("word")[code] == 1


def is_numeric(code: int) -> bool:
    """Return whether the Digits step cuts around a character."""
    return _numbers("numeric")[code] == 1


def is_punctuation(code: int) -> bool:
    """Return whether the Punctuation step cuts around a character."""
    return _numbers("punctuation")[code] == 1


def cutting_script(code: int) -> str:
    """Return the script by which the UnicodeScripts step cuts, "" for one that never cuts."""
    name = unicode.SCRIPT_NAMES[_numbers("cutting script")[code]]
    return "" if name == "Unknown" else name


@lru_cache(maxsize=256)
def named(name: str, engine: str, in_brackets: bool, ignore_case: bool) -> CodeTest | None:
    r"""Return the test for `\p{name}`, None if the name is not known.

    Where the case is ignored, Oniguruma widens a property in brackets only, tiktoken's engine
    everywhere.
    """
    plain = "".join(char for char in name if char not in " _-").lower()
    if engine == "tiktoken" and (plain in ONIGURUMA_ONLY or plain == "newline"):
        return None
    try:
        table = unicode.oniguruma_property(name, in_brackets)
    except InvalidValue:
        return None
    if ignore_case and (in_brackets or engine == "tiktoken"):
        table = unicode.close_under_case(table)
    return partial(_has_bit, _bits(table))


@lru_cache(maxsize=64)
def case_variants(first: int, last: int) -> CodeTest:
    """Return the test for the characters first..last and those that differ in case only."""
    if first == last:
        return frozenset(unicode.case_variants(first)).__contains__
    table = unicode.category("L") & False
    table[first : last + 1] = True
    return partial(_has_bit, _bits(unicode.close_under_case(table)))


@cache
def first_of_expansions() -> frozenset[tuple[int, int]]:
    """Return the first two characters of each case folding of one character to several."""
    candidates = [*range(0xDF, 0x590), *range(0x1E90, 0x2000), *range(0xFB00, 0xFB20)]
    foldings = [unicode.case_expansion(code) for code in candidates]
    return frozenset((folding[0], folding[1]) for folding in foldings if folding)


def expands(first: int, last: int) -> bool:
    """Return whether one of the characters first..last folds to several."""
    return any(unicode.case_expansion(code) for code in range(first, min(last, 0xFFFF) + 1))


def _bits(table: NDArray[np.bool_]) -> bytes:
    """Return one bit a code point: 139 kB, so that a regex with 600 properties has 84 MB."""
    return np.packbits(table, bitorder="little").tobytes()


def _has_bit(bits: bytes, code: int) -> bool:
    return bits[code >> 3] >> (code & 7) & 1 == 1
