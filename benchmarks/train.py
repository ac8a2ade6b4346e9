"""`python -m benchmarks.train`: from a text file on the disk to the merges.

Every training runs in a fresh process with all cores, libraries in ABBA order; the time is wall
time from before the import of the library to its last merge, for numbatok to a Tokenizer that
encodes. Kernels are compiled before. Merges must be equal: those of numbatok, gigatoken and
tokenizers, and those of `numbatok bytes`, rustbpe and bpeasy; a library with other merges is void.

Texts, of ../shared/corpora: `english`, 26 MB of prose, web pages and code; `tail`, 5 MB of random
words, almost all of them distinct; with --large PATH any file, on which only those libraries run
that read files themselves. A library whose first pass takes longer than LONG seconds runs twice.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.catalog import text_path
from benchmarks.command import save
from benchmarks.environments import NoEnvironment, python_of
from benchmarks.intervals import abba, interval, ratio
from benchmarks.places import CACHE, RESULTS, MissingData, without_places, write_atomically
from benchmarks.processes import environment
from benchmarks.tables import markdown, number, times
from benchmarks.trainers import MARK, SEPARATOR, TRAINERS

SIZES = {"english": (8192, 32768), "tail": (50_000,), "large": (32_768, 128_000)}
QUICK_SIZES = (1000,)
ENGLISH = ("bible", "en", "web", "code")
ENGLISH_BYTES, TAIL_BYTES = 26_000_000, 5_000_000
SECONDS = 1800.0  # after which a training is given up
LONG = 20.0  # wall seconds
READ_FILES = ("numbatok", "numbatok 512 MB", "gigatoken")
Row = dict[str, Any]


def measure(texts: dict[str, Path], libraries: list[str], rounds: int, quick: bool) -> Row:
    """Return the times of every library on every text and vocabulary size."""
    pythons, skipped = _pythons(libraries, not quick)
    cells = []
    for text, path in texts.items():
        for size in QUICK_SIZES if quick else SIZES[text]:
            cells += cells_of(text, path, size, _rows(text, path, size, pythons, rounds))
    return {
        "benchmark": "train",
        "machine": machine.record(),
        "cells": cells,
        "skipped": skipped,
    }


def _rows(
    text: str, path: Path, size: int, pythons: dict[str, str], rounds: int
) -> dict[str, list[Row]]:
    """Return what every library says in each of its passes."""
    chosen = [
        name
        for name in pythons
        if (name in READ_FILES if text == "large" else name != "numbatok 512 MB")
    ]
    rows: dict[str, list[Row]] = {name: [] for name in chosen}
    for name in chosen:
        if name.startswith("numbatok"):
            run_once(pythons[name], name, path, size)  # compiles what is not yet there
    for order in abba(chosen, rounds):
        for name in order:
            done = rows[name]
            if len(done) < 2 or done[0].get("wall_seconds", LONG) < LONG:
                done.append(run_once(pythons[name], name, path, size))
    return rows


def _pythons(libraries: list[str], make: bool) -> tuple[dict[str, str], list[Row]]:
    pythons, skipped = {}, []
    for name in libraries:
        try:
            pythons[name] = python_of(TRAINERS[name][2], make)
        except NoEnvironment as reason:
            skipped.append({"library": name, "reason": str(reason)})
    return pythons, skipped


def run_once(python: str, name: str, path: Path, size: int) -> Row:
    """Train in a fresh process; return what it says, or why it failed."""
    command = [python, "-m", "benchmarks.trainers", name, str(path), str(size)]
    try:
        done = subprocess.run(
            command, env=environment(os.cpu_count() or 1), capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer in {SECONDS:.0f} s"}
    for line in reversed(done.stdout.splitlines()):
        if line.startswith(MARK):
            answer: Row = json.loads(line[len(MARK) :])
            return answer
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return {"failed": f"ended with status {done.returncode}: {without_places(last)[:200]}"}


def cells_of(text: str, path: Path, size: int, rows: dict[str, list[Row]]) -> list[Row]:
    """Return a cell for each library; void where its merges are not those of its family."""
    cells = []
    for name, runs in rows.items():
        family = TRAINERS[name][1]
        usual = _usual(family, rows)
        failed = [run["failed"] for run in runs if "failed" in run]
        differs = any(run.get("digest") != usual for run in runs)
        void = failed[0] if failed else f"its merges differ ({family})" if differs else None
        cells.append(
            {
                "text": text,
                "bytes": path.stat().st_size,
                "vocab_size": size,
                "library": name,
                "void": void,
                "runs": runs,
            }
        )
    return cells


def _usual(family: str, rows: dict[str, list[Row]]) -> str | None:
    """Return the digest that most libraries of a family found, numbatok's not counted twice."""
    found = [
        run["digest"]
        for name, runs in rows.items()
        if TRAINERS[name][1] == family
        for run in runs[:1]
        if "digest" in run
    ]
    return max(found, key=found.count, default=None)


def table(result: Row) -> str:
    """Return the Markdown table of a result."""
    rows, ours = [], {}
    for cell in result["cells"]:
        if cell["library"] == "numbatok" and cell["void"] is None:
            ours[cell["text"], cell["vocab_size"]] = _walls(cell)
    for cell in result["cells"]:
        place = [cell["text"], f"{cell['bytes'] / 1e6:.0f}", f"{cell['vocab_size']:,}"]
        if cell["void"] is not None:
            rows.append([*place, cell["library"], "void", "", "", ""])
            continue
        mine = ours.get((cell["text"], cell["vocab_size"]))
        lead = "" if mine is None else times(ratio(mine, _walls(cell)))
        cpu = interval([run["cpu_seconds"] for run in cell["runs"]]).median
        memory = max(run["peak_memory_bytes"] for run in cell["runs"]) / 1e6
        wall = interval(_walls(cell)).median
        rows.append([*place, cell["library"], number(wall), number(cpu), f"{memory:.0f}", lead])
    head = ["text", "MB", "vocabulary", "library", "wall s", "CPU s", "peak MB", "numbatok / it"]
    title = "Training, all cores, medians; the same merges from all libraries of a family."
    return f"{title}\n\n{markdown(head, rows, left=1)}"


def readme_table(result: Row) -> str:
    """Return the Markdown table of the README: a row for each training, a column for a library."""
    places: dict[tuple[str, int], dict[str, str]] = {}
    sizes: dict[str, int] = {}
    for cell in result["cells"]:
        sizes[cell["text"]] = cell["bytes"]
        place = places.setdefault((cell["text"], cell["vocab_size"]), {})
        place[cell["library"]] = "void" if cell["void"] is not None else _figures(cell)
    libraries = list(dict.fromkeys(cell["library"] for cell in result["cells"]))
    rows = [
        [f"{text}, {sizes[text] / 1e6:,.0f} MB", f"{size:,}", *(row.get(n, "") for n in libraries)]
        for (text, size), row in places.items()
    ]
    made = result["machine"]
    about = (
        "Wall seconds / CPU seconds / peak MB of a fresh process, medians of paired runs; equal "
        "merges, ties as Hugging Face's or by bytes (`numbatok bytes`, rustbpe, bpeasy). `tail` is "
        "random words, `large` prose, code and web pages in all languages, only for those that "
        "read files; `512 MB` is a memory_limit. "
        f"{made['processor']}, {made['cores']} cores, load {made['load_averages'][0]}, "
        f"{made['time'][:10]}."
    )
    return f"{markdown(['text', 'vocabulary', *libraries], rows, left=1)}\n\n{about}"


def _figures(cell: Row) -> str:
    cpu = interval([run["cpu_seconds"] for run in cell["runs"]]).median
    memory = max(run["peak_memory_bytes"] for run in cell["runs"]) / 1e6
    return f"{number(interval(_walls(cell)).median)} / {number(cpu)} / {memory:,.0f}"


def _walls(cell: Row) -> list[float]:
    return [run["wall_seconds"] for run in cell["runs"]]


def english_text(n_bytes: int) -> Path:
    """Return the path of that many bytes of English, cut between documents."""
    target = CACHE / "unpacked" / f"train-english-{n_bytes}.txt"
    if not target.exists():
        data = SEPARATOR.encode().join(text_path(name).read_bytes() for name in ENGLISH)[:n_bytes]
        cut = data.rfind(SEPARATOR.encode())
        write_atomically(target, data[:cut] if cut > 0 else data)
    return target


def tail_text(n_bytes: int) -> Path:
    """Return the path of that many bytes of random words of 2 to 12 letters."""
    target = CACHE / "unpacked" / f"train-tail-{n_bytes}.txt"
    if not target.exists():
        chosen, words, size = random.Random(0), [], 0
        while size < n_bytes:
            word = "".join(chosen.choices("abcdefghijklmnopqrstuvwxyz", k=chosen.randint(2, 12)))
            words.append(word)
            size += len(word) + 1
        write_atomically(target, " ".join(words).encode())
    return target


def main(arguments: list[str] | None = None) -> int:
    """Measure and write results/train.json; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train", description=__doc__)
    parser.add_argument("--libraries", nargs="+", choices=TRAINERS, default=list(TRAINERS))
    parser.add_argument("--texts", nargs="+", choices=("english", "tail"), default=None)
    parser.add_argument("--large", type=Path, help="a text file, trained with 32,768 and 128,000")
    parser.add_argument("--rounds", type=int, default=2, help="each is a pass forward and one back")
    parser.add_argument("--quick", action="store_true", help="small, only to see that it runs")
    parser.add_argument("--out", type=Path, default=RESULTS / "train.json")
    options = parser.parse_args(arguments)
    named = options.texts or ([] if options.large else ["english", "tail"])
    share = 50 if options.quick else 1
    try:
        made = {"english": english_text, "tail": tail_text}
        sizes = {"english": ENGLISH_BYTES // share, "tail": TAIL_BYTES // share}
        texts = {name: made[name](sizes[name]) for name in named}
    except MissingData as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 0
    if options.large:
        texts["large"] = options.large
    rounds = 1 if options.quick else options.rounds
    result = measure(texts, options.libraries, rounds, options.quick)
    save(result, options.out)
    print(table(result))
    return int(any(cell["void"] for cell in result["cells"]))


if __name__ == "__main__":
    sys.exit(main())
