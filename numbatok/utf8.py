"""The bytes of one text as an array, without a copy where CPython has its UTF-8."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from numbatok.built_in import is_possible
from numbatok.memory import HUGE_PAGE, reserved
from numbatok.native import function
from numbatok.policy import Invalid, to_bytes
from numbatok.tables import U8, UNITS

LONG = 1 << 14  # characters from where on CPython takes longer: 250 against 900 us a MB

_last = (0, 0)  # identity and length of the text whose UTF-8 was made last


def to_array(text: object, invalid: Invalid = "byte-alphabet") -> U8:
    """Return what `to_bytes` does as uint8[n]; the text must stay alive.

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
    layout, name = _layout(), (id(text), len(text))
    if layout is None or name == _last or _word(id(text) + layout.kept):
        return None
    _last = name
    width = (sys.getsizeof(text) - layout.units) // (len(text) + 1)
    room = _room((2, 3, 0, 4)[width - 1] * len(text) + 2 * UNITS)
    write_utf8 = function("write_utf8")
    size = write_utf8(id(text) + layout.units, len(text), width, room.ctypes.data)
    return None if size < 0 else room[:size]


def _kept(text: str) -> U8 | None:
    """Return the UTF-8 that CPython keeps with a str, or None for lone surrogates."""
    size = ctypes.c_ssize_t()
    try:
        address = _as_utf8(text, ctypes.byref(size))
    except UnicodeEncodeError:
        return None
    return np.frombuffer(_view_memory(address, size.value, _PYBUF_READ), np.uint8)


def _room(size: int) -> U8:
    pages = reserved(size) if size >= HUGE_PAGE else None
    return np.empty(size, np.uint8) if pages is None else pages


class Layout(NamedTuple):
    """Where a str that is not ASCII has what, in bytes from its start."""

    units: int  # its code units, and one more that is 0
    kept: int  # the address of its UTF-8, or 0 as long as nobody asked for it


@cache
def _layout() -> Layout | None:
    """Find the layout out with some str, or return None if they are laid out in another way."""
    if not is_possible():
        return None
    units = sys.getsizeof(2 * chr(0x20AC)) - 3 * 2
    for character, coding in ((0xE9, "latin-1"), (0x20AC, "utf-16"), (0x1F600, "utf-32")):
        sample = 2 * chr(character)
        mark = b"" if coding == "latin-1" else chr(0xFEFF).encode(coding)[-4:]
        wanted = sample.encode(coding)[len(mark) // 2 if coding == "utf-16" else len(mark) :]
        if sys.getsizeof(sample) != units + len(wanted) // 2 * 3:
            return None
        if ctypes.string_at(id(sample) + units, len(wanted)) != wanted:
            return None
    sample = 3 * chr(0x20AC)
    address = _as_utf8(sample, None)
    places = [at for at in range(0, units, 8) if _word(id(sample) + at) == address]
    fresh = 5 * chr(0x20AC)
    return (
        Layout(units, places[0]) if len(places) == 1 and not _word(id(fresh) + places[0]) else None
    )


def _word(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


_PYBUF_READ = 0x100
_as_utf8 = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
_as_utf8.restype = ctypes.c_void_p
_as_utf8.argtypes = [ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t)]
_view_memory: Any = ctypes.pythonapi.PyMemoryView_FromMemory
_view_memory.restype = ctypes.py_object
_view_memory.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int]
