"""Arrays that start a cache line, and their addresses."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a cache line


def aligned_zeros(count: int, kind: type) -> NDArray[Any]:
    """Return `count` zeros whose first element starts a cache line of 64 bytes."""
    size = count * np.dtype(kind).itemsize
    raw = np.zeros(size + LINE, np.uint8)
    skip = -raw.ctypes.data % LINE
    return raw[skip : skip + size].view(kind)


def private_bytes(count: int) -> NDArray[np.uint8]:
    """Return `count` zeros in small pages that are taken when they are touched.

    NumPy asks for pages of 2 MB, which costs milliseconds where the system has to make them.
    """
    if count == 0:
        return np.zeros(0, np.uint8)
    if hasattr(mmap, "MAP_PRIVATE"):  # not shared with a child after a fork
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        return np.frombuffer(mmap.mmap(-1, count, flags=flags), np.uint8)
    return np.frombuffer(mmap.mmap(-1, count), np.uint8)


def arrays_of(tables: tuple[Any, ...]) -> list[NDArray[Any]]:
    """Return every array of nested NamedTuples, in order."""
    nested = ([t] if isinstance(t, np.ndarray) else arrays_of(t) for t in tables)
    return [array for part in nested for array in part]


def addresses_of(tables: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return address and size of every array of nested NamedTuples, which must stay alive."""
    pairs = [number for array in arrays_of(tables) for number in (array.ctypes.data, array.size)]
    return np.array(pairs, np.int64)
