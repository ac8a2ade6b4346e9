"""The arena of this process: memory for the ids of short texts; see kernels/arena.py."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import numpy as np

from numbatok.built_in import word
from numbatok.memory import AddressSpace, is_limited
from numbatok.native import address
from numbatok.tables import (
    ARENA_ADVISE,
    ARENA_CLASSES,
    ARENA_FIRST,
    ARENA_HEADS,
    ARENA_N_PAGES,
    ARENA_PAGES,
    ARENA_SELF,
    ARENA_SIZES,
    BLOCK_STEP,
    CALL_ARENA,
    CALL_RELEASE,
    CAPSULE_POINTER,
    I64,
    LEAST_BLOCK,
    MOST_PAGES,
    N_ARENA,
    N_CLASSES,
    PAGE_BITS,
)


def lend_from_arena(frame: I64) -> None:
    """Let short calls with a frame put their ids into the arena, where there can be one."""
    arena = _arena()
    if arena is not None:
        frame[CALL_ARENA], frame[CALL_RELEASE] = arena[ARENA_SELF], address("release_block")


@cache
def _arena() -> I64 | None:
    """Return the arena; None if the system promises no more memory than it has."""
    if sys.platform != "linux" or is_limited() or not _capsules_are_known():
        return None
    space = AddressSpace.reserve(MOST_PAGES << PAGE_BITS)
    if space is None:
        return None
    arena = np.zeros(N_ARENA, np.int64)
    arena[ARENA_SELF], arena[ARENA_FIRST] = arena.ctypes.data, space.array.ctypes.data
    arena[ARENA_N_PAGES] = MOST_PAGES
    arena[ARENA_ADVISE] = ctypes.cast(ctypes.CDLL(None).madvise, ctypes.c_void_p).value or 0
    sizes = block_sizes()
    arena[ARENA_SIZES:ARENA_HEADS] = sizes
    steps = BLOCK_STEP * np.arange(ARENA_PAGES - ARENA_CLASSES)
    arena[ARENA_CLASSES:ARENA_PAGES] = np.searchsorted(sizes, steps)
    # The last arrays go when the interpreter ends, after everything of Python that they need.
    for needed in (arena, space.mapping):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(needed))
    return arena


def block_sizes() -> list[int]:
    """Return the bytes of the blocks of each class."""
    return [LEAST_BLOCK * (4 + k % 4) // 4 << k // 4 for k in range(N_CLASSES)]


def _capsules_are_known() -> bool:
    """Tell whether a capsule has what it holds where the kernel looks for it."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    capsule = make(BLOCK_STEP, None, None)
    return word(id(capsule) + CAPSULE_POINTER) == BLOCK_STEP
