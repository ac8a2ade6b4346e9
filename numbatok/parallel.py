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

from numbatok.cuts import can_cut, cut_points
from numbatok.encoder import NO_LIMIT, Encoder, Job, Policy, Refusal
from numbatok.native import address, compile_driver, interpreted
from numbatok.spec import AddedToken
from numbatok.tables import U8

WORTH_BYTES = 1 << 19  # less is done by one thread in about a millisecond
LOAD_BYTES = 64 << 20  # Numba takes 0.9 s to load: worth it after as much text as that
PARTS_PER_THREAD = 2  # parts are of equal size, not of equal work

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


def encode(
    encoder: Encoder,
    text: U8,
    ends: NDArray[np.int64],
    policy: Policy,
    tokens: tuple[AddedToken, ...] = (),
    counting: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Job:
    """Encode documents on one core or on all; the result is the same. See Encoder.run."""
    if _pays(text.size) and is_allowed() and _entered.acquire(blocking=False):
        try:
            return _encode_parts(encoder, text, ends, policy, tokens, counting, on_progress)
        finally:
            _entered.release()
    ids = None if counting else np.empty(text.size + 4, np.uint32)
    return encoder.run(text, ends, ids, policy, NO_LIMIT, on_progress)


def _encode_parts(
    encoder: Encoder,
    text: U8,
    ends: NDArray[np.int64],
    policy: Policy,
    tokens: tuple[AddedToken, ...],
    counting: bool,
    on_progress: Callable[[int], None] | None,
) -> Job:
    """Cut the documents into parts, encode those side by side, and put the results together."""
    n_parts = PARTS_PER_THREAD * n_threads()
    cuts = cut_points(text, ends, n_parts) if can_cut(tokens, policy.actions) else []
    pieces = np.sort(np.concatenate([ends, np.array(cuts, np.int64)])) if cuts else ends
    bounds = np.searchsorted(pieces, [text.size * p // n_parts for p in range(1, n_parts)])
    bounds = np.unique(np.concatenate([[0], bounds, [len(pieces)]]))
    ids = None if counting else np.empty(text.size + 4 * len(bounds), np.uint32)
    jobs = []
    for number, (first, last) in enumerate(pairwise(bounds.tolist())):
        start, end = int(pieces[first - 1]) if first else 0, int(pieces[last - 1])
        place = None if ids is None else ids[start + 4 * number : end + 4 * number + 4]
        jobs.append(Job(text[start:end], pieces[first:last] - start, place, NO_LIMIT))
    _run(encoder, jobs, policy, on_progress)
    return _joined(jobs, text, ends, pieces, ids)


def _run(
    encoder: Encoder, jobs: list[Job], policy: Policy, on_progress: Callable[[int], None] | None
) -> None:
    """Advance all jobs together until every one is done or one is refused."""
    global _home
    run_parts = _driver()
    _home = os.getpid()
    states = [encoder.take_state(policy) for _ in jobs]
    try:
        for job, state in zip(jobs, states, strict=True):
            job.start(state)
        encode_documents = address("encode_documents")
        while running := [k for k, job in enumerate(jobs) if not job.done]:
            arguments = np.array([jobs[k].arguments(states[k]) for k in running], np.int64)
            results = np.empty(len(running), np.int64)
            run_parts(encode_documents, arguments, results)
            for k, why in zip(running, results.tolist(), strict=True):
                jobs[k].settle(why, states[k])
            if any(job.refusal is not None for job in jobs):
                return
            if on_progress is not None:
                on_progress(
                    sum(job.position(state) for job, state in zip(jobs, states, strict=True))
                )
    finally:
        for state in states:
            encoder.give_state(state)


def _driver() -> Any:
    from numbatok.kernels.parallel import run_parts

    return compile_driver(run_parts)


def _joined(
    jobs: list[Job],
    text: U8,
    ends: NDArray[np.int64],
    pieces: NDArray[np.int64],
    ids: Any,
) -> Job:
    """Return one job that has the results of all parts, in order."""
    whole = Job(text, ends, ids, NO_LIMIT)
    whole.done = True
    offsets, n_ids, first = np.zeros(len(pieces) + 1, np.int64), 0, 0
    for job in jobs:
        if job.refusal is not None:
            whole.refusal = _in_whole(job.refusal, first, ends, pieces)
            return whole
        count = len(job.ends)
        offsets[first + 1 : first + count + 1] = job.offsets[1:] + n_ids
        if ids is not None and job.ids is not None:
            ids[n_ids : n_ids + job.n_ids] = job.ids[: job.n_ids]
        n_ids, first = n_ids + job.n_ids, first + count
    whole.n_ids = n_ids
    whole.offsets = np.concatenate([offsets[:1], offsets[1:][np.isin(pieces, ends)]])
    return whole


def _in_whole(
    refusal: Refusal, first: int, ends: NDArray[np.int64], pieces: NDArray[np.int64]
) -> Refusal:
    """Return a refusal with its document's number among all, and its place there."""
    piece = first + refusal.document
    n_cuts = int((~np.isin(pieces[:piece], ends)).sum())  # pieces that end at a cut
    document = piece - n_cuts
    start = int(ends[document - 1]) if document else 0
    piece_start = int(pieces[piece - 1]) if piece else 0
    return refusal.moved(document, piece_start - start)
