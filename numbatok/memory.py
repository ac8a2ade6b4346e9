"""Arrays that start a cache line, and their addresses."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

LINE = 64  # bytes of a cache line
HUGE_PAGE = 1 << 21


def aligned_zeros(count: int, kind: type) -> NDArray[Any]:
    """Return `count` zeros whose first element starts a cache line of 64 bytes."""
    size = count * np.dtype(kind).itemsize
    if size >= HUGE_PAGE and (space := AddressSpace.reserve(size)) is not None:
        return space.array.view(kind)
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


class AddressSpace(NamedTuple):
    """Memory of the system that starts a page of 2 MB."""

    mapping: mmap.mmap
    skip: int  # bytes of the mapping before it
    array: NDArray[np.uint8]

    @classmethod
    def reserve(cls, count: int) -> AddressSpace | None:
        """Return `count` zeros of address space, whose pages are taken when they are touched.

        Pages of 2 MB where the system has them: 8 MB are touched in 0.4 ms instead of 2.7, and
        rarely in 4 to 14 where it must make them. None if the system promises no more than it has.
        """
        if not hasattr(mmap, "MADV_HUGEPAGE"):
            return None
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        try:
            mapping = mmap.mmap(-1, count + HUGE_PAGE, flags=flags)
            mapping.madvise(mmap.MADV_HUGEPAGE)
        except (OSError, OverflowError):  # OSError: also a kernel that is built without them
            return None
        raw = np.frombuffer(mapping, np.uint8)
        skip = -raw.ctypes.data % HUGE_PAGE
        return cls(mapping, skip, raw[skip : skip + count])

    def advise(self, advice: int, first: int, last: int) -> bool:
        """Give the system an advice on bytes first ... last - 1, whole pages of 2 MB.

        False if it does not take it, as for memory that a process has locked.
        """
        try:
            self.mapping.madvise(advice, self.skip + first, last - first)
        except OSError:
            return False
        return True


def is_limited() -> bool:
    """Tell whether this process may have only so much address space (`ulimit -v`)."""
    if resource is None:
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def arrays_of(tables: tuple[Any, ...]) -> list[NDArray[Any]]:
    """Return every array of nested NamedTuples, in order."""
    nested = ([t] if isinstance(t, np.ndarray) else arrays_of(t) for t in tables)
    return [array for part in nested for array in part]


def addresses_of(tables: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return address and size of every array of nested NamedTuples, which must stay alive."""
    pairs = [number for array in arrays_of(tables) for number in (address_of(array), array.size)]
    return np.array(pairs, np.int64)


ADDRESS_AT = 16  # bytes into an array: the first field after those of every object of CPython


def _read_address(array: NDArray[Any]) -> int:
    return _int64_at(id(array) + ADDRESS_AT).value


def _ask_address(array: NDArray[Any]) -> int:
    return int(array.ctypes.data)


_int64_at = ctypes.c_int64.from_address
_sample = np.zeros(1)
# 0.1 us instead of 0.7, which a first call pays some hundred times
_is_known = object.__basicsize__ == ADDRESS_AT and _read_address(_sample) == _ask_address(_sample)
address_of = _read_address if _is_known else _ask_address
