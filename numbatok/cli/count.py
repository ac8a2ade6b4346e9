"""Count ids, a file a line, without building them; special tokens count as plain text.

numbatok count README.md src/*.py
"""

from __future__ import annotations

import argparse
import json

from numbatok.cli import choices
from numbatok.cli.outputs import print_line
from numbatok.cli.progress import Progress
from numbatok.cli.sources import documents, find_files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_sources(parser, "text")
    choices.add_tokenizer(parser)
    choices.add_policies(parser, "plain")
    parser.add_argument("--json", action="store_true", help="a JSON object per file")


def run(options: argparse.Namespace) -> int:
    """Count; return the exit code."""
    paths = find_files(options.files)
    tokenizer, special = choices.load_tokenizer(options), choices.special_policy(options)
    n_bytes = n_ids = 0
    with Progress() as progress:
        for text in documents(paths, by_line=False):
            [count] = tokenizer.count_batch([text.data], special, invalid=options.invalid).tolist()
            progress.add(len(text.data), count)
            n_bytes, n_ids = n_bytes + len(text.data), n_ids + count
            _print(text.source, count, len(text.data), options.json)
    if len(paths) > 1 and not options.json:
        _print("total", n_ids, n_bytes, as_json=False)
    return 0


def _print(source: str, n_ids: int, n_bytes: int, as_json: bool) -> None:
    if as_json:
        found = {"source": source, "ids": n_ids, "bytes": n_bytes}
        print_line(json.dumps(found, ensure_ascii=False))
    else:
        print_line(f"{n_ids:>12}  {source}")
