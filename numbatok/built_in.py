"""Kernels as built-in functions of CPython: see kernels/call.py.

A frame, an array of int64, tells the kernel where CPython and NumPy have what it needs. Calls keep
the interpreter's lock from the first instruction to the last, so a frame is used by one at a time.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from numbatok.native import address, interpreted
from numbatok.tables import (
    CALL_ADD_REFERENCE,
    CALL_ARRAY_TYPE,
    CALL_AS_UTF8,
    CALL_BYTES_TYPE,
    CALL_CALL,
    CALL_CHOICE_NAME,
    CALL_CLEAR_ERROR,
    CALL_COMPARE,
    CALL_DEFAULT_CHOICE,
    CALL_DROP_REFERENCE,
    CALL_ENCODE,
    CALL_GENERAL,
    CALL_KEPT,
    CALL_NEW_ARRAY,
    CALL_NEW_CAPSULE,
    CALL_NEW_METHOD,
    CALL_NONE,
    CALL_OFFSETS,
    CALL_OFFSETS_ADDRESS,
    CALL_SET_BASE,
    CALL_SIZE,
    CALL_SIZE_ADDRESS,
    CALL_STR_TYPE,
    CALL_STRETCH,
    CALL_STRETCH_ADDRESS,
    CALL_TUPLE_ITEMS,
    CALL_UINT32,
    CALL_UNITS,
    CALL_UTF8,
    CALL_WIDTH_SHIFT,
    CALL_WRITE_UTF8,
    FRAME,
    I64,
    N_CALL,
    U8,
)

# Places in NumPy's table of functions, fixed by its binary interface.
ARRAY_TYPE, NEW_ARRAY, SET_BASE = 2, 93, 282
METH_FASTCALL, METH_KEYWORDS = 0x80, 2
FLAGS = 32  # where they are in a str
# In them, counted from the bytes of a unit: are the units where str_layout says? Before Python 3.12
# an extension may still make a str that has them elsewhere.
COMPACT = 1 << 3

as_utf8 = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
as_utf8.restype = ctypes.c_void_p
as_utf8.argtypes = [ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t)]

CHOICE_NAME, DEFAULT_CHOICE = sys.intern("special"), sys.intern("raise")

_kept: list[object] = []  # what CPython keeps the address of: some bytes for each function


def is_possible() -> bool:
    """Tell whether objects are laid out as the kernels read them: by CPython, with its lock."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    return (
        sys.implementation.name == "cpython"
        and has_lock
        and object.__basicsize__ == 16
        and not hasattr(sys, "getobjects")  # a debug build links all objects
        and not interpreted()
    )


def make_frame() -> I64:
    """Return a frame that knows CPython and NumPy."""
    frame = np.zeros(N_CALL, np.int64)
    values = {
        CALL_SIZE_ADDRESS: frame.ctypes.data + 8 * CALL_SIZE,
        CALL_STRETCH_ADDRESS: frame.ctypes.data + 8 * CALL_STRETCH,
        CALL_OFFSETS_ADDRESS: frame.ctypes.data + 8 * CALL_OFFSETS,
        CALL_ENCODE: address("encode_documents"),
        CALL_STR_TYPE: id(str),
        CALL_BYTES_TYPE: id(bytes),
        CALL_NONE: id(None),
        CALL_AS_UTF8: _python_function("PyUnicode_AsUTF8AndSize"),
        CALL_CLEAR_ERROR: _python_function("PyErr_Clear"),
        CALL_ADD_REFERENCE: _python_function("Py_IncRef"),
        CALL_NEW_ARRAY: _numpy_function(NEW_ARRAY),
        CALL_ARRAY_TYPE: _numpy_function(ARRAY_TYPE),
        CALL_UINT32: np.dtype(np.uint32).num,
        CALL_NEW_CAPSULE: _python_function("PyCapsule_New"),
        CALL_DROP_REFERENCE: _python_function("Py_DecRef"),
        CALL_SET_BASE: _numpy_function(SET_BASE),
        CALL_NEW_METHOD: _python_function("PyMethod_New"),
        CALL_CALL: _python_function("PyObject_Vectorcall"),
        CALL_COMPARE: _python_function("PyUnicode_Compare"),
        CALL_CHOICE_NAME: id(CHOICE_NAME),
        CALL_DEFAULT_CHOICE: id(DEFAULT_CHOICE),
        CALL_TUPLE_ITEMS: tuple.__basicsize__,
    }
    frame[list(values)] = list(values.values())
    return frame


class StrLayout(NamedTuple):
    """Where a str that is not ASCII has what, in bytes from its start."""

    units: int  # its code units, and one more that is 0
    kept: int  # the address of its UTF-8, or 0 as long as nobody asked for it
    width_shift: int  # where in its flags the bytes of a unit are: 1, 2 or 4


@cache
def str_layout() -> StrLayout | None:
    """Find out with some str how they are laid out; None if it is in no way that is known."""
    if not is_possible():
        return None
    samples = {1: chr(0xE9), 2: chr(0x20AC), 4: chr(0x1F600)}
    units = sys.getsizeof(2 * samples[2]) - 3 * 2
    for width, character in samples.items():
        sample, wanted = 2 * character, 2 * ord(character).to_bytes(width, sys.byteorder)
        if sys.getsizeof(sample) != units + 3 * width:
            return None
        if ctypes.string_at(id(sample) + units, 2 * width) != wanted:
            return None
    sample, other = 3 * samples[2], 5 * samples[2]
    address = as_utf8(sample, None)
    kept = [at for at in range(0, units, 8) if word(id(sample) + at) == address]
    shifts = [shift for shift in (2, 16) if _are_flags(shift, samples)]
    if len(kept) != 1 or len(shifts) != 1 or word(id(other) + kept[0]):
        return None
    return StrLayout(units, kept[0], shifts[0])


def _are_flags(shift: int, samples: dict[int, str]) -> bool:
    """Tell whether a str has the bytes of a unit there, then 1 for compact, then 1 for ASCII."""
    wanted = {0b01000 | width: character for width, character in samples.items()}
    wanted[0b11001] = chr(0x61)
    return all(
        word(id(character) + FLAGS) >> shift & 31 == flags for flags, character in wanted.items()
    )


def word(address: int) -> int:
    """Return the uint64 at an address."""
    return ctypes.c_uint64.from_address(address).value


def tell_layout(frame: I64) -> bool:
    """Tell a frame how a str is laid out, if that is known; return whether it is."""
    layout = str_layout()
    if layout is not None:
        frame[CALL_UNITS], frame[CALL_KEPT], frame[CALL_WIDTH_SHIFT] = layout
    return layout is not None


def forget_layout(frame: I64) -> None:
    """Let a frame have the UTF-8 of every str made and kept by CPython."""
    frame[CALL_UNITS] = 0


def write_utf8_to(frame: I64, room: U8) -> None:
    """Let a frame have the UTF-8 of a str written to memory of its own where that is possible."""
    if tell_layout(frame):
        frame[CALL_WRITE_UTF8], frame[CALL_UTF8] = address("write_utf8"), room.ctypes.data


def built_in(name: str, frame: I64) -> Callable[..., Any]:
    """Return an entry of three int64 (frame, arguments, how many) as a function of Python.

    Errors: CompileError.
    """
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return cast("Callable[..., Any]", make(ctypes.addressof(_definition(name)), frame, None))


@cache
def _definition(name: str) -> _MethodDefinition:
    return _MethodDefinition(name.encode(), address(name), METH_FASTCALL, None)


def serve_calls(frame: I64, owner: object, name: str, general: Callable[..., Any]) -> None:
    """Let encode_call be a method of the owner's class, in the place of a function of Python.

    The class has one slot, `_frame`. The function takes all calls that are not for a short text
    under the policy at hand, and goes on to document the method.
    """
    kind, frame[CALL_GENERAL] = type(owner), id(general)
    owner._frame = frame  # type: ignore[attr-defined]
    item = ("item",)
    is_item_there = word(id(item) + tuple.__basicsize__) == id(item[0])
    if not is_item_there or word(id(owner) + FRAME) != id(frame):
        return
    if kind.__dict__.get(name) is general:
        doc = f"{name}{_signature(general)}\n--\n\n{inspect.getdoc(general) or ''}"
        flags = METH_FASTCALL | METH_KEYWORDS
        method = _MethodDefinition(name.encode(), address("encode_call"), flags, doc.encode())
        _kept.extend([method, general])
        make = ctypes.pythonapi.PyDescr_NewMethod
        make.restype, make.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
        setattr(kind, name, make(kind, ctypes.addressof(method)))


def _signature(general: Callable[..., Any]) -> str:
    """Return the parameters without their types, as `inspect` reads them in a built-in's text."""
    signature = inspect.signature(general)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return text.replace("(self", "($self", 1)


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _python_function(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _numpy_function(place: int) -> int:
    """Return an address from the table that NumPy has for compiled extensions."""
    core: Any = getattr(np, "_core", None) or np.core  # NumPy 1
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get_pointer(core._multiarray_umath._ARRAY_API, None)
    return ctypes.c_void_p.from_address(table + 8 * place).value or 0
