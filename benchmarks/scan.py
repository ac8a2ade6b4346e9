"""`python -m benchmarks.scan`: the scan alone, from text to the ends of its pretokens.

State: a loaded tokenizer, the text as bytes, the median of the replays. The result, one int64 per
pretoken, goes to memory that is used again: fresh pages would take longer than the scan. The ends
are compared with those of tokenizers 0.23.3.
"""

import sys
from dataclasses import replace
from typing import Any

from benchmarks.catalog import TEXTS, files_of, sha256, text_path
from benchmarks.command import Options, command
from benchmarks.engine import Outcome, Plan, measure_group, prepared, rivals_of
from benchmarks.figures import Figures, Place, figures_of
from benchmarks.processes import Job
from benchmarks.tables import markdown, number
from benchmarks.workloads import QUICK, Settings

ORACLE = "tokenizers 0.23.3"


def measure(options: Options) -> dict[str, Any]:
    """Return the cells of numbatok, the one library with an entry for the scan alone."""
    settings = QUICK if options.quick else replace(Settings(), replays=25)
    texts = list(TEXTS[:1] if options.quick else TEXTS)
    names = options.tokenizers
    plan = Plan(["numbatok"], names, texts, ["scan"], options.rounds, settings, not options.quick)
    outcome, path = Outcome("scan", plan), str(text_path(texts[0]))
    rivals = rivals_of(outcome)
    for tokenizer in names:
        files = files_of(tokenizer)
        able = prepared(outcome, rivals, Job(files, "scan", path, path, settings))
        for text in texts:
            path = str(text_path(text))
            outcome.texts[text] = sha256(text_path(text).read_bytes())
            measure_group(outcome, able, Job(files, "scan", path, path, settings), text, ORACLE)
    return outcome.as_json()


def table(result: dict[str, Any]) -> str:
    """Return the Markdown table of a result."""
    figures = figures_of([result])
    texts = figures.values(1)
    rows = [[name, *(_speed(figures, name, text) for text in texts)] for name in figures.values(0)]
    title = "Scan alone (text to pretoken ends), one thread, GB/s."
    return f"{title}\n\n" + markdown(["tokenizer", *texts], rows)


def _speed(figures: Figures, tokenizer: str, text: str) -> str:
    figure = figures.counted(Place(tokenizer, text, "scan")).get("numbatok")
    return number(figure.speed.median / 1000) if figure else "none"


if __name__ == "__main__":
    sys.exit(command("scan", __doc__ or "", measure, many=True))
