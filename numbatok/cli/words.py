"""Count the distinct pretokens of files: how many there are, and which are the most frequent.

numbatok words corpus/*.txt
numbatok words data/*.parquet --pattern o200k --top 50 --plot words.svg
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from numbatok.cli import choices
from numbatok.cli.outputs import print_line, whole_file

if TYPE_CHECKING:
    from numbatok.training import PretokenCounts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_training_source(parser)
    parser.add_argument("--top", type=int, default=20, metavar="N", help="how many to list")
    parser.add_argument("--plot", metavar="FILE", help="rank and frequency, as .png or .svg")
    parser.add_argument("--overwrite", action="store_true", help="replace the plot if it exists")
    parser.add_argument("--json", action="store_true", help="a JSON object instead of text")


def run(options: argparse.Namespace) -> int:
    """Count; return the exit code."""
    from numbatok.training import count_pretokens

    counts = count_pretokens(
        choices.training_source(options, options.files),
        options.pattern or "gpt2",
        memory_limit=options.memory_limit,
    )
    if options.plot:
        plot(counts, options.plot, options.overwrite)
    report = counts.report(options.top)
    print_line(json.dumps(report.to_dict()) if options.json else str(report))
    return 0


def plot(counts: PretokenCounts, path: str, overwrite: bool) -> None:
    """Draw how often the pretoken of each rank occurs, both on logarithmic axes."""
    import numpy as np
    from matplotlib.figure import Figure  # draws without a display

    numbers = np.sort(counts.pretokens.numbers)[::-1]
    ranks = np.unique(np.geomspace(1, max(1, len(numbers)), 2000).astype(np.int64))
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    if len(numbers):
        axes.loglog(ranks, numbers[ranks - 1], color="#4c78a8")
    axes.set(xlabel="rank", ylabel="occurrences", title=f"{len(numbers):,} distinct pretokens")
    axes.spines[["top", "right"]].set_visible(False)
    kind = path.rpartition(".")[2].lower()
    with whole_file(path, overwrite) as file:
        figure.savefig(file, format=kind if kind in ("png", "svg") else "png")
