"""Count the distinct pretokens of files: how many there are, and which are the most frequent.

numbatok words corpus/*.txt
numbatok words data/*.parquet --pattern o200k --top 50 --plot words.svg
"""

from __future__ import annotations

import argparse
import json

from numbatok.cli import choices
from numbatok.cli.outputs import print_line, whole_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_training_source(parser)
    parser.add_argument("--top", type=int, default=20, metavar="N", help="how many to list")
    parser.add_argument("--plot", metavar="FILE", help="rank and count, as .png, .svg or .pdf")
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
        from numbatok.training.plots import save_rank_frequency

        with whole_path(options.plot, options.overwrite) as partial:
            save_rank_frequency(counts, partial)
    report = counts.report(options.top)
    print_line(json.dumps(report.to_dict()) if options.json else str(report))
    return 0
