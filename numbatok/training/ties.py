"""The three ways to break ties, and the order of the bytes that belongs to each."""

from __future__ import annotations

from typing import Literal, get_args

from numbatok.errors import InvalidValue
from numbatok.formats.byte_alphabet import BYTES_IN_ID_ORDER

Ties = Literal["huggingface", "bytes", "minbpe"]


def alphabet(ties: Ties) -> list[bytes]:
    """Return the 256 bytes in the order in which they get ids.

    "huggingface": that of GPT-2's byte alphabet; the others: by value. Errors: InvalidValue.
    """
    if ties not in get_args(Ties):
        names = ", ".join(map(repr, get_args(Ties)))
        raise InvalidValue(f"ties is {ties!r}; use one of {names}")
    values = BYTES_IN_ID_ORDER if ties == "huggingface" else range(256)
    return [bytes([value]) for value in values]
