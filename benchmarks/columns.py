"""`python -m benchmarks.columns`: a column and files through every layer, by wall time and memory.

Each pass of each rival is a fresh process; rivals run forward and back in every round. A process
runs its work three times: the first is cold, the better of the others is reported. Ids are hashed
outside the timer and must be the same for all rivals of a task.

column    one Arrow column of rows of 100 to 300 bytes: the kernel on the same buffers,
          encode_arrow, count_arrow, gigatoken's encode_batch, datasets.map with tokenizers
parquet   Parquet to Parquet, against encode_arrow of the same text
text      a text file with separators: ids to a .bin, against gigatoken's encode_files, which
          keeps them in memory
text, four times   encode_files alone, once: memory must not grow. gigatoken takes 6.5 GB for
          1 GB and would need 26
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.column_rivals import RIVALS
from benchmarks.intervals import abba, interval, ratio
from benchmarks.places import RESULTS, ROOT
from benchmarks.tables import markdown, number, times

TASKS = {
    "column": ["kernel", "encode_arrow", "count_arrow", "gigatoken", "datasets"],
    "parquet": ["encode_arrow whole", "encode_files parquet"],
    "text": ["encode_files text", "gigatoken text"],
    "text, four times": ["encode_files text x4"],
}
ONCE = {"datasets", "encode_files text x4"}  # slow, or without another state
REPEATS = 3


def worker(name: str, n_rows: int, copies: int) -> None:
    """Measure one rival and print what was found as JSON."""
    make, more = RIVALS[name]
    work, n_bytes, digest = make(n_rows, copies * more)
    before = peak_memory()
    seconds, cpu_seconds = [], []
    for _ in range(1 if name in ONCE else REPEATS):
        start, cpu_start = time.perf_counter(), time.process_time()
        result = work()
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - cpu_start)
    peak = peak_memory()
    answer = {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "bytes": n_bytes,
        "peak": peak,
        "peak_before": before,
    }
    print(json.dumps(answer | {"digest": digest(result)}))


def peak_memory() -> int:
    """Return the most memory that this process had so far, bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def measure(task: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run the rivals of a task; return what each pass found, and who was left out and why."""
    found: dict[str, list[dict[str, Any]]] = {}
    skipped: dict[str, str] = {}
    for number_, order in enumerate(abba(TASKS[task], options.rounds)):
        for name in order:
            if name in skipped or (name in ONCE and number_ > 1):
                continue
            python = options.datasets_python if name == "datasets" else sys.executable
            arguments = [name, str(options.rows), str(options.copies)]
            ran = subprocess.run(
                [python, "-m", "benchmarks.columns", "--worker", *arguments],
                cwd=ROOT, capture_output=True, text=True,
            )  # fmt: skip
            if ran.returncode:
                skipped[name] = (ran.stderr.strip().splitlines() or ["no message"])[-1]
                print(f"skipped {name}: {skipped[name]}", file=sys.stderr)
                continue
            found.setdefault(name, []).append(json.loads(ran.stdout.splitlines()[-1]))
            print(
                f"{task}: {name} {found[name][-1]['seconds']} {found[name][-1]['cpu_seconds']}",
                file=sys.stderr,
                flush=True,
            )
    digests = {cell["digest"] for cells in found.values() for cell in cells} - {""}
    void = "" if len(digests) <= 1 else "the rivals do not have the same ids"
    return {"task": task, "cells": found, "skipped": skipped, "void": void}


def table(record: dict[str, Any]) -> str:
    """Return the Markdown table of the results."""
    rows = []
    for result in record["results"]:
        first = next(iter(result["cells"]), None)
        for name, cells in result["cells"].items():
            speeds, base = speeds_of(cells), speeds_of(result["cells"][first])
            cold = interval([cell["bytes"] / cell["seconds"][0] / 1e6 for cell in cells]).median
            peak = max(_peaks(cells)) / 1e6
            share = times(ratio(speeds, base)) if name != first else "1"
            warm = number(interval(speeds).median)
            cpu = [cell["bytes"] / min(cell["cpu_seconds"]) / 1e6 for cell in cells]
            cpu_speed = number(interval(cpu).median)
            rows.append([result["task"], name, number(cold), warm, share, cpu_speed, f"{peak:.0f}"])
    head = ["task", "rival", "first, MB/s", "again, MB/s", "against the first rival"]
    head += ["MB a CPU second", "peak, MB"]
    return markdown(head, rows, left=2)


def _peaks(cells: list[dict[str, Any]]) -> list[int]:
    """Return the peaks that are of the work, not of a process that made its data before."""
    of_work = [cell["peak"] for cell in cells if cell["peak"] > cell.get("peak_before", 0)]
    return of_work or [cell["peak"] for cell in cells]


def readme_table(record: dict[str, Any]) -> str:
    """Return the table with what was measured and where."""
    megabytes = record["rows"] * record["copies"] // 5000
    machine_, load = record["machine"], ", ".join(f"{x:.1f}" for x in record["loads"])
    return (
        f"`python -m benchmarks.columns`: {record['rows']:,} rows of 100 to 300 bytes; files of "
        f"{megabytes:,} MB. Wall time, except where it says CPU. {machine_['processor']}, "
        f"{machine_['cores']} cores, load averages {load} at the end: with other work on the "
        f"machine only the ratios and the CPU seconds tell.\n\n{table(record)}"
    )


def speeds_of(cells: list[dict[str, Any]]) -> list[float]:
    """Return the best speed of each pass after the cold one, MB/s."""
    return [cell["bytes"] / min(cell["seconds"][1:] or cell["seconds"]) / 1e6 for cell in cells]


def main(arguments: list[str] | None = None) -> int:
    """Measure what the arguments ask for; return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["--worker"]:
        worker(arguments[1], int(arguments[2]), int(arguments[3]))
        return 0
    options = parser().parse_args(arguments)
    if options.quick:
        options.rows, options.copies, options.rounds = 2000, 2, 1
    results = [measure(task, options) for task in options.tasks]
    record = {"benchmark": "columns", "machine": machine.record(), "rows": options.rows}
    record |= {"copies": options.copies, "results": results, "loads": list(os.getloadavg())}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(table(record))
    void = [result["task"] for result in results if result["void"] or not result["cells"]]
    print("void: " + ", ".join(void) if void else "the ids of all rivals are the same")
    return 1 if void else 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.columns", description=__doc__)
    made.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    made.add_argument("--rows", type=int, default=1_000_000)
    made.add_argument("--copies", type=int, default=5, help="of the rows in files: 1 GB")
    made.add_argument("--rounds", type=int, default=2, help="each is a pass forward and one back")
    made.add_argument("--quick", action="store_true", help="check the ids, ignore the speeds")
    made.add_argument("--datasets-python", default=sys.executable, help="that has datasets")
    made.add_argument("--out", type=Path, default=RESULTS / "columns.json")
    return made


if __name__ == "__main__":
    sys.exit(main())
