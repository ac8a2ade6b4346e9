"""`python -m benchmarks.worst_case`: giant pretokens, what is normalized, a line of special tokens.

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

from benchmarks.catalog import files_of, read_text, text_path
from benchmarks.command import Options, command
from benchmarks.engine import Outcome, Plan, measure_group, prepared, rivals_of
from benchmarks.figures import Figure, Figures, Place, figures_of
from benchmarks.places import CACHE, write_atomically
from benchmarks.processes import Job
from benchmarks.tables import markdown, number
from benchmarks.workloads import Settings

SECONDS = 60.0
ORACLE = "tokenizers 0.23.3"
SHORT, LONG = 1_000_000, 4_000_000


def _random_letters(n: int) -> str:
    return "".join(random.Random(0).choices(string.ascii_lowercase, k=n))


def _english(n: int) -> str:
    return read_text(text_path("en"), n)


def _chinese(n: int) -> str:
    letters = [c for c in read_text(text_path("cjk"), 30_000) if "\u4e00" <= c <= "\u9fff"]
    return "".join(random.Random(0).choices(letters, k=n // 3))


CASES: dict[str, Callable[[int], str]] = {
    "English": _english,  # to compare with
    "one letter": lambda n: "a" * n,
    "random letters": _random_letters,
    "^": lambda n: "^" * n,
    "spaces": lambda n: " " * n,
    "Chinese without a stop": _chinese,
    "accents apart": lambda n: "e\u0301o\u0308" * (n // 6),
    "one letter, many accents": lambda n: "e" + "\u0301\u0323" * (n // 4),
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
    outcome, path = Outcome("worst_case", plan), _text("spaces", short)
    rivals = rivals_of(outcome)
    for tokenizer in options.tokenizers:
        files = files_of(tokenizer)
        able = prepared(outcome, rivals, Job(files, "once", path, path, settings))
        for text in texts:
            case, _, n = text.rpartition(", ")
            special = "recognize" if case == "special tokens" else "plain"
            path = _text(case, int(n))
            job = Job(files, "once", path, path, settings, special)
            measure_group(outcome, able, job, text, ORACLE)
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
    cases = dict.fromkeys(text.rpartition(", ")[0] for text in figures.values(1))
    for tokenizer in figures.values(0):
        for case in cases:
            cells = [_cell(figures, tokenizer, case, lengths, library) for library in libraries]
            rows.append([tokenizer, case, *cells])
    if not figures.cells:
        return "Worst cases: nothing was measured."
    title = (
        f"Worst cases: CPU milliseconds for {lengths[0]:,} bytes, and in brackets how many times "
    )
    title += f"as long {lengths[-1]:,} bytes take."
    return f"{title}\n\n" + markdown(["tokenizer", "text", *libraries], rows, left=2)


def _cell(figures: Figures, tokenizer: str, case: str, lengths: list[int], library: str) -> str:
    found: list[Figure | None] = []
    for n in (lengths[0], lengths[-1]):
        place = Place(tokenizer, f"{case}, {n}", "once")
        found.append(figures.counted(place).get(library))
    short, long = found
    if short is None:
        return "none"
    time = short.microseconds.median
    growth = f"{long.microseconds.median / time:.1f}" if long else "none"
    return f"{number(time / 1000)} ({growth})"


if __name__ == "__main__":
    sys.exit(command("worst_case", __doc__ or "", measure, many=True))
