"""The one gate to all cores: decides serial or parallel, and makes parallel safe.

Parallel runs only if the work pays for it, no other thread of this process is in a parallel region
(the workqueue layer would abort the process), and this process neither was forked after a parallel
run (GNU OpenMP would end it) nor is a worker of a pool, whose siblings have the other cores. In
every other case the serial kernels do the work, with the same ids.

The threads are Python's until Numba is loaded anyway, or would be at no cost to speak of; then they
are those of a compiled driver.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numbatok.crew import crew_of, run_rows
from numbatok.cuts import can_cut, cut_kinds, cut_points
from numbatok.encoder import NO_LIMIT, Encoder, Job
from numbatok.native import address, compile_driver, function, interpreted, n_arguments
from numbatok.policy import Policy, Refusal
from numbatok.spec import AddedToken
from numbatok.tables import U8, U32
from numbatok.workers import Workers
from numbatok.workers import n_parts as n_parts_of

WORTH_BYTES = 1 << 19  # less is done by one thread in about a millisecond
LOAD_BYTES = 4 << 30  # Numba takes 0.35 to 0.9 s to load, a hundredth of the time for such a text

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
    return True


def _uses_driver() -> bool:
    """Tell whether the threads are those of the compiled driver."""
    return "numba" in sys.modules or _bytes_seen >= LOAD_BYTES


def _has_threads() -> bool:
    return _uses_driver() or crew_of(n_threads() - 1) is not None


def n_parts(n_bytes: int) -> int:
    """Return into how many parts work on so many bytes is cut: one where parallel does not pay."""
    return n_threads() if _pays(n_bytes) and is_allowed() else 1


def call_rows(name: str, rows: NDArray[np.int64]) -> list[int]:
    """Call an entry of up to nine int64 once per row of int64[n, 9], side by side where safe."""
    if len(rows) > 1 and is_allowed() and _entered.acquire(blocking=False):
        try:
            if _has_threads():
                return _run_rows(name, rows)
        finally:
            _entered.release()
    call, n = function(name), n_arguments(name)
    return [call(*row[:n]) for row in rows.tolist()]


def encode(
    encoder: Encoder,
    text: U8,
    ends: NDArray[np.int64],
    policy: Policy,
    tokens: tuple[AddedToken, ...] = (),
    counting: bool = False,
    on_progress: Callable[[int], None] | None = None,
    limit: int = NO_LIMIT,
    room: U32 | None = None,
    alone: bool = False,
) -> Job:
    """Encode documents on one core or on all; the result is the same.

    Document d is text[ends[d - 1] : ends[d]]. The job has ids (None when counting), n_ids and the
    offsets of the documents, or the added token that the call refuses. With a limit it stops
    soon after more ids are known. The ids are written to `room` if they surely fit. `alone` keeps
    to one core, for a caller whose other threads have the rest.
    """
    preparation = encoder.preparation
    altered = (text, ends) if preparation.is_idle() else preparation.altered(text, ends, policy)
    if altered is not None:
        job = _encode(
            encoder, *altered, policy, tokens, counting, on_progress, limit, None, room, alone
        )
        if job.refusal is None or altered[0] is text:
            return job
    prepared = preparation.prepare(text, ends, policy)
    if isinstance(prepared, Refusal):
        job = Job(text, ends)
        job.refuse(prepared)
        return job
    quiet = policy.without_search
    job = _encode(
        encoder, prepared.text, prepared.ends, quiet, (), counting, on_progress, limit,
        prepared.after, room, alone,
    )  # fmt: skip
    job.offsets = np.concatenate([job.offsets[:1], job.offsets[1:][prepared.closes]])
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
    room: U32 | None,
    alone: bool,
) -> Job:
    """Encode documents that are prepared, on one core or on all."""
    needed = text.size + (0 if after is None else len(after))
    if room is not None and room.size < needed:
        room = None
    pays = not alone and limit == NO_LIMIT and _pays(text.size)
    if pays and is_allowed() and _entered.acquire(blocking=False):
        try:
            if _has_threads():
                return _encode_parts(
                    encoder, text, ends, policy, tokens, counting, on_progress, after, room
                )
        finally:
            _entered.release()
    return encoder.run(
        text, ends, policy,
        counting=counting, limit=limit, on_progress=on_progress, after=after, room=room,
    )  # fmt: skip


def _encode_parts(
    encoder: Encoder,
    text: U8,
    ends: NDArray[np.int64],
    policy: Policy,
    tokens: tuple[AddedToken, ...],
    counting: bool,
    on_progress: Callable[[int], None] | None,
    after: NDArray[np.int64] | None,
    room: U32 | None,
) -> Job:
    """Cut the documents into parts and encode them with all threads."""
    cuts: list[int] = []
    kinds = cut_kinds(encoder.pattern, encoder.tables.automaton)
    if after is None and kinds and can_cut(tokens, policy.actions):
        cuts = cut_points(text, ends, n_parts_of(text.size, n_threads()), kinds)
    workers = Workers(encoder, text, ends, cuts, policy, counting, after, n_threads(), room)
    return workers.run(lambda rows: _run_rows("encode_parts", rows), on_progress)


def _run_rows(name: str, rows: NDArray[np.int64]) -> list[int]:
    """Call an entry once per row, side by side. Only for who holds the lock and has threads."""
    global _home
    if not _uses_driver() and (crew := crew_of(n_threads() - 1)) is not None:
        n = n_arguments(name)
        return run_rows(crew, function(name), [row[:n] for row in rows.tolist()])
    run_parts, results = _driver(), np.empty(len(rows), np.int64)
    if _home is None:
        _home = os.getpid()
        _start_threads(run_parts)
    run_parts(address(name), rows, results)
    return results.tolist()


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


def prepare() -> bool:
    """Compile the parallel driver and cache it; return whether that had to be done."""
    driver = _driver()
    missed = sum(driver.stats.cache_misses.values())
    driver.compile("void(int64, int64[:, ::1], int64[::1])")
    return bool(sum(driver.stats.cache_misses.values()) > missed)


def _driver() -> Any:
    from numbatok.kernels.parallel import run_parts

    return compile_driver(run_parts)
