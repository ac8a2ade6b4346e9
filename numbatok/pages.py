"""Memory of large results and of blocks of files, used again once nobody refers to it.

What a system gives anew it fills with zeros as it is touched, and where it is the guest of another
that one may have to find the memory first: 1 to 9 ms for 2 MB.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from numbatok.memory import HUGE_PAGE, AddressSpace, is_limited
from numbatok.tables import U8

LARGE = 1 << 22  # bytes; the C library keeps smaller ones
KEPT_BYTES = 1 << 28  # of memory that nobody uses; the system takes it back when it runs short
KEPT_SPACE = 1 << 31  # of address space


def lend(size: int) -> U8 | None:
    """Return `size` bytes of any value for a large result, or None: for a small one.

    Also if the system promises no more memory than it has. Bytes that are not touched cost nothing.
    """
    if size < LARGE:
        return None
    whole = 1 << (size - 1).bit_length()  # so that results of about one size share
    try:
        owner = _Owner(size, *_kept[whole].pop())
    except (KeyError, IndexError):
        space = AddressSpace.reserve(whole)
        if space is None:  # too much is promised already, to results that are gone perhaps
            _kept.clear()
            space = AddressSpace.reserve(whole)
        if space is None:
            return None
        owner = _Owner(size, space, 0)
    return np.asarray(owner)


def borrow(size: int) -> U8:
    """Return `size` bytes of any value, of memory that is used again when nobody refers to it.

    To encode 200 MB to new memory took 1.7 s of CPU time, to the same memory again 0.95 s.
    """
    lent = lend(size)
    return np.empty(size, np.uint8) if lent is None else lent


def settle(memory: U8, n_used: int) -> None:
    """Tell how many bytes of what was lent are written; much more than that is given back."""
    if isinstance(memory.base, _Owner):
        memory.base.settle(n_used)


class _Owner:
    """The base of an array that is lent; it goes when the last array that shares it goes."""

    def __init__(self, size: int, space: AddressSpace, n_touched: int) -> None:
        self._space = space
        self._n_touched = n_touched  # bytes that had pages before
        self._n_used = size
        self.__array_interface__: dict[str, Any] = space.array[:size].__array_interface__

    def settle(self, n_used: int) -> None:
        self._n_used = -(-n_used // HUGE_PAGE) * HUGE_PAGE
        is_small = self._n_touched > 2 * self._n_used
        if is_small and self._space.advise(mmap.MADV_DONTNEED, self._n_used, self._n_touched):
            self._n_touched = self._n_used

    def __del__(self) -> None:
        _keep(self._space, max(self._n_touched, self._n_used))


# by size: memory, and how many bytes of it have pages
_kept: dict[int, list[tuple[AddressSpace, int]]] = {}


def _keep(space: AddressSpace, n_touched: int) -> None:
    """Keep memory that nobody uses, unless it is much or there is little."""
    size = space.array.size
    is_much = n_touched > KEPT_BYTES or size > KEPT_SPACE
    if is_much or is_limited() or not hasattr(mmap, "MADV_FREE"):
        return
    others = [pair for rows in list(_kept.values()) for pair in list(rows)]
    n_bytes = n_touched + sum(n for _, n in others)
    n_space = size + sum(other.array.size for other, _ in others)
    if n_bytes > KEPT_BYTES or n_space > KEPT_SPACE:
        _kept.clear()
    if n_touched == 0 or space.advise(mmap.MADV_FREE, 0, n_touched):
        _kept.setdefault(size, []).append((space, n_touched))
