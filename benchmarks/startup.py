"""`python -m benchmarks.startup`: a fresh process, from its start to its first ids and its end.

States: `cached`, whatever a library keeps on disk is there; `nothing cached`, numbatok's tables and
compiled code have to be made first (the other libraries keep nothing). Wall time of
`python -c "import; load; encode; print"`, on any core. `python` and `python, numpy` are the floor.
`numbatok wheel` is an installed wheel, which carries the portable code of the kernels; `numbatok`
is the source tree, which does not.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import machine
from benchmarks.catalog import files_of, sha256
from benchmarks.command import Options, command
from benchmarks.environments import NoEnvironment, python_of
from benchmarks.figures import OURS
from benchmarks.intervals import abba, interval
from benchmarks.libraries import PEERS, Unsupported, start_up
from benchmarks.places import ROOT
from benchmarks.processes import WorkerFailed, environment
from benchmarks.tables import markdown, number

TEXT = "Numbers as words: tokenizers cut a text, and models read ids."
SNIPPET = """import time; t0 = time.perf_counter()
{}; t1 = time.perf_counter()
{}; t2 = time.perf_counter()
text = {!r}; {}; t3 = time.perf_counter()
print(t1 - t0, t2 - t1, t3 - t2, *map(int, ids))"""
FLOORS = {
    "python": ("pass", "pass", "ids = []"),
    "python, numpy": ("import numpy", "pass", "ids = []"),
}
Statements = tuple[str, str, str]


@dataclass(frozen=True)
class Process:
    """What is started, and where numbatok comes from."""

    python: str
    statements: Statements
    source_tree: bool = True  # on the path
    nothing_cached: bool = False


def measure(options: Options) -> dict[str, Any]:
    """Return the times of every library, and of numbatok where nothing is cached."""
    processes, skipped = _processes(options)
    rows: dict[str, dict[str, Any]] = {}
    for number_, order in enumerate(abba(list(processes), options.rounds)):
        for name in order:
            if processes[name].nothing_cached and number_ > 2:
                continue  # takes ten times as long as all others together
            run_once(processes[name], rows.setdefault(name, new_row()))
    return {
        "benchmark": "startup",
        "machine": machine.record(),
        "text": TEXT,
        "rows": rows,
        "skipped": skipped,
    }


def _processes(options: Options) -> tuple[dict[str, Process], list[dict[str, str]]]:
    [tokenizer] = options.tokenizers
    files, skipped = files_of(tokenizer), []
    found = {name: Process(sys.executable, statements) for name, statements in FLOORS.items()}
    peers = {library: PEERS[library] for library in options.libraries}
    if OURS in peers and not options.quick:
        wheel = replace(PEERS[OURS], requirements=(str(ROOT),))
        peers = {OURS: peers[OURS], f"{OURS} wheel": wheel} | peers
    for name, peer in peers.items():
        tree = name == OURS
        try:
            python = python_of(peer, not options.quick, "" if tree else _sources_digest(name))
            process = Process(python, start_up(peer.module, files), tree)
            run_once(process, new_row())
        except (NoEnvironment, Unsupported, WorkerFailed) as reason:
            skipped.append({"library": name, "reason": str(reason)})
            continue
        found[name] = process
        if name.startswith(OURS):
            found[f"{name}, nothing cached"] = replace(process, nothing_cached=True)
    return found, skipped


def _sources_digest(name: str) -> str:
    """Return what the environment of our wheel depends on; nothing for another library."""
    if not name.startswith(OURS):
        return ""
    paths = [ROOT / "pyproject.toml", ROOT / "hatch_build.py", *(ROOT / OURS).rglob("*.py")]
    return sha256(b"".join(path.read_bytes() for path in sorted(paths)))


def new_row() -> dict[str, Any]:
    """Return the times of a process that did not run yet; `parts`: import, load, first ids."""
    return {"wall_seconds": [], "cpu_seconds": [], "parts": [], "ids": []}


def run_once(process: Process, row: dict[str, Any]) -> None:
    """Start the process, wait for its end, and add its times and ids to the row.

    Raises:
        WorkerFailed: the process failed.
    """
    importing, loading, encoding = process.statements
    code = SNIPPET.format(importing, loading, TEXT, encoding)
    with tempfile.TemporaryDirectory() as empty:
        variables = environment(os.cpu_count() or 1)
        if not process.source_tree:
            del variables["PYTHONPATH"]
        if process.nothing_cached:
            variables |= {"NUMBATOK_CACHE_DIR": empty, "NUMBA_CACHE_DIR": f"{empty}/numba"}
        command = [process.python, "-c", code]
        before, start = _children_cpu(), time.perf_counter()
        done = subprocess.run(
            command, env=variables, cwd=empty, capture_output=True, text=True, check=False
        )
        row["wall_seconds"].append(time.perf_counter() - start)
        row["cpu_seconds"].append(_children_cpu() - before)
    if done.returncode:
        raise WorkerFailed((done.stderr.strip().splitlines() or ["no message"])[-1])
    words = done.stdout.splitlines()[-1].split()
    row["parts"].append([float(word) for word in words[:3]])
    row["ids"] = [int(word) for word in words[3:]]


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(result: dict[str, Any]) -> str:
    """Return the Markdown table of a result; a library whose ids are not the usual ones is void."""
    ids = [row["ids"] for row in result["rows"].values() if row["ids"]]
    usual = max(ids, key=ids.count)
    rows = []
    for name, row in result["rows"].items():
        times = [row["wall_seconds"], row["cpu_seconds"], *zip(*row["parts"], strict=True)]
        cells = [number(1000 * interval(seconds).median) for seconds in times]
        rows.append([name, *(["void"] * 5 if row["ids"] not in ([], usual) else cells)])
    title = "From the start of a process to its end, with the first ids, in milliseconds."
    head = ["process", "wall", "CPU", "import", "load", "first ids"]
    return f"{title}\n\n{markdown(head, rows)}"


if __name__ == "__main__":
    sys.exit(command("startup", __doc__ or "", measure))
