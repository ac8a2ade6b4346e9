"""CountTable: the arrays in which a kernel counts distinct pretokens."""

from __future__ import annotations

import numpy as np

from numbatok.errors import TrainingError
from numbatok.kernels.train_tables import (
    AT_ENTRY,
    COUNTS_FULL,
    ENTRY,
    N_COUNTED,
    SHORT_BYTES,
    TOTAL,
    USED_LONG,
    USED_LONG_BYTES,
    USED_SHORT,
    Counts,
)
from numbatok.memory import addresses_of, aligned_zeros, arrays_of
from numbatok.native import function
from numbatok.scratch import SEGMENT
from numbatok.tables import DONE, MARGIN, U64
from numbatok.training.pretokens import Pretokens

FIRST_ENTRIES = 1 << 16  # 2 MB; a window of text must always fit
MAX_LONG_BYTES = (1 << 32) - (1 << 16)  # positions among them have 32 bits
ENTRIES_A_CALL = 1 << 19  # merged in well under 100 ms


class CountTable:
    """A growing hash table from pretokens to counts. Not safe for two threads at once."""

    def __init__(self, entries: int = FIRST_ENTRIES, long_bytes: int = 1 << 20) -> None:
        self.arrays = Counts(
            slots=aligned_zeros(ENTRY * entries, np.uint64),
            long_slots=_long_slots(long_bytes),
            long_bytes=np.zeros(long_bytes + MARGIN, np.uint8),
            used=np.zeros(N_COUNTED, np.int64),
        )
        self._connect()

    def _connect(self) -> None:
        self._addresses = addresses_of(self.arrays)
        self.address = self._addresses.ctypes.data

    @property
    def n_distinct(self) -> int:
        """The number of distinct pretokens."""
        return int(self.arrays.used[USED_SHORT] + self.arrays.used[USED_LONG])

    @property
    def total(self) -> int:
        """The number of pretokens counted, repetitions included."""
        return int(self.arrays.used[TOTAL])

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        return sum(array.nbytes for array in arrays_of(self.arrays))

    @property
    def nbytes_to_grow(self) -> int:
        """The memory that is taken while the table grows: old and new side by side."""
        return 3 * self.nbytes

    def grow(self, n_bytes: int = SEGMENT) -> None:
        """Make room for the pretokens of n_bytes more bytes of text, at least.

        Errors: TrainingError past 4 GB of distinct pretokens of more than 15 bytes.
        """
        used = self.arrays.used
        entries, long_bytes = self.arrays.slots.size // ENTRY, self.arrays.long_bytes.size - MARGIN
        while (int(used[USED_SHORT]) + n_bytes + SEGMENT) * 4 >= entries * 3:
            entries *= 2
        needed = int(used[USED_LONG_BYTES]) + n_bytes + 2 * SEGMENT
        if needed > MAX_LONG_BYTES:
            raise TrainingError(
                f"distinct pretokens of more than 15 bytes take {needed:,} bytes, more than "
                f"{MAX_LONG_BYTES:,}; set memory_limit so that counts are spilled to disk"
            )
        while needed >= long_bytes:
            long_bytes = min(2 * long_bytes, MAX_LONG_BYTES)
        larger = CountTable(entries, long_bytes)
        larger.merge(self)
        self.arrays = larger.arrays
        self._connect()

    def merge(self, other: CountTable) -> None:
        """Add the counts of another table."""
        merge_counts = function("merge_counts")
        other.arrays.used[AT_ENTRY] = 0
        while (why := merge_counts(self.address, other.address, ENTRIES_A_CALL)) != DONE:
            if why == COUNTS_FULL:
                self.grow()
        other.arrays.used[AT_ENTRY] = 0

    def add(self, pretokens: Pretokens) -> None:
        """Add pretokens with their counts."""
        add_pretokens = function("add_pretokens")
        text, firsts = pretokens.padded_text(), pretokens.firsts_or_zeros()
        at, n = 0, len(pretokens)
        while at < n:
            stop = min(n, at + ENTRIES_A_CALL)
            reached = add_pretokens(
                self.address, text.ctypes.data, pretokens.ends.ctypes.data,
                pretokens.numbers.ctypes.data, firsts.ctypes.data, at, stop,
            )  # fmt: skip
            if reached < stop:
                longest = int(pretokens.ends[reached + 1] - pretokens.ends[reached])
                self.grow(longest)
            at = reached

    def export(self) -> Pretokens:
        """Return all pretokens, in no particular order."""
        used = self.arrays.used
        n, n_bytes = self.n_distinct, int(used[SHORT_BYTES] + used[USED_LONG_BYTES])
        text, ends = np.empty(n_bytes + MARGIN, np.uint8), np.empty(n + 1, np.int64)
        numbers, firsts = np.empty(n, np.int64), np.empty(n, np.int64)
        function("export_counts")(
            self.address, text.ctypes.data, ends.ctypes.data, numbers.ctypes.data,
            firsts.ctypes.data,
        )  # fmt: skip
        return Pretokens(text, ends, numbers, firsts)

    def clear(self) -> None:
        """Forget everything; the memory stays."""
        for array in arrays_of(self.arrays):
            array[:] = 0


def _long_slots(long_bytes: int) -> U64:
    """Make the table of long pretokens; each of them has 16 bytes at least."""
    return aligned_zeros(ENTRY * (long_bytes // 16 * 4 // 3 + SEGMENT), np.uint64)
