"""The bytes of one text as an array, without a copy where CPython has its UTF-8."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from numbatok.built_in import COMPACT, FLAGS, as_utf8, str_layout, word
from numbatok.native import function
from numbatok.pages import borrow, settle
from numbatok.policy import Invalid, to_bytes
from numbatok.tables import U8, UNITS

LONG = 1 << 14  # characters from where on CPython takes longer: 250 against 900 us a MB

_last = (0, 0)  # identity and length of the text whose UTF-8 was made last


def to_array(text: object, invalid: Invalid = "byte-alphabet") -> U8:
    """Return what `to_bytes` does as uint8[n].

    A str that is not ASCII keeps its UTF-8 once CPython made it, as for every library in C or Rust.
    That of a long one is made here, until the same one comes twice in turn.
    """
    if type(text) is str:
        array = _made(text) if len(text) >= LONG and not text.isascii() else None
        array = _kept(text) if array is None else array
        if array is not None:
            return array
    return np.frombuffer(to_bytes(text, invalid), np.uint8)


def _made(text: str) -> U8 | None:
    """Return the UTF-8 of a str, or None if CPython has it or will, or there is none."""
    global _last
    layout, name = str_layout(), (id(text), len(text))
    if layout is None or name == _last or word(id(text) + layout.kept):
        return None
    flags = word(id(text) + FLAGS) >> layout.width_shift
    if not flags & COMPACT:
        return None
    _last, width = name, flags & 7
    most = (2, 3, 0, 4)[width - 1] * len(text) + 2 * UNITS
    room = borrow(most)
    write_utf8 = function("write_utf8")
    size = write_utf8(id(text) + layout.units, len(text), width, room.ctypes.data)
    if size < 0:
        return None
    settle(room, size)
    return room[:size]


def _kept(text: str) -> U8 | None:
    """Return the UTF-8 that CPython keeps with a str, or None for lone surrogates."""
    size = ctypes.c_ssize_t()
    try:
        address = as_utf8(text, ctypes.byref(size))
    except UnicodeEncodeError:
        return None
    return np.asarray(_Kept(text, address, size.value))


class _Kept:
    """The base of an array of a str's own UTF-8: the str lives as long as the array."""

    def __init__(self, text: str, address: int, size: int) -> None:
        self._text = text
        self.__array_interface__: dict[str, Any] = {
            "data": (address, True), "shape": (size,), "typestr": "|u1", "version": 3,
        }  # fmt: skip
