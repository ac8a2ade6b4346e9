"""Atoms: text of arbitrary bytes as a sequence of characters and stray bytes.

An atom is one well-formed UTF-8 scalar (Unicode table 3-7: no overlong form, no surrogate, nothing
above U+10FFFF), or ONE byte of an ill-formed sequence. Which properties such a byte has is the
caller's policy:

"byte-alphabet"  those of the character that stands for it in GPT-2's byte alphabet (default)
"punct"          those of `!`: punctuation, and nothing else
"replace"        none: an ill-formed sequence becomes U+FFFD, as in bytes.decode(errors="replace")
"error"          none: InvalidUtf8

A byte has properties (general category, script, word) but it is no character: no literal and no
range of a pattern matches it, no added token contains it, and no normalizer changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from numbatok.errors import InvalidType, InvalidUtf8, InvalidValue

InvalidPolicy = Literal["byte-alphabet", "punct", "replace", "error"]

PUNCTUATION_MARK = ord("!")
REPLACEMENT = "\ufffd"

# Unicode table 3-7: lead bytes, range of the second byte, number of bytes. Further bytes: 80..BF.
SEQUENCES = (
    (0x00, 0x7F, None, 1),
    (0xC2, 0xDF, (0x80, 0xBF), 2),
    (0xE0, 0xE0, (0xA0, 0xBF), 3),
    (0xE1, 0xEC, (0x80, 0xBF), 3),
    (0xED, 0xED, (0x80, 0x9F), 3),
    (0xEE, 0xEF, (0x80, 0xBF), 3),
    (0xF0, 0xF0, (0x90, 0xBF), 4),
    (0xF1, 0xF3, (0x80, 0xBF), 4),
    (0xF4, 0xF4, (0x80, 0x8F), 4),
)


class Atom(NamedTuple):
    """One character, or one byte of an ill-formed sequence."""

    data: bytes  # the bytes it stands for; after a ByteLevel step one byte each
    code: int  # the code point whose properties it has
    is_character: bool  # False for a byte of an ill-formed sequence


@lru_cache(maxsize=1)
def byte_alphabet() -> tuple[int, ...]:
    """Return the code point that stands for each of the 256 bytes in GPT-2's vocabularies.

    Printable ASCII and printable Latin-1 stand for themselves; the other 68 bytes, in order, get
    U+0100..U+0143.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x144))
    return tuple(byte if byte in printable else next(others) for byte in range(256))


def sequence_length(data: bytes, start: int) -> int:
    """Return the length of the well-formed sequence at `start`, or 0 if there is none."""
    lead = data[start]
    for first, last, second_range, length in SEQUENCES:
        if not first <= lead <= last:
            continue
        following = data[start + 1 : start + length]
        if len(following) != length - 1:
            return 0
        if second_range and not second_range[0] <= following[0] <= second_range[1]:
            return 0
        return length if all(0x80 <= byte <= 0xBF for byte in following[1:]) else 0
    return 0


def join_surrogates(text: str) -> str:
    """Join each pair of surrogates into its character and replace each lone one by U+FFFD."""
    joined: list[str] = []
    for char in text:
        if "\udc00" <= char <= "\udfff" and joined and "\ud800" <= joined[-1] <= "\udbff":
            high = ord(joined.pop())
            joined.append(chr(0x10000 + ((high - 0xD800) << 10) + ord(char) - 0xDC00))
        else:
            joined.append(char)
    return "".join(REPLACEMENT if "\ud800" <= c <= "\udfff" else c for c in joined)


def text_bytes(text: str | bytes) -> bytes:
    """Return the UTF-8 of a str, surrogates joined or replaced; bytes as they are.

    Raises:
        InvalidType: `text` is neither str nor bytes.
    """
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return join_surrogates(text).encode()
    raise InvalidType(f"text is {type(text).__name__}, expected str or bytes: {text!r:.60}")


def character(char: str) -> Atom:
    """Return the atom of one character."""
    return Atom(char.encode(), ord(char), True)


def characters(text: str) -> list[Atom]:
    """Return the atoms of a str without surrogates."""
    return [character(char) for char in text]


def split_atoms(text: str | bytes, invalid: InvalidPolicy = "byte-alphabet") -> list[Atom]:
    """Return the atoms of a text.

    Raises:
        InvalidType: `text` is neither str nor bytes.
        InvalidValue: `invalid` is no policy.
        InvalidUtf8: the text is not UTF-8 and `invalid` is "error".
    """
    if invalid not in get_args(InvalidPolicy):
        choices = ", ".join(map(repr, get_args(InvalidPolicy)))
        raise InvalidValue(f"invalid={invalid!r} is no policy; choose one of {choices}")
    data = text_bytes(text)
    if invalid == "replace":
        return characters(data.decode("utf-8", errors="replace"))
    atoms: list[Atom] = []
    position = 0
    while position < len(data):
        length = sequence_length(data, position)
        if length:
            atoms.append(character(data[position : position + length].decode()))
        else:
            atoms.append(_stray_byte(data, position, invalid))
        position += length or 1
    return atoms


def _stray_byte(data: bytes, position: int, invalid: InvalidPolicy) -> Atom:
    byte = data[position]
    if invalid == "error":
        raise InvalidUtf8(
            f"byte 0x{byte:02X} at position {position} is not well-formed UTF-8; decode the text "
            'first, or choose invalid="byte-alphabet", "punct" or "replace"'
        )
    code = PUNCTUATION_MARK if invalid == "punct" else byte_alphabet()[byte]
    return Atom(bytes([byte]), code, False)


def join(atoms: Sequence[Atom]) -> bytes:
    """Return the bytes that some atoms stand for."""
    return b"".join(atom.data for atom in atoms)
