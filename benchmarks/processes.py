"""Starting a worker process and reading its answer."""

import json
import os
import subprocess
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.libraries import Files, Peer
from benchmarks.places import CACHE, ROOT, without_places
from benchmarks.worker import MARK
from benchmarks.workloads import Settings

SECONDS = 600.0  # after which a worker is given up


class WorkerFailed(Exception):
    """A worker gave no answer; the message says how it ended."""


@dataclass(frozen=True)
class Job:
    """What one worker does, apart from the library that does it."""

    files: Files
    group: str  # of states
    text: str  # path
    other: str  # path of the text that is encoded before, in the state "after"
    settings: Settings
    special: str = "plain"


def environment(n_threads: int) -> dict[str, str]:
    """Return the environment variables of a process that may use n_threads."""
    threads = str(n_threads)
    return os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "NUMBA_NUM_THREADS": threads,
        "RAYON_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "TOKENIZERS_PARALLELISM": str(n_threads > 1).lower(),
        "QUICKTOK_DATA": str(CACHE / "quicktok"),
    }


def measure(
    python: str, peer: Peer, job: Job, plant: bool = False, seconds: float = SECONDS
) -> dict[str, Any]:
    """Run one job with one library in a fresh process; return the worker's answer.

    The process stays on as many cores as the settings allow threads.

    Raises:
        WorkerFailed: the worker ended without an answer, or took longer than `seconds`.
    """
    threads = job.settings.n_threads
    request = asdict(job) | {"module": peer.module, "cpus": cores(threads), "plant": plant}
    return ask(python, request, environment(threads), seconds)


def ask(
    python: str,
    request: dict[str, Any],
    variables: dict[str, str],
    seconds: float,
) -> dict[str, Any]:
    """Run a worker in a fresh process with the request on its standard input."""
    try:
        done = subprocess.run(
            [python, "-m", "benchmarks.worker"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env=variables,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as ended:
        raise WorkerFailed(f"no answer in {seconds:.0f} s") from ended
    for line in reversed(done.stdout.splitlines()):
        if line.startswith(MARK):
            answer: dict[str, Any] = json.loads(line[len(MARK) :])
            return answer
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    raise WorkerFailed(f"ended with status {done.returncode}: {without_places(last)[:200]}")


def cores(n: int) -> list[int]:
    """Return the numbers of n cores of this process, the last ones; all of them if fewer."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0))[-n:]
