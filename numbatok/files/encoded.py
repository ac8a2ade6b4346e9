"""The ids of a block, and what is put around its documents."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from numbatok.batch import insert_around
from numbatok.files.blocks import Block
from numbatok.files.manifest import Totals
from numbatok.files.settings import Settings
from numbatok.tables import U32

NONE = np.zeros(0, np.uint32)


@dataclass(frozen=True)
class Encoded:
    """The ids of a block; row i has ids[offsets[i] : offsets[i + 1]]."""

    block: Block
    ids: U32
    offsets: NDArray[np.int64]

    @property
    def n_ended(self) -> int:
        """How many rows end in the block."""
        return len(self.block.ends) - self.block.continues

    def totals(self) -> Totals:
        """Return what the block amounts to."""
        valid = self.block.valid
        nulls = 0 if valid is None else int(valid.size - valid.sum())
        return Totals(self.n_ended, nulls, self.block.text.size)

    def surrounded(self, before: U32, after: U32) -> Encoded:
        """Return ids with `before` where a row begins and `after` where it ends; null rows not."""
        ids, offsets = self.ids, self.offsets
        block = self.block
        valid = np.ones(len(block.ends), bool) if block.valid is None else block.valid
        if before.size:
            begins = valid.copy()
            begins[:1] &= not block.opens
            ids, offsets = insert_around(ids, offsets, before, NONE, begins)
        if after.size:
            ends = valid.copy()
            ends[-1:] &= not block.continues
            ids, offsets = insert_around(ids, offsets, NONE, after, ends)
        return replace(self, ids=ids, offsets=offsets)

    def with_eos(self, settings: Settings) -> Encoded:
        """Return ids with the end-of-text id after each document, or before it."""
        if settings.eos is None:
            return self
        eos = np.array([settings.eos], np.uint32)
        return self.surrounded(eos, NONE) if settings.eos_first else self.surrounded(NONE, eos)
