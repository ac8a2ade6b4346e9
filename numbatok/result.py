"""Where ids go: one array, in which few pages are touched in vain.

A small one grows to what is foreseen. A large one has address space for the most ids that there can
be: to move 350 MB took longer than to write them.
"""

from __future__ import annotations

import numpy as np

from numbatok.pages import lend, settle
from numbatok.tables import U8, U32

USUAL_BYTES = 3  # of text for an id, before any is known: most texts have 3 to 5
# Of what is foreseen. A bit less than needed at first: an array that is made larger goes where the
# one of the call before was, to pages that are there. One that is made smaller does not: the C
# library asks the system for all that is larger than whatever was freed. 1,000 pages take 1 ms.
FIRST, THEN = 0.94, 1.02


class Ids:
    """The ids of documents in order. `array` holds the first ones; the rest is room."""

    def __init__(self, n_bytes: int, bound: int, room: U32 | None = None) -> None:
        """Foresee at most `bound` ids of `n_bytes` bytes of text; or use `room` for so many."""
        self._n_bytes, self._bound = n_bytes, bound
        self._lent: U8 | None = lend(4 * bound) if room is None else None
        if self._lent is not None:
            room = self._lent.view(np.uint32)
        self._grows = room is None
        self.array: U32 = np.empty(0, np.uint32) if room is None else room

    def make_room(self, needed: int, n_known: int, n_bytes: int) -> None:
        """Have room for `needed` ids, where the first n_bytes bytes of text have n_known."""
        if needed <= self.array.size:
            return
        ratio = n_known / n_bytes if n_bytes else 1 / USUAL_BYTES
        foreseen = min(int(ratio * self._n_bytes), self._bound)
        if self.array.size:
            self.array.resize(max(needed, int(THEN * foreseen)), refcheck=False)
        else:
            self.array = np.empty(max(needed, int(FIRST * foreseen)), np.uint32)

    def append(self, ids: U32, n_known: int, n_bytes: int) -> None:
        """Put ids behind the n_known that there are, those of the first n_bytes bytes included."""
        self.make_room(n_known + ids.size, n_known + ids.size, n_bytes)
        self.array[n_known : n_known + ids.size] = ids

    def finish(self, n_ids: int) -> None:
        """Return the room that is left to the system; what was never touched is there already."""
        if self._grows:
            self.array.resize(n_ids, refcheck=False)
        elif self._lent is not None:
            settle(self._lent, 4 * n_ids)
