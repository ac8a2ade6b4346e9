r"""Properties of a code point, as each component of the libraries sees them.

Patterns see Unicode 16.0. Other components have data of their own age: the Digits step 17.0, script
changes and accents 9.0, punctuation 8.0. Every function here is compared with the library on every
code point by the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from numbatok.reference.after_unicode9 import newer_characters

CodeTest = Callable[[int], bool]

ASCII_SYMBOLS = frozenset(map(ord, "$+<=>^`|~"))
NUMERIC_OF_17 = frozenset([*range(0x11DE0, 0x11DEA), *range(0x16FF4, 0x16FF7)])
PUNCTUATION_OF_9 = frozenset([0x2E43, 0x2E44, 0x1145B, 0x1145D, 0x11C70, 0x11C71, 0x1E95E, 0x1E95F])
PUNCTUATION_OF_9 |= {*range(0x1144B, 0x11450), *range(0x11660, 0x1166D), *range(0x11C41, 0x11C46)}
ONCE_PUNCTUATION = frozenset([0x166D, 0x111C9])  # became a symbol and a mark
MARKS_OF_9 = frozenset([0x1CF2, 0x1CF3])  # became letters
COMMON_IN_9 = frozenset([0x0589, 0x061C])  # became Armenian and Arabic
LATIN_1_NUMBERS = frozenset([0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE])
JOIN_CONTROLS = frozenset([0x200C, 0x200D])

LONG_NAMES = {
    "letter": "L",
    "uppercaseletter": "Lu",
    "lowercaseletter": "Ll",
    "titlecaseletter": "Lt",
    "modifierletter": "Lm",
    "otherletter": "Lo",
    "mark": "M",
    "nonspacingmark": "Mn",
    "spacingmark": "Mc",
    "enclosingmark": "Me",
    "number": "N",
    "decimalnumber": "Nd",
    "letternumber": "Nl",
    "othernumber": "No",
    "punctuation": "P",
    "symbol": "S",
    "separator": "Z",
    "spaceseparator": "Zs",
    "other": "C",
    "control": "Cc",
    "format": "Cf",
}
"""General categories by their long names without spaces, as both engines know them."""


@cache
def _categories() -> tuple[tuple[str, ...], bytes]:
    """Return the names of the general categories, and the number of that of each code point."""
    from numbatok import unicode

    return tuple(unicode.CATEGORY_NAMES), unicode.general_categories().tobytes()


def category(code: int) -> str:
    """Return the general category, for example "Lu"."""
    names, numbers = _categories()
    return names[numbers[code]]


@cache
def _members(name: str) -> bytes:
    """Return one byte a code point, 1 for those of a set that the Unicode tables name."""
    from numbatok import unicode

    tables = {"white space": unicode.white_space, "word": unicode.word_characters}
    table = tables[name]() if name in tables else unicode.script(name)
    return table.tobytes()


def is_white_space(code: int) -> bool:
    r"""Return whether `\s` matches: one of 25 characters, in every component."""
    return _members("white space")[code] == 1


def has_script(code: int, name: str) -> bool:
    """Return whether a character's script is `name` (not its script extensions)."""
    return _members(name)[code] == 1


def is_crate_word(code: int) -> bool:
    r"""Return whether `\w` of the Rust crate regex matches: added tokens, and tiktoken's engine."""
    return _members("word")[code] == 1


def is_word(code: int) -> bool:
    r"""Return whether `\w` of Oniguruma matches.

    It lacks the join controls, and has the numbers of Latin-1.
    """
    return (is_crate_word(code) and code not in JOIN_CONTROLS) or code in LATIN_1_NUMBERS


def is_decimal(code: int) -> bool:
    r"""Return whether `\d` matches."""
    return category(code) == "Nd"


def is_hex_digit(code: int) -> bool:
    r"""Return whether `\h` matches: ASCII only."""
    return chr(code) in "0123456789abcdefABCDEF"


def is_numeric(code: int) -> bool:
    """Return whether the Digits step cuts around a character."""
    return category(code)[0] == "N" or code in NUMERIC_OF_17


def is_punctuation(code: int) -> bool:
    """Return whether the Punctuation step cuts around a character: ASCII, or P of Unicode 8.0."""
    if code in ASCII_SYMBOLS or code in ONCE_PUNCTUATION:
        return True
    is_new = code in newer_characters() or code in PUNCTUATION_OF_9
    return category(code)[0] == "P" and not is_new


def is_accent(code: int) -> bool:
    """Return whether StripAccents removes a character: M of Unicode 9.0."""
    if code in MARKS_OF_9:
        return True
    is_new = code in newer_characters() or code in ONCE_PUNCTUATION
    return category(code)[0] == "M" and not is_new


def cutting_script(code: int) -> str:
    """Return the script by which the UnicodeScripts step cuts, "" for one that never cuts.

    The data is Unicode 9.0. Kana counts as Han, a space and what is unassigned as any script.
    """
    if code == 0x20 or category(code) in ("Cn", "Co", "Cs") or code in newer_characters():
        return ""
    if code in COMMON_IN_9:
        return "Common"
    name = script_of(code)
    return "Han" if name in ("Hiragana", "Katakana") or code == 0x30FC else name


@cache
def _scripts() -> dict[str, str]:
    """Return the names of the scripts by the same without `_`, in lower case."""
    from numbatok import unicode

    return {name.replace("_", "").lower(): name for name in unicode.SCRIPT_NAMES}


@cache
def script_of(code: int) -> str:
    """Return the name of a character's script, "" if it has none."""
    return next((name for name in _scripts().values() if has_script(code, name)), "")


def named(name: str) -> CodeTest | None:
    r"""Return the test for `\p{name}`, None if the name is not known here.

    Names are general categories, short or long, and scripts; case, spaces, `_` and `-` do not
    count.
    """
    plain = "".join(char for char in name if char not in " _-").lower()
    names, _ = _categories()
    short = plain[:1].upper() + plain[1:]
    if short in names or short in {name[0] for name in names}:
        return partial(_in_category, short)
    if plain in LONG_NAMES:
        return partial(_in_category, LONG_NAMES[plain])
    if plain == "any":
        return lambda code: True
    if plain in _scripts():
        return partial(_in_script, _scripts()[plain])
    return None


def _in_category(name: str, code: int) -> bool:
    return category(code).startswith(name)


def _in_script(name: str, code: int) -> bool:
    return has_script(code, name)
