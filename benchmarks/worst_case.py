"""`python -m benchmarks.worst_case`: one giant pretoken, and one line of special tokens.

State: a loaded tokenizer, nothing learned, one text of 1,000,000 bytes and one four times as long,
each the first encode of a fresh process. `growth` is the time of the long one in times of the
short one: 4 is linear. A library that takes longer than `SECONDS` is given up. Ids are compared
with those of tokenizers 0.23.3, because tiktoken panics (stack overflow) on the spaces.
"""

import random
import string
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.catalog import files_of
from benchmarks.command import Options, command
from benchmarks.engine import Outcome, Plan, measure_group, prepared, rivals_of
from benchmarks.figures import Figure, Figures, figures_of
from benchmarks.places import CACHE, write_atomically
from benchmarks.processes import Job
from benchmarks.tables import markdown, number
from benchmarks.workloads import Settings

SECONDS = 60.0
ORACLE = "tokenizers 0.23.3"
SHORT, LONG = 1_000_000, 4_000_000


def _random_letters(n: int) -> str:
    return "".join(random.Random(0).choices(string.ascii_lowercase, k=n))


CASES: dict[str, Callable[[int], str]] = {
    "one letter": lambda n: "a" * n,
    "random letters": _random_letters,
    "^": lambda n: "^" * n,
    "spaces": lambda n: " " * n,
    "special tokens": lambda n: "<|endoftext|>" * (n // 13),
}


def measure(options: Options) -> dict[str, Any]:
    """Return the cells of every library; the text of a cell is a case and its length."""
    short, long = (10_000, 40_000) if options.quick else (SHORT, LONG)
    settings = replace(Settings(), text_bytes=long)
    texts = [f"{case}, {n}" for case in CASES for n in (short, long)]
    plan = Plan(
        options.libraries,
        options.tokenizers,
        texts,
        ["once"],
        options.rounds,
        settings,
        not options.quick,
        seconds=SECONDS,
    )
    outcome, [tokenizer] = Outcome("worst_case", plan), options.tokenizers
    files = files_of(tokenizer)
    path = _text("spaces", short)
    rivals = prepared(outcome, rivals_of(outcome), Job(files, "once", path, path, settings))
    for text in texts:
        case, _, n = text.rpartition(", ")
        path, special = _text(case, int(n)), "recognize" if case == "special tokens" else "plain"
        job = Job(files, "once", path, path, settings, special)
        measure_group(outcome, rivals, job, text, ORACLE)
    return outcome.as_json()


def _text(case: str, n: int) -> str:
    """Return the path of a file that holds a case of n bytes."""
    path: Path = CACHE / "worst_case" / f"{case.replace(' ', '_')}-{n}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, CASES[case](n).encode())
    return str(path)


def table(result: dict[str, Any]) -> str:
    """Return the Markdown table of a result: seconds of the short text, and the growth."""
    figures = figures_of([result])
    lengths = sorted({int(text.rpartition(", ")[2]) for text in figures.values(1)})
    libraries, rows = figures.libraries(), []
    for case in dict.fromkeys(text.rpartition(", ")[0] for text in figures.values(1)):
        cells = [_cell(figures, case, lengths, library) for library in libraries]
        rows.append([case, *cells])
    if not figures.cells:
        return "Worst cases: nothing was measured."
    title = (
        f"Worst cases: CPU milliseconds for {lengths[0]:,} bytes, and in brackets how many times "
    )
    title += f"as long {lengths[-1]:,} bytes take."
    return f"{title}\n\n" + markdown(["text", *libraries], rows)


def _cell(figures: Figures, case: str, lengths: list[int], library: str) -> str:
    found: list[Figure | None] = []
    for n in (lengths[0], lengths[-1]):
        places = [p for p in figures.cells if p.text == f"{case}, {n}"]
        found.append(figures.counted(places[0]).get(library) if places else None)
    short, long = found
    if short is None:
        return "none"
    time = short.microseconds.median
    growth = f"{long.microseconds.median / time:.1f}" if long else "none"
    return f"{number(time / 1000)} ({growth})"


if __name__ == "__main__":
    sys.exit(command("worst_case", __doc__ or "", measure))
