"""Threads of Python that run kernels side by side: kernels do not hold the interpreter's lock.

They start in 0.3 ms, where the threads of a compiled driver first need Numba: 0.35 s and 100 MB.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

_crews: dict[tuple[int, int], ThreadPoolExecutor | None] = {}  # by process and size


def crew_of(n: int) -> ThreadPoolExecutor | None:
    """Return n threads of this process that run already, or None if the system has no more.

    A child after a fork starts its own.
    """
    key = (os.getpid(), n)
    if key not in _crews:
        _crews[key] = _start(n)
    return _crews[key]


def _start(n: int) -> ThreadPoolExecutor | None:
    pool, all_there = ThreadPoolExecutor(n, "numbatok"), threading.Barrier(n + 1)
    try:
        for _ in range(n):
            pool.submit(all_there.wait)
        all_there.wait()
    except RuntimeError:  # no more threads, or the interpreter is about to end
        all_there.abort()
        pool.shutdown()
        return None
    return pool


def run_rows(
    pool: ThreadPoolExecutor, call: Callable[..., int], rows: list[list[int]]
) -> list[int]:
    """Call a kernel with each row, the first one here; return what each call returned.

    Comes back when all calls have, also after Ctrl-C: their memory is the caller's.
    """
    others: list[Future[int]] = []
    try:
        others += [pool.submit(call, *row) for row in rows[1:]]
        first = call(*rows[0])
    finally:
        _wait_for(others)
    return [first, *(other.result() for other in others)]


def _wait_for(futures: list[Future[int]]) -> None:
    interrupt: KeyboardInterrupt | None = None
    while any(not future.done() for future in futures):
        try:
            wait(futures)
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
