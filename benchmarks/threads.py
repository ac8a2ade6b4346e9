"""`python -m benchmarks.threads`: many threads against one, by wall time.

State: a loaded tokenizer; 64 MB made of the five texts in turn, most of a megabyte of each, again
and again; once as one document and once as chunks of 4 KiB, by one batch call; the first encode of
the process and the median of the replays. A process has as many cores as threads.
"""

import os
import sys
from dataclasses import replace
from itertools import count
from typing import Any

from benchmarks.catalog import TEXTS, TOKENIZERS, files_of, text_path
from benchmarks.command import Options, command
from benchmarks.engine import Outcome, Plan, measure_group, prepared, rivals_of
from benchmarks.figures import Figures, Place, figures_of
from benchmarks.intervals import ratio
from benchmarks.places import CACHE, write_atomically
from benchmarks.processes import Job
from benchmarks.tables import NOTHING, markdown, number, times
from benchmarks.workloads import Settings

STATES = ["one document", "one document, warm", "chunks", "chunks, warm"]
MEGABYTE = 1_000_000
LIBRARIES = ("numbatok", "gigatoken", "tokenizers 1.0.0rc3")  # the others take minutes
BLOCK = 800_000  # less than the text's megabyte, so that whole lines can be taken


def measure(options: Options) -> dict[str, Any]:
    """Return the cells of every library with one thread and with all; the text is their number."""
    megabytes = 2 if options.quick else 64
    settings = Settings(text_bytes=megabytes * MEGABYTE, replays=3)
    counts = [1, os.cpu_count() or 2]
    plan = Plan(
        options.libraries,
        options.tokenizers,
        [str(n) for n in counts],
        STATES,
        options.rounds,
        settings,
        not options.quick,
    )
    outcome, path = Outcome("threads", plan), mixed_text(megabytes)
    rivals = rivals_of(outcome)
    for tokenizer in options.tokenizers:
        files, oracle = files_of(tokenizer), TOKENIZERS[tokenizer].oracle
        for n in counts:
            job = Job(files, "documents", path, path, replace(settings, n_threads=n))
            able = prepared(outcome, rivals, job)
            measure_group(outcome, able, job, str(n), oracle)
    return outcome.as_json()


def mixed_text(megabytes: int) -> str:
    """Return the path of a text, a little longer than that, made of blocks of every text."""
    target = CACHE / "unpacked" / f"mixed-{megabytes}.txt"
    if not target.exists():
        texts = [text_path(name).read_bytes() for name in TEXTS]
        parts: list[bytes] = []
        for i in count():
            if sum(map(len, parts)) > megabytes * MEGABYTE:
                break
            text = texts[i % len(texts)]
            part = text[i // len(texts) * MEGABYTE % (len(text) - MEGABYTE) :][:MEGABYTE]
            start = part.index(b"\n") + 1
            parts.append(part[start : part.index(b"\n", start + BLOCK) + 1])
        write_atomically(target, b"".join(parts))
    return str(target)


def table(result: dict[str, Any]) -> str:
    """Return the Markdown table of a result."""
    figures, rows = figures_of([result]), []
    one, many = figures.values(1)[0], figures.values(1)[-1]
    for tokenizer in figures.values(0):
        for library in figures.libraries():
            pairs = [_pair(figures, tokenizer, library, state, one, many) for state in STATES]
            rows.append([tokenizer, library, *pairs])
    title = f"All cores: MB/s of wall time with {one} and {many} threads, and the ratio."
    return f"{title}\n\n" + markdown(["tokenizer", "library", *STATES], rows, left=2)


def _pair(figures: Figures, tokenizer: str, library: str, state: str, one: str, many: str) -> str:
    pair = [figures.counted(Place(tokenizer, n, state)).get(library) for n in (one, many)]
    if pair[0] is None or pair[1] is None:
        return NOTHING
    speeds = [figure.wall_speed.median for figure in pair if figure]
    gain = ratio(pair[1].wall_speeds, pair[0].wall_speeds)
    return f"{number(speeds[0])}, {number(speeds[1])}, {times(gain)}"


if __name__ == "__main__":
    sys.exit(command("threads", __doc__ or "", measure, LIBRARIES, many=True))
