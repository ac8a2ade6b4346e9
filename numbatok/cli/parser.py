"""The argument parser: argparse of the standard library, which adds no dependency."""

from __future__ import annotations

import argparse

from numbatok.cli import bench, count, decode, encode, info, train, verify, warmup, words
from numbatok.version import __version__

COMMANDS = {
    "encode": (encode, "text to ids"),
    "decode": (decode, "ids to text"),
    "count": (count, "how many ids a text has"),
    "train": (train, "learn a tokenizer"),
    "words": (words, "what a corpus consists of"),
    "info": (info, "what a tokenizer file is, and whether it loads"),
    "verify": (verify, "compare a tokenizer with the library that defines it"),
    "bench": (bench, "how fast a tokenizer is here, on your text"),
    "warmup": (warmup, "compile and cache everything now"),
}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser; parsed options have `run`, the command's function."""
    parser = argparse.ArgumentParser(
        prog="numbatok", description="Exact, fast byte-level BPE tokenization."
    )
    parser.add_argument("--version", action="version", version=f"numbatok {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (module, summary) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser
