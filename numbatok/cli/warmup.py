"""Compile and cache every kernel and the embedded tokenizer now, so that no later run waits."""

from __future__ import annotations

import argparse

from numbatok.cli.outputs import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no summary")


def run(options: argparse.Namespace) -> int:
    """Warm up; return the exit code."""
    from numbatok.cache import cache_directory
    from numbatok.warm import warmup

    done = warmup(progress=False if options.quiet else None)
    if not options.quiet:
        print_line(f"{done}; kept in {cache_directory()}")
    return 0
