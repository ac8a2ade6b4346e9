"""The one gate to all cores: decides serial or parallel, and makes parallel safe.

Parallel runs only if the work pays for it, no other thread of this process is in a parallel region
(the workqueue layer would abort the process), and this process neither was forked after a parallel
run (GNU OpenMP would end it) nor is a worker of a pool, whose siblings have the other cores. In
every other case the serial kernels do the work, with the same ids.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numbatok.cuts import can_cut, cut_kinds, cut_points
from numbatok.encoder import NO_LIMIT, Encoder, Job
from numbatok.native import address, compile_driver, function, interpreted
from numbatok.policy import Policy, Refusal
from numbatok.spec import AddedToken
from numbatok.tables import BREAK_DOCUMENT, U8, U32

WORTH_BYTES = 1 << 19  # less is done by one thread in about a millisecond
LOAD_BYTES = 64 << 20  # Numba takes 0.9 s to load: worth it after as much text as that
PARTS_PER_THREAD = 1  # a state more is a memo more to fill
PART_BYTES = 4 << 20  # 66 MB on two cores: 0.10 s; parts of 1 MB took 0.15 s, one core 0.14 s
FIRST_IDS = 1 << 30  # ids that are foreseen at first; memory is taken when they are written

_entered = threading.Lock()
_bytes_seen = 0
_home: int | None = None  # the process that ran in parallel first


def n_threads() -> int:
    """Return how many threads a parallel run uses: NUMBA_NUM_THREADS, else the cores at hand."""
    chosen = os.environ.get("NUMBA_NUM_THREADS", "")
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_allowed() -> bool:
    """Tell whether this process may run in parallel at all."""
    if interpreted() or n_threads() < 2 or multiprocessing.parent_process() is not None:
        return False
    return _home is None or _home == os.getpid()


def _pays(n_bytes: int) -> bool:
    global _bytes_seen
    if n_bytes < WORTH_BYTES:
        return False
    _bytes_seen += n_bytes
    return "numba" in sys.modules or _bytes_seen >= LOAD_BYTES


def n_parts(n_bytes: int) -> int:
    """Return into how many parts work on so many bytes is cut: one where parallel does not pay."""
    return n_threads() if _pays(n_bytes) and is_allowed() else 1


def call_rows(name: str, rows: NDArray[np.int64]) -> list[int]:
    """Call an entry of nine int64 once per row of int64[n, 9], side by side where that is safe."""
    global _home
    if len(rows) < 2 or not is_allowed() or not _entered.acquire(blocking=False):
        call = function(name)
        return [call(*row) for row in rows.tolist()]
    try:
        run_parts, results = _driver(), np.empty(len(rows), np.int64)
        _home = os.getpid()
        run_parts(address(name), rows, results)
        return results.tolist()
    finally:
        _entered.release()


def encode(
    encoder: Encoder,
    text: U8,
    ends: NDArray[np.int64],
    policy: Policy,
    tokens: tuple[AddedToken, ...] = (),
    counting: bool = False,
    on_progress: Callable[[int], None] | None = None,
    limit: int = NO_LIMIT,
) -> Job:
    """Encode documents on one core or on all; the result is the same.

    Document d is text[ends[d - 1] : ends[d]]. The job has ids (None when counting), n_ids and the
    offsets of the documents, or the added token that the call refuses. With a limit it stops
    soon after more ids are known.
    """
    if encoder.preparation.is_idle() or encoder.preparation.is_direct(text):
        return _encode(encoder, text, ends, policy, tokens, counting, on_progress, limit, None)
    prepared = encoder.preparation.prepare(text, ends, policy)
    if isinstance(prepared, Refusal):
        job = Job(text, ends, None)
        job.refuse(prepared)
        return job
    quiet, after = policy.without_search(), prepared.after
    job = _encode(
        encoder, prepared.text, prepared.ends, quiet, (), counting, on_progress, limit, after
    )
    job.offsets = np.concatenate([job.offsets[:1], job.offsets[1:][after == BREAK_DOCUMENT]])
    return job


def _encode(
    encoder: Encoder,
    text: U8,
    ends: NDArray[np.int64],
    policy: Policy,
    tokens: tuple[AddedToken, ...],
    counting: bool,
    on_progress: Callable[[int], None] | None,
    limit: int,
    after: NDArray[np.int64] | None,
) -> Job:
    """Encode documents that are prepared, on one core or on all."""
    if limit == NO_LIMIT and _pays(text.size) and is_allowed() and _entered.acquire(blocking=False):
        try:
            return _encode_parts(encoder, text, ends, policy, tokens, counting, on_progress, after)
        finally:
            _entered.release()
    n_after = 0 if after is None else len(after)
    ids = None if counting else np.empty(text.size + n_after + 4, np.uint32)
    return encoder.run(text, ends, ids, policy, limit, on_progress, after)


def _encode_parts(
    encoder: Encoder,
    text: U8,
    ends: NDArray[np.int64],
    policy: Policy,
    tokens: tuple[AddedToken, ...],
    counting: bool,
    on_progress: Callable[[int], None] | None,
    after: NDArray[np.int64] | None,
) -> Job:
    """Cut the documents into parts, encode some side by side at a time, and join the results."""
    together = PARTS_PER_THREAD * n_threads()
    n_parts = max(together, text.size // PART_BYTES)
    cuts: list[int] = []
    kinds = cut_kinds(encoder.pattern, encoder.tables.automaton)
    if after is None and kinds and can_cut(tokens, policy.actions):
        cuts = cut_points(text, ends, n_parts, kinds)
    whole = _Whole(text, ends, cuts, counting, after)
    bounds = np.searchsorted(whole.pieces, [text.size * p // n_parts for p in range(1, n_parts)])
    spans = list(pairwise(np.unique([0, *bounds.tolist(), len(whole.pieces)]).tolist()))
    for at in range(0, len(spans), together):
        jobs = whole.parts(spans[at : at + together])
        _run(encoder, jobs, policy, whole.progress(on_progress))
        if not all(whole.take(job) for job in jobs):
            break
    return whole.job()


def _run(
    encoder: Encoder, jobs: list[Job], policy: Policy, on_progress: Callable[[int], None] | None
) -> None:
    """Advance all jobs together until all are done, or one is refused and those before it done."""
    global _home
    run_parts = _driver()
    if _home is None:
        _home = os.getpid()
        _start_threads(run_parts)
    states = [encoder.take_state(policy) for _ in jobs]
    try:
        for job, state in zip(jobs, states, strict=True):
            job.start(state)
        encode_documents = address("encode_documents")
        while running := _unfinished(jobs):
            arguments = np.array([jobs[k].arguments(states[k]) for k in running], np.int64)
            results = np.empty(len(running), np.int64)
            run_parts(encode_documents, arguments, results)
            for k, why in zip(running, results.tolist(), strict=True):
                jobs[k].settle(why, states[k])
            if on_progress is not None:
                on_progress(
                    sum(job.position(state) for job, state in zip(jobs, states, strict=True))
                )
    finally:
        for state in states:
            encoder.give_state(state)


def _start_threads(run_parts: Any) -> None:
    """Start the threads so that they sleep between parts, unless the user chose how they wait.

    By default GNU OpenMP's spin for milliseconds, which takes the cores from whoever reads and
    writes files meanwhile: a third of all CPU time. It looks at the variable once, when it loads.
    """
    chosen = "OMP_WAIT_POLICY" in os.environ or "GOMP_SPINCOUNT" in os.environ
    if not chosen:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        run_parts(0, np.zeros((0, 9), np.int64), np.zeros(0, np.int64))
    finally:
        if not chosen:
            os.environ.pop("OMP_WAIT_POLICY", None)


def _unfinished(jobs: list[Job]) -> list[int]:
    """Return which jobs still have to run: none that comes after a refused one."""
    refused = [k for k, job in enumerate(jobs) if job.refusal is not None]
    needed = jobs[: refused[0]] if refused else jobs
    return [k for k, job in enumerate(needed) if not job.done]


def prepare() -> bool:
    """Compile the parallel driver and cache it; return whether that had to be done."""
    driver = _driver()
    missed = sum(driver.stats.cache_misses.values())
    driver.compile("void(int64, int64[:, ::1], int64[::1])")
    return bool(sum(driver.stats.cache_misses.values()) > missed)


def _driver() -> Any:
    from numbatok.kernels.parallel import run_parts

    return compile_driver(run_parts)


class _Whole:
    """The documents cut into pieces, and the results of the parts, which come in order.

    The ids of a part are written to work space that the next parts use again, and moved from there
    to the result while they are in the cache: writing them far apart and moving them at the end
    took 1.5 times as long for 200 MB.
    """

    def __init__(
        self,
        text: U8,
        ends: NDArray[np.int64],
        cuts: list[int],
        counting: bool,
        after: NDArray[np.int64] | None,
    ) -> None:
        self._text, self._ends, self._counting, self._after = text, ends, counting, after
        at = np.searchsorted(ends, cuts)
        self.pieces = np.insert(ends, at, cuts) if cuts else ends
        self._cuts = at + np.arange(len(cuts))  # which pieces end at a cut
        self._offsets = np.zeros(len(self.pieces) + 1, np.int64)
        self._bound = text.size + 4 + (0 if after is None else len(after))  # of the ids
        self._ids = np.empty(0 if counting else min(self._bound, FIRST_IDS), np.uint32)
        self._work = np.empty(0, np.uint32)
        self._n_ids = self._n_pieces = self._n_bytes = 0
        self._refusal: Refusal | None = None

    def parts(self, spans: list[tuple[int, int]]) -> list[Job]:
        """Return the jobs of pieces first ... last - 1 of each span."""
        starts = [int(self.pieces[first - 1]) if first else 0 for first, _ in spans]
        stops = [int(self.pieces[last - 1]) for _, last in spans]
        extra = [4 + (0 if self._after is None else last - first) for first, last in spans]
        needed = stops[-1] - starts[0] + sum(extra)
        if not self._counting and self._work.size < needed:
            self._work = np.empty(needed, np.uint32)
        jobs, at = [], 0
        for (first, last), start, stop, more in zip(spans, starts, stops, extra, strict=True):
            room = stop - start + more
            place = None if self._counting else self._place(at, room)
            after = None if self._after is None else self._after[first:last]
            ends = self.pieces[first:last] - start
            jobs.append(Job(self._text[start:stop], ends, place, after=after))
            at += room
        return jobs

    def _place(self, at: int, room: int) -> U32:
        """Return where the ids of a part go: those of the next one to their place at once."""
        if at > 0:
            return self._work[at : at + room]
        self._make_room(self._n_ids + room)
        return self._ids[self._n_ids : self._n_ids + room]

    def progress(self, on_progress: Callable[[int], None] | None) -> Callable[[int], None] | None:
        """Return what reports the bytes done from the first part on, or None."""
        if on_progress is None:
            return None
        done = self._n_bytes
        return lambda n_bytes: on_progress(done + n_bytes)

    def take(self, job: Job) -> bool:
        """Append the result of the next part; return False if it was refused."""
        if job.refusal is not None:
            self._refusal = self._in_whole(job.refusal)
            return False
        first, last = self._n_pieces, self._n_pieces + len(job.ends)
        self._offsets[first + 1 : last + 1] = job.offsets[1:] + self._n_ids
        stop = self._n_ids + job.n_ids
        if job.ids is not None and not np.may_share_memory(job.ids, self._ids):
            self._make_room(stop)
            self._ids[self._n_ids : stop] = job.ids[: job.n_ids]
        self._n_ids, self._n_pieces = stop, last
        self._n_bytes += job.size
        return True

    def _make_room(self, needed: int) -> None:
        """Have room for `needed` ids, and for all there will be if the text goes on as it was."""
        if needed > self._ids.size:
            foreseen = int(1.1 * needed * self._text.size / max(self._n_bytes, 1))
            self._ids.resize(min(max(needed, foreseen), self._bound), refcheck=False)

    def job(self) -> Job:
        """Return one job that has the results of all parts."""
        ids = None if self._counting else self._ids
        if ids is not None:
            ids.resize(self._n_ids, refcheck=False)
        whole = Job(self._text, self._ends, ids)
        whole.done, whole.n_ids, whole.refusal = True, self._n_ids, self._refusal
        whole.offsets = np.delete(self._offsets, self._cuts + 1)
        return whole

    def _in_whole(self, refusal: Refusal) -> Refusal:
        """Return a refusal with its document's number among all, and its place there."""
        piece = self._n_pieces + refusal.document
        document = piece - int(np.searchsorted(self._cuts, piece))
        start = int(self._ends[document - 1]) if document else 0
        piece_start = int(self.pieces[piece - 1]) if piece else 0
        return refusal.moved(document, piece_start - start)
