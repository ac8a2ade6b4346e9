"""Learn a byte-level BPE tokenizer from files.

  numbatok train corpus/*.txt --vocab-size 32768 -o tokenizer.json
  numbatok train dump.jsonl.gz --vocab-size 50000 --pattern cl100k --special-token "<|end|>"
                 --memory-limit 2GB --checkpoint training/ -o ranks.tiktoken

After an interruption the same command goes on from the checkpoint. What the options mean in full:
numbatok.train.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from numbatok.cli import choices
from numbatok.cli.outputs import print_line
from numbatok.errors import InvalidValue


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_training_source(parser)
    parser.add_argument("--vocab-size", type=int, required=True, metavar="N", help="how many ids")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="tokenizer.json, or .tiktoken ranks"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the output if it exists")
    parser.add_argument(
        "--special-token", action="append", metavar="TOKEN[=ID]", help="may be repeated"
    )
    parser.add_argument("--min-frequency", type=int, default=0, metavar="N", help="of a pair")
    parser.add_argument("--max-token-bytes", type=int, metavar="N", help="no longer token is made")
    parser.add_argument(
        "--ties", choices=("huggingface", "bytes", "minbpe"), default="huggingface",
        help="whose choice among equally frequent pairs (default: huggingface)",
    )  # fmt: skip
    parser.add_argument("--start-from", metavar="TOKENIZER", help="keep its ids and learn more")
    parser.add_argument("--checkpoint", metavar="FOLDER", help="kept up to date, to go on from")
    parser.add_argument("--held-out", action="append", metavar="FILE", help="to measure on")
    parser.add_argument("--json", action="store_true", help="the report as a JSON object")


def run(options: argparse.Namespace) -> int:
    """Train; return the exit code."""
    from numbatok.tokenizer import load
    from numbatok.training import train_with_report

    check_output(options.output, options.overwrite)
    held_out = options.held_out and choices.training_source(options, options.held_out)
    pattern: dict[str, Any] = {} if options.pattern is None else {"pattern": options.pattern}
    tokenizer, report = train_with_report(
        choices.training_source(options, options.files),
        options.vocab_size,
        special_tokens=special_tokens(options.special_token or []),
        min_frequency=options.min_frequency,
        max_token_bytes=options.max_token_bytes,
        ties=options.ties,
        start_from=load(options.start_from) if options.start_from else None,
        memory_limit=options.memory_limit,
        checkpoint=options.checkpoint,
        held_out=held_out or None,
        **pattern,
    )
    tokenizer.save(options.output)
    print_line(json.dumps(report.to_dict()) if options.json else str(report))
    return 0


def check_output(path: str, overwrite: bool) -> None:
    """Refuse, before the work, a file that could not be written after it."""
    if os.path.exists(path) and not overwrite:
        raise InvalidValue(f"{path} exists; pass --overwrite to replace it")
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
        raise InvalidValue(f"{path} cannot be written: it is a folder, or is in none")


def special_tokens(given: list[str]) -> list[str] | dict[str, int]:
    """Return tokens, or their ids if every one is written as TOKEN=ID."""
    numbered = [token.rpartition("=") for token in given]
    if given and all(token and number.isdecimal() for token, _, number in numbered):
        return {token: int(number) for token, _, number in numbered}
    return given
