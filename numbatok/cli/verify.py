"""Compare a tokenizer with the library that defines it, on seeded text of all kinds.

A file with merges is compared with tokenizers, a file of ranks with tiktoken, the embedded
tokenizer (and what no installed library reads, with --reference plain) with the plain Python
pipeline. Exit code 1 if anything differs; the first difference is shown.

  numbatok verify tokenizer.json
  numbatok verify gpt2 --reference gpt2/tokenizer.json --texts notes.txt
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from numbatok.cli import choices
from numbatok.cli.outputs import print_line
from numbatok.cli.sources import documents, find_files

if TYPE_CHECKING:
    from numbatok.verification import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_tokenizer(parser, positional=True)
    parser.add_argument(
        "--reference", metavar="FILE", help="a file that defines it, or `plain` (default: itself)"
    )
    parser.add_argument(
        "--texts", nargs="+", metavar="FILE", help="texts to compare on, instead of seeded ones"
    )
    parser.add_argument("--json", action="store_true", help="a JSON object instead of text")


def run(options: argparse.Namespace) -> int:
    """Verify; return the exit code."""
    tokenizer = choices.load_tokenizer(options)
    texts = None
    if options.texts:
        found = documents(find_files(options.texts), by_line=False)
        texts = [_as_text(document.data) for document in found]
    reference = None if options.reference == "plain" else options.reference
    if options.reference is None and options.tokenizer != "gpt2":
        reference = options.tokenizer
    report = tokenizer.verify(reference, texts)
    print_line(json.dumps(_as_json(report)) if options.json else str(report))
    return 0 if report.ok else 1


def _as_text(data: bytes) -> str | bytes:
    """Return text as str, which every reference takes, or what is not UTF-8 as bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _as_json(report: Report) -> dict[str, object]:
    return {"ok": report.ok} | asdict(report) | {"first": report.first and str(report.first)}
