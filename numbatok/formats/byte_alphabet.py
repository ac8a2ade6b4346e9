"""The byte alphabet: the printable character that stands for each of the 256 bytes.

GPT-2 chose it so that a vocabulary can be written as JSON text: 188 printable Latin-1 characters
stand for themselves, and the other 68 bytes get U+0100..U+0143 in the order of their values.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable

PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
OTHERS = tuple(byte for byte in range(256) if byte not in PRINTABLE)

BYTES_IN_ID_ORDER = (*PRINTABLE, *OTHERS)
"""The byte of each of the first 256 ids of GPT-2 and of the vocabularies made like it."""

CHARACTER_BY_BYTE: dict[int, str] = {
    **{byte: chr(byte) for byte in PRINTABLE},
    **{byte: chr(0x100 + place) for place, byte in enumerate(OTHERS)},
}
BYTE_BY_CHARACTER: dict[str, int] = {char: byte for byte, char in CHARACTER_BY_BYTE.items()}

_DECODING = "".join(CHARACTER_BY_BYTE[byte] for byte in range(256))
_ENCODING = {ord(char): byte for char, byte in BYTE_BY_CHARACTER.items()}


def to_bytes(spelling: str) -> bytes | None:
    """Return the bytes that a string of the byte alphabet stands for, None if it is no such string.

    About 0.2 us a token through the charmap codec; a join over a dict takes 1 us.
    """
    try:
        return codecs.charmap_encode(spelling, "strict", _ENCODING)[0]
    except UnicodeEncodeError:
        return None


def to_bytes_of_all(spellings: Iterable[str]) -> dict[str, bytes | None]:
    """Return the bytes of each string; None for the empty one and those outside the alphabet."""
    encode = codecs.charmap_encode
    try:
        found: dict[str, bytes | None] = {
            spelling: encode(spelling, "strict", _ENCODING)[0] for spelling in spellings
        }
    except UnicodeEncodeError:  # one by one takes half as long again
        found = {spelling: to_bytes(spelling) for spelling in spellings}
    if "" in found:
        found[""] = None
    return found


def to_spelling(token: bytes) -> str:
    """Return the string of the byte alphabet that stands for `token`."""
    return codecs.charmap_decode(token, "strict", _DECODING)[0]
