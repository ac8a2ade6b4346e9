"""Kernels as built-in functions of CPython: see kernels/call.py.

A frame, an array of int64, tells the kernel where CPython and NumPy have what it needs. Calls keep
the interpreter's lock from the first instruction to the last, so a frame is used by one at a time.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from numbatok.native import address, interpreted
from numbatok.tables import (
    CALL_ADD_REFERENCE,
    CALL_ARRAY_TYPE,
    CALL_AS_UTF8,
    CALL_BYTES_TYPE,
    CALL_CLEAR_ERROR,
    CALL_NEW_ARRAY,
    CALL_NONE,
    CALL_SIZE,
    CALL_SIZE_ADDRESS,
    CALL_STR_TYPE,
    CALL_STRETCH,
    CALL_STRETCH_ADDRESS,
    CALL_UINT32,
    I64,
    N_CALL,
)

ARRAY_TYPE, NEW_ARRAY = 2, 93  # places in NumPy's table of functions, fixed by its binary interface
METH_FASTCALL = 0x80

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
        CALL_STR_TYPE: id(str),
        CALL_BYTES_TYPE: id(bytes),
        CALL_NONE: id(None),
        CALL_AS_UTF8: _python_function("PyUnicode_AsUTF8AndSize"),
        CALL_CLEAR_ERROR: _python_function("PyErr_Clear"),
        CALL_ADD_REFERENCE: _python_function("Py_IncRef"),
        CALL_NEW_ARRAY: _numpy_function(NEW_ARRAY),
        CALL_ARRAY_TYPE: _numpy_function(ARRAY_TYPE),
        CALL_UINT32: np.dtype(np.uint32).num,
    }
    frame[list(values)] = list(values.values())
    return frame


def built_in(name: str, frame: I64) -> Callable[..., Any]:
    """Return an entry of three int64 (frame, arguments, how many) as a function of Python.

    Errors: CompileError.
    """
    method = _MethodDefinition(name.encode(), address(name), METH_FASTCALL, None)
    _kept.append(method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return cast("Callable[..., Any]", make(ctypes.addressof(method), frame, None))


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
