"""Counter: blocks of text -> distinct pretokens with counts, on all cores, in bounded memory."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from numbatok import parallel
from numbatok.compile import build_tables
from numbatok.cuts import cut_kinds, cut_points
from numbatok.encoder import BUDGET, Job
from numbatok.errors import TrainingError
from numbatok.kernels.train_tables import COUNTS_FULL, MORE_TEXT
from numbatok.pattern import recognize
from numbatok.preparation import Preparation
from numbatok.scratch import ThreadState
from numbatok.spec import TokenizerSpec
from numbatok.tables import (
    AT_BYTE,
    DONE,
    FLOW_ROW,
    FLOW_WITHIN,
    I64,
    MARGIN,
    PAUSED,
    U8,
    WINDOW_SHORT,
)
from numbatok.training.blocks import BLOCK_BYTES, Block, documents
from numbatok.training.pretokens import Pretokens, make_pretokens
from numbatok.training.spill import Spill
from numbatok.training.table import CountTable

MAX_PRETOKEN = 1 << 30  # bytes; a longer one has no use, and positions have 32 bits
TABLE_SHARE = 0.4  # of memory_limit; writing a table to disk takes 1.5 times as much again


class Part:
    """Documents that one thread counts into a table of its own.

    text[0] is byte `base` of the source; with is_open the one document goes on after the text.
    """

    def __init__(self, text: U8, ends: I64, base: int, is_open: bool) -> None:
        self.job = Job(text, ends)
        self.job.is_open = is_open
        self.text, self.base, self.is_open = text, base, is_open
        self.done = len(ends) == 0
        self.rest = text[:0]  # what is not counted yet of an open document
        self.flow = (0, 0)  # how the scan of the rest will start: FLOW_ROW and FLOW_WITHIN

    def arguments(self, state: ThreadState, table: CountTable) -> tuple[int, ...]:
        """Return the arguments of the kernel."""
        return (
            state.address, table.address, self.text.ctypes.data, self.text.size,
            self.job.ends.ctypes.data, len(self.job.ends), self.base, int(self.is_open), BUDGET,
        )  # fmt: skip

    def stop(self, state: ThreadState) -> None:
        """Leave the rest of the open document for later."""
        self.rest, self.done = self.text[int(state.control[AT_BYTE]) :], True
        self.flow = (int(state.flow[FLOW_ROW]), int(state.flow[FLOW_WITHIN]))

    def count_giant(self, state: ThreadState, table: CountTable) -> None:
        """Count the pretoken at AT_BYTE, which is longer than a window, if its end is known."""
        flow = state.flow[[FLOW_ROW, FLOW_WITHIN]]
        start, end = int(state.control[AT_BYTE]), self.job.giant_end(state)
        if end - start > MAX_PRETOKEN:
            raise TrainingError(
                f"a pretoken at byte {self.base + start:,} of the source has {end - start:,} "
                f"bytes, more than {MAX_PRETOKEN:,}; use a pattern that cuts it, or leave it out"
            )
        if self.is_open and end + MARGIN > self.text.size:
            state.flow[[FLOW_ROW, FLOW_WITHIN]] = flow
            self.stop(state)
            return
        if state.dropped_giant():
            state.control[AT_BYTE] = end
            return
        word = self.text[start:end].tobytes()
        table.add(make_pretokens([word], [1], [self.base + start]))
        state.control[AT_BYTE] = end


class Counter:
    """Counts the pretokens of blocks. Not safe for two threads at once.

    Errors: TrainingError when the disk for spilled counts is full.
    """

    def __init__(
        self,
        spec: TokenizerSpec,
        memory_limit: int | None = None,
        directory: str | Path | None = None,
    ) -> None:
        pattern = recognize(spec)
        self._pattern = pattern
        self._scan_tables = build_tables(spec)
        self._preparation = Preparation(spec, self._scan_tables)
        self._is_direct = self._preparation.is_idle()
        self._n_prepared = 0  # bytes after normalization
        self._states: list[ThreadState] = []
        self._room = None if memory_limit is None else int(memory_limit * TABLE_SHARE)
        self._tables = [CountTable()]
        self._spill = Spill(directory)
        self._held: list[U8] = []  # of an open document, not yet counted
        self._flow = (0, 0)  # how the scan of that will start
        self._position = 0  # of the first byte that is not yet counted or held, in the source
        self.n_documents = 0
        self.is_sorted = False

    @property
    def n_distinct(self) -> int:
        """The number of distinct pretokens, up to repetitions between threads and spilled runs."""
        return sum(table.n_distinct for table in self._tables) + self._spill.n_pretokens

    @property
    def n_bytes(self) -> int:
        """The number of bytes taken in."""
        return self._position

    @property
    def nbytes(self) -> int:
        """The memory of the tables."""
        return sum(table.nbytes for table in self._tables)

    def add(self, block: Block) -> None:
        """Count a block; of an open document all but its last few bytes."""
        ends, start = block.ends, 0
        self.n_documents += len(ends) - block.is_open
        if self._held and len(ends):
            start = int(ends[0])
            self._go_on(block.text[:start], block.is_open and len(ends) == 1)
            ends = ends[1:]
        stop = int(ends[-2]) if block.is_open and len(ends) > 1 else start
        if not block.is_open:
            stop = block.text.size
        closed = ends[: len(ends) - block.is_open]
        if len(closed):
            self._count(block.text[start:stop], closed - start, self._position, False)
            self._position += stop - start
        if block.is_open and len(ends):
            self._go_on(block.text[stop:], True)

    def _go_on(self, text: U8, is_open: bool) -> None:
        """Count more of the open document, or its end.

        A pretoken that fills a block is looked at again only when the text has doubled; a document
        that is normalized first is held until it is whole.
        """
        self._held.append(text)
        self._position += text.size
        size = sum(map(len, self._held))
        if is_open and (
            (size > BLOCK_BYTES and 2 * self._held[0].size > size) or not self._is_direct
        ):
            return
        whole = self._held[0] if len(self._held) == 1 else np.concatenate(self._held)
        rest = self._count(whole, np.array([size], np.int64), self._position - size, is_open)
        self._held = [rest.copy()] if is_open else []

    def _count(self, text: U8, ends: I64, base: int, is_open: bool) -> U8:
        """Count documents on one core or on all; return the rest of an open one."""
        if not self._is_direct:
            text, ends, base = self._prepared(text, ends)
        parts = self._cut(text, ends, base, is_open)
        while len(self._tables) < len(parts):
            self._tables.append(CountTable())
        while len(self._states) < len(parts):
            self._states.append(ThreadState(self._scan_tables, self._pattern))
        for part, state in zip(parts, self._states, strict=False):
            part.job.start(state)
        self._states[0].flow[[FLOW_ROW, FLOW_WITHIN]] = self._flow
        self._run(parts)
        self._flow = parts[-1].flow
        return parts[-1].rest

    def _prepared(self, text: U8, ends: I64) -> tuple[U8, I64, int]:
        """Return documents as the scan sees them, and how many bytes of such came before."""
        starts = [0, *ends[:-1].tolist()]
        rows = [
            piece
            for start, end in zip(starts, ends.tolist(), strict=True)
            for piece in self._preparation.alter(text[start:end].tobytes())
        ]
        block, base = documents(rows), self._n_prepared
        self._n_prepared += block.text.size
        return block.text, block.ends, base

    def _cut(self, text: U8, ends: I64, base: int, is_open: bool) -> list[Part]:
        n_parts = parallel.n_parts(text.size)
        kinds = cut_kinds(self._pattern, self._scan_tables.automaton) if n_parts > 1 else 0
        cuts = cut_points(text, ends, n_parts, kinds) if kinds else []
        pieces = np.sort(np.concatenate([ends, np.array(cuts, np.int64)])) if cuts else ends
        targets = [text.size * p // n_parts for p in range(1, n_parts)]
        bounds = np.unique([0, *np.searchsorted(pieces, targets).tolist(), len(pieces)]).tolist()
        if is_open and len(pieces) > 1 and bounds[-2] != len(pieces) - 1:
            bounds.insert(-1, len(pieces) - 1)  # the open document is a part of its own
        parts = []
        for first, last in pairwise(bounds):
            start = int(pieces[first - 1]) if first else 0
            chosen = pieces[first:last] - start
            is_last = is_open and last == len(pieces)
            parts.append(Part(text[start : int(pieces[last - 1])], chosen, base + start, is_last))
        return parts

    def _run(self, parts: list[Part]) -> None:
        """Advance all parts until they are done, about BUDGET bytes at a time."""
        while running := [k for k, part in enumerate(parts) if not part.done]:
            rows = np.array(
                [parts[k].arguments(self._states[k], self._tables[k]) for k in running], np.int64
            )
            for k, why in zip(running, parallel.call_rows("count_documents", rows), strict=True):
                self._settle(why, parts[k], self._states[k], self._tables[k])

    def _settle(self, why: int, part: Part, state: ThreadState, table: CountTable) -> None:
        """Act on why the kernel came back."""
        if why == DONE:
            part.done = True
        elif why == MORE_TEXT:
            part.stop(state)
        elif why == COUNTS_FULL:
            self._make_room(table)
        elif why == WINDOW_SHORT:
            part.count_giant(state, table)
        elif why != PAUSED:
            raise RuntimeError(f"a kernel failed with status {why}; please report this source")

    def _make_room(self, table: CountTable) -> None:
        """Grow a table, or past the limit write it to disk."""
        if self._room is not None:
            others = self.nbytes - table.nbytes
            if others + table.nbytes_to_grow > self._room:
                self._spill.write(table.export())
                table.clear()
                return
        table.grow()

    def finish(self) -> Pretokens:
        """Return the counts of all that was added; an open document ends here.

        `is_sorted` tells whether they are, as counts that were spilled; else they have no order.
        """
        if self._held:
            self._go_on(np.zeros(0, np.uint8), False)
        first, *others = sorted(self._tables, key=lambda table: -table.n_distinct)
        if self._spill.n_pretokens == 0 and self._fits_together():
            for table in others:
                first.merge(table)
            return first.export()
        for table in self._tables:
            self._spill.write(table.export())
        self._tables, self.is_sorted = [], True
        return self._spill.merge()

    def _fits_together(self) -> bool:
        return self._room is None or len(self._tables) == 1 or 2 * self.nbytes <= self._room
