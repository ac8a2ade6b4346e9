"""Documents in parts on several threads: what each is told, and what it gets when it comes back.

See kernels/parts.py for what the threads do.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from numbatok.encoder import Encoder, Job
from numbatok.native import address
from numbatok.policy import Policy, Refusal
from numbatok.scratch import PART_BYTES
from numbatok.tables import (
    AT_ID,
    DONE,
    I64,
    N_TICKETS,
    N_WORKER,
    NO_ROOM,
    REFUSED,
    TICKET_IDS,
    TICKET_PLACED,
    TICKET_STOP,
    U8,
    U32,
    WORKER_AFTER_FROM,
    WORKER_ASIDE,
    WORKER_ASIDE_WORK,
    WORKER_BUDGET,
    WORKER_CAPACITY,
    WORKER_ENCODE,
    WORKER_ENDS,
    WORKER_IDS,
    WORKER_N_DOCUMENTS,
    WORKER_N_PARTS,
    WORKER_NEEDED,
    WORKER_OFFSETS,
    WORKER_PART,
    WORKER_PARTS,
    WORKER_ROOM,
    WORKER_SIZE,
    WORKER_STATE,
    WORKER_TEXT,
    WORKER_TICKETS,
    WORKER_WORK,
    WORKER_YIELD,
)

PARTS_PER_WORKER = 4  # at least, so that one that is late does not hold up the others
BUDGET = 32 << 20  # bytes between two chances to stop: 30 ms with two cores, 0.4 s at the slowest

RunRows = Callable[[NDArray[np.int64]], list[int]]


class Workers:
    """Threads that encode documents into one result; as Job, of which it gives one."""

    def __init__(
        self,
        encoder: Encoder,
        text: U8,
        ends: NDArray[np.int64],
        cuts: list[int],
        policy: Policy,
        counting: bool,
        after: NDArray[np.int64] | None,
        n_workers: int,
        room: U32 | None = None,
    ) -> None:
        self._encoder, self._text, self._ends = encoder, text, ends
        at = np.searchsorted(ends, cuts)
        pieces = np.insert(ends, at, cuts) if cuts else ends
        self._cuts = at + np.arange(len(cuts))  # which pieces end at a cut
        self._job = Job(text, pieces, counting, after=after, room=room)
        if self._job.result is not None:
            self._job.result.make_room(1, 0, 0)
        self._parts = _bounds(pieces, text.size, n_workers)
        self._tickets: I64 = np.zeros(N_TICKETS + 8, np.int64)
        self._n_parts = len(self._parts) - 1
        largest = self._largest_part(after)
        self._states = [encoder.take_state(policy) for _ in range(n_workers)]
        for state in self._states:
            state.expect(text, text.size // n_workers)
        self._work = np.empty((n_workers, 2, 0 if counting else largest), np.uint32)
        self._frames = np.zeros((n_workers, N_WORKER), np.int64)
        for frame, work in zip(self._frames, self._work, strict=True):
            self._fill(frame, *work)

    def run(self, run_rows: RunRows, on_progress: Callable[[int], None] | None) -> Job:
        """Encode everything; `run_rows` runs the threads, given a row of int64[9] for each."""
        waiting = list(range(len(self._states)))
        while waiting:
            self._tickets[TICKET_STOP] = 0
            for k in waiting:
                self._tell(k)
            rows = np.zeros((len(waiting), 9), np.int64)
            rows[:, 0] = [self._frames[k].ctypes.data for k in waiting]
            results = run_rows(rows)
            for k, why in zip(waiting, results, strict=True):
                self._settle(k, why)
            waiting = [k for k, why in zip(waiting, results, strict=True) if why != DONE]
            if on_progress is not None:
                on_progress(self._position())
        for state in self._states:
            self._encoder.give_state(state)
        return self._whole()

    def _largest_part(self, after: NDArray[np.int64] | None) -> int:
        """Return how many ids a part has at most, with the four that may be overwritten."""
        starts = np.append(0, self._job.ends)[self._parts]
        n_after = np.diff(self._parts) if after is not None else 0
        return int((np.diff(starts) + n_after).max()) + 4

    def _fill(self, frame: I64, work: U32, other: U32) -> None:
        job = self._job
        values = {
            WORKER_TEXT: self._text.ctypes.data,
            WORKER_SIZE: self._text.size,
            WORKER_ENDS: job.documents.ctypes.data,
            WORKER_N_DOCUMENTS: len(job.ends),
            WORKER_AFTER_FROM: job.after_from,
            WORKER_PARTS: self._parts.ctypes.data,
            WORKER_OFFSETS: job.offsets.ctypes.data,
            WORKER_WORK: work.ctypes.data if work.size else 0,
            WORKER_ASIDE_WORK: other.ctypes.data if other.size else 0,
            WORKER_CAPACITY: work.size,
            WORKER_TICKETS: self._tickets.ctypes.data,
            WORKER_YIELD: _yield_address(),
            WORKER_BUDGET: BUDGET,
            WORKER_PART: -1,
            WORKER_ASIDE: -1,
            WORKER_ENCODE: address("encode_documents"),
        }
        frame[list(values)] = list(values.values())

    def _tell(self, k: int) -> None:
        """Write down what may have changed since the thread ran."""
        frame, result = self._frames[k], self._job.result
        frame[WORKER_STATE], frame[WORKER_N_PARTS] = self._states[k].address, self._n_parts
        if result is not None:
            frame[WORKER_IDS], frame[WORKER_ROOM] = result.array.ctypes.data, result.array.size

    def _settle(self, k: int, why: int) -> None:
        """Act on why a thread came back."""
        state = self._states[k]
        if why == NO_ROOM:
            assert self._job.result is not None
            needed = int(self._frames[k][WORKER_NEEDED])
            self._job.result.make_room(needed, int(self._tickets[TICKET_IDS]), self._position())
        elif why == REFUSED:
            self._n_parts = min(self._n_parts, int(self._frames[k][WORKER_PART]))
            found, known = self._job.refusal_at(state), self._job.refusal
            if known is None or found.document < known.document:
                self._job.refuse(found)
        elif why != DONE:
            work = int(self._frames[k][WORKER_WORK])
            at = 4 * int(state.control[AT_ID]) if work else 0
            self._job.provide(why, state, lambda _: work + at)

    def _position(self) -> int:
        """Return how many bytes are encoded and placed."""
        n_pieces = int(self._parts[self._tickets[TICKET_PLACED]])
        return int(self._job.ends[n_pieces - 1]) if n_pieces else 0

    def _whole(self) -> Job:
        """Return the job of the documents as they came."""
        job, n_ids = self._job, int(self._tickets[TICKET_IDS])
        if job.result is not None:
            job.result.finish(n_ids)
        whole = Job(self._text, self._ends)
        whole.done, whole.n_ids, whole.result = True, n_ids, job.result
        whole.offsets = np.delete(job.offsets, self._cuts + 1)
        if job.refusal is not None:
            whole.refuse(self._in_whole(job.refusal))
        return whole

    def _in_whole(self, refusal: Refusal) -> Refusal:
        """Return a refusal with its document's number among all, and its place there."""
        piece = refusal.document
        document = piece - int(np.searchsorted(self._cuts, piece))
        start = int(self._ends[document - 1]) if document else 0
        piece_start = int(self._job.ends[piece - 1]) if piece else 0
        return Refusal(refusal.token, document, refusal.position + piece_start - start)


def n_parts(n_bytes: int, n_workers: int) -> int:
    """Return into how many parts a text is cut."""
    return max(PARTS_PER_WORKER * n_workers, n_bytes // PART_BYTES)


def _bounds(pieces: NDArray[np.int64], size: int, n_workers: int) -> I64:
    """Return the first piece of each part, and how many pieces there are."""
    n = n_parts(size, n_workers)
    targets = size * np.arange(1, n, dtype=np.int64) // n
    return np.unique(np.concatenate([[0], np.searchsorted(pieces, targets), [len(pieces)]]))


@cache
def _yield_address() -> int:
    """Return the address of what gives a core to another thread for a moment, or 0."""
    try:
        if sys.platform == "win32":
            function = ctypes.windll.kernel32.SwitchToThread
        else:
            function = ctypes.CDLL(None).sched_yield
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    except (OSError, AttributeError):
        return 0
