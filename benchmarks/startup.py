"""`python -m benchmarks.startup`: a fresh process, from its start to its first ids and its end.

States: `cached`, whatever a library keeps on disk is there; `nothing cached`, numbatok's tables and
compiled code have to be made first (the other libraries keep nothing). Wall time of
`python -c "import; load; encode; print"`, on any core. `python` and `python, numpy` are the floor.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks import machine
from benchmarks.catalog import files_of
from benchmarks.command import Options, command
from benchmarks.environments import NoEnvironment, python_of
from benchmarks.intervals import abba, interval
from benchmarks.libraries import PEERS, Unsupported, start_up
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


def measure(options: Options) -> dict[str, Any]:
    """Return the times of every library, and of numbatok where nothing is cached."""
    rivals, skipped = _rivals(options)
    rows: dict[str, dict[str, Any]] = {}
    for number_, order in enumerate(abba(list(rivals), options.rounds)):
        for name in order:
            if name.endswith("nothing cached") and number_ > 2:
                continue  # takes ten times as long as all others together
            row = rows.setdefault(name, new_row())
            run_once(*rivals[name], row, name.endswith("nothing cached"))
    return {
        "benchmark": "startup",
        "machine": machine.record(),
        "text": TEXT,
        "rows": rows,
        "skipped": skipped,
    }


def _rivals(options: Options) -> tuple[dict[str, tuple[str, Statements]], list[dict[str, str]]]:
    files, skipped = files_of(options.tokenizer), []
    rivals = {name: (sys.executable, statements) for name, statements in FLOORS.items()}
    for library in options.libraries:
        peer = PEERS[library]
        try:
            python, statements = python_of(peer, not options.quick), start_up(peer.module, files)
            run_once(python, statements, new_row())
        except (NoEnvironment, Unsupported, WorkerFailed) as reason:
            skipped.append({"library": library, "reason": str(reason)})
            continue
        rivals[library] = (python, statements)
        if not peer.requirements:
            rivals[f"{library}, nothing cached"] = (python, statements)
    return rivals, skipped


def new_row() -> dict[str, Any]:
    """Return the times of a process that did not run yet; `parts`: import, load, first ids."""
    return {"wall_seconds": [], "cpu_seconds": [], "parts": [], "ids": []}


def run_once(
    python: str, statements: Statements, row: dict[str, Any], nothing_cached: bool = False
) -> None:
    """Start the process, wait for its end, and add its times and ids to the row.

    Raises:
        WorkerFailed: the process failed.
    """
    importing, loading, encoding = statements
    code = SNIPPET.format(importing, loading, TEXT, encoding)
    with tempfile.TemporaryDirectory() as empty:
        variables = environment(os.cpu_count() or 1)
        if nothing_cached:
            variables |= {"NUMBATOK_CACHE_DIR": empty, "NUMBA_CACHE_DIR": f"{empty}/numba"}
        before, start = _children_cpu(), time.perf_counter()
        done = subprocess.run(
            [python, "-c", code], env=variables, capture_output=True, text=True, check=False
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
    """Return the Markdown table of a result; libraries whose ids differ are void."""
    ids = [row["ids"] for row in result["rows"].values() if row["ids"]]
    usual = max(ids, key=ids.count)
    rows = []
    for name, row in result["rows"].items():
        if row["ids"] and row["ids"] != usual:
            rows.append([name, "void", "", "", ""])
            continue
        parts = [number(1000 * interval(part).median) for part in zip(*row["parts"], strict=True)]
        rows.append([name, number(1000 * interval(row["wall_seconds"]).median), *parts])
    head = ["process", "milliseconds in all", "import", "load", "first ids"]
    return "From the start of a process to its end, with the first ids.\n\n" + markdown(head, rows)


if __name__ == "__main__":
    sys.exit(command("startup", __doc__ or "", measure))
