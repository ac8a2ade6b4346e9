"""Short texts by one built-in function: see kernels/call.py.

All threads share one thread state, because the call keeps the interpreter's lock from its first
instruction to its last. Where objects are laid out otherwise (no such lock, not CPython) and where
kernels run as plain Python, every call goes the general way.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from numbatok.native import address, interpreted
from numbatok.policy import Policy
from numbatok.scratch import ThreadState
from numbatok.tables import (
    CALL_ADD_REFERENCE,
    CALL_ARRAY_TYPE,
    CALL_AS_UTF8,
    CALL_BYTES_TYPE,
    CALL_CLEAR_ERROR,
    CALL_FORMS,
    CALL_IDS,
    CALL_LONGEST,
    CALL_N_FORMS,
    CALL_NEW_ARRAY,
    CALL_NONE,
    CALL_POLICY,
    CALL_SIZE,
    CALL_SIZE_ADDRESS,
    CALL_STATE,
    CALL_STR_TYPE,
    CALL_STRETCH,
    CALL_STRETCH_ADDRESS,
    CALL_UINT32,
    CALL_WHY,
    I64,
    MEMO_FULL,
    N_CALL,
    N_FORMS,
    U32,
)

SMALL_TEXT = 1 << 14  # bytes that are encoded with the lock held: 0.4 ms at the slowest
ARRAY_TYPE, NEW_ARRAY = 2, 93  # places in NumPy's table of functions, fixed by its binary interface
METH_FASTCALL = 0x80

Call = Callable[[Policy, Any], "U32 | None"]


class SmallCalls:
    """The built-in function of one tokenizer, and the work space that it uses.

    `call(policy, text)` returns the ids of a str or bytes of up to SMALL_TEXT bytes, uint32[n], or
    None; then `again` sets right what can be set right.
    """

    def __init__(self, new_state: Callable[[], ThreadState], forms: Sequence[int] | None) -> None:
        """Serve texts that no form, of which these are the addresses of the classes, may change.

        Without a list every text goes the general way.
        """
        self._new_state = new_state
        self._state: ThreadState | None = None
        self._policy: Policy | None = None
        self._ids = np.zeros(SMALL_TEXT + 8, np.uint32)
        self.call: Call = _nothing
        self._keys: list[None] = []  # whoever takes the one in it may change the state
        if forms is not None and len(forms) <= N_FORMS and _is_possible():
            self._frame = _make_frame(forms, self._ids)
            self.call, self._method = _built_in(self._frame)
            self._keys.append(None)

    def again(self, policy: Policy, text: Any) -> U32 | None:
        """Prepare for a policy, make room in the memo, and return the ids or None."""
        try:
            self._keys.pop()
        except IndexError:  # another thread is at it
            return None
        try:
            if self._policy is not policy:
                self._change(lambda state: state.follow(policy, policy.actions, policy.ill_formed))
                self._policy = policy
                self._frame[CALL_POLICY] = id(policy)
            ids = self.call(policy, text)
            while ids is None and self._frame[CALL_WHY] == MEMO_FULL:
                self._change(ThreadState.grow_memo)
                self._frame[CALL_POLICY] = id(policy)
                ids = self.call(policy, text)
            return ids
        finally:
            self._keys.append(None)

    def forget(self) -> None:
        """Empty the memo."""
        if self._keys and self._state is not None:
            self._change(ThreadState.forget)
            self._frame[CALL_POLICY] = id(self._policy)

    def _change(self, change: Callable[[ThreadState], None]) -> None:
        """Change the thread state while no call uses it."""
        self._frame[CALL_POLICY] = 0
        if self._state is None:
            self._state = self._new_state()
        change(self._state)
        self._frame[CALL_STATE] = self._state.address


def _nothing(_policy: Policy, _text: Any) -> None:
    return None


def _is_possible() -> bool:
    """Tell whether objects are laid out as the kernel reads them."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    return (
        sys.implementation.name == "cpython"
        and has_lock
        and object.__basicsize__ == 16
        and not hasattr(sys, "getobjects")  # a debug build links all objects
        and not interpreted()
    )


def _numpy_function(place: int) -> int:
    """Return an address from the table that NumPy has for compiled extensions."""
    core: Any = getattr(np, "_core", None) or np.core  # NumPy 1
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get_pointer(core._multiarray_umath._ARRAY_API, None)
    return ctypes.c_void_p.from_address(table + 8 * place).value or 0


def _python_function(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _make_frame(forms: Sequence[int], ids: U32) -> I64:
    frame = np.zeros(N_CALL, np.int64)
    values = {
        CALL_IDS: ids.ctypes.data,
        CALL_LONGEST: SMALL_TEXT,
        CALL_SIZE_ADDRESS: frame.ctypes.data + 8 * CALL_SIZE,
        CALL_STRETCH_ADDRESS: frame.ctypes.data + 8 * CALL_STRETCH,
        CALL_N_FORMS: len(forms),
        CALL_STR_TYPE: id(str),
        CALL_BYTES_TYPE: id(bytes),
        CALL_NONE: id(None),
        CALL_AS_UTF8: _python_function("PyUnicode_AsUTF8AndSize"),
        CALL_CLEAR_ERROR: _python_function("PyErr_Clear"),
        CALL_ADD_REFERENCE: _python_function("Py_IncRef"),
        CALL_NEW_ARRAY: _numpy_function(NEW_ARRAY),
        CALL_ARRAY_TYPE: _numpy_function(ARRAY_TYPE),
        CALL_UINT32: np.dtype(np.uint32).num,
    } | {CALL_FORMS + k: form for k, form in enumerate(forms)}
    frame[list(values)] = list(values.values())
    return frame


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _built_in(frame: I64) -> tuple[Call, object]:
    """Return the kernel as a built-in function of a frame, and what has to live as long."""
    method = _MethodDefinition(b"encode", address("encode_object"), METH_FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p],
    )
    return cast("Call", make(ctypes.addressof(method), frame, None)), method
