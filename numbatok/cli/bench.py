"""Measure how fast a tokenizer is on this machine, on your text or on seeded text of all kinds.

  numbatok bench README.md
  numbatok bench -t tokenizer.json --lines data/*.txt

`cold` is the first time that a text is seen, `warm` the median of later times; MB are 10^6 bytes.
A quick look at one machine: how numbatok compares with other libraries is in benchmarks/.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numbatok.cli import choices
from numbatok.cli.outputs import print_line
from numbatok.cli.sources import documents, find_files

if TYPE_CHECKING:
    from numbatok.tokenizer import Tokenizer

SAMPLE_BYTES = 4_000_000
REPEATS = 5
SMALL = 200  # characters of a small call


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_sources(parser, "text")
    choices.add_tokenizer(parser)
    parser.add_argument("--json", action="store_true", help="a JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    """Measure; return the exit code."""
    started = time.perf_counter()
    tokenizer = choices.load_tokenizer(options)
    tokenizer.encode("Zq")
    loaded = time.perf_counter() - started
    if options.files:
        found = documents(find_files(options.files), by_line=False)
        text = b"".join(document.data for document in found)
    else:
        text = sample()
    figures = {"load_seconds": loaded, "bytes": len(text), **measure(tokenizer, text)}
    if options.json:
        print_line(json.dumps(figures))
    else:
        print_line("\n".join(f"{name:<28}{value}" for name, value in table(figures)))
    return 0


def sample() -> bytes:
    """Return seeded text of many scripts, code and numbers, about SAMPLE_BYTES long."""
    from numbatok.verification.texts import sample_texts

    texts = (
        text if isinstance(text, bytes) else text.encode()
        for group in sample_texts([], [], with_bytes=False, rounds=40)
        for text in group
    )
    return b"\n".join(texts)[:SAMPLE_BYTES]


def measure(tokenizer: Tokenizer, text: bytes) -> dict[str, float]:
    """Return ids and MB/s of the whole text and of its lines, and microseconds of small calls."""
    ids: Any = None

    def whole() -> None:
        nonlocal ids
        ids = tokenizer.encode(text, "plain")

    lines = text.splitlines()
    small = [line[:SMALL] for line in lines if line][:1000] or [b"a"]
    tokenizer.forget()
    cold = _seconds(whole)
    warm = statistics.median(_seconds(whole) for _ in range(REPEATS))
    by_line = min(_seconds(lambda: tokenizer.encode_batch(lines, "plain")) for _ in range(REPEATS))
    counted = min(_seconds(lambda: tokenizer.count(text)) for _ in range(REPEATS))
    calls = min(
        _seconds(lambda: [tokenizer.encode(data, "plain") for data in small])
        for _ in range(REPEATS)
    )
    decoded = min(_seconds(lambda: tokenizer.decode_bytes(ids)) for _ in range(REPEATS))
    speed = {"cold": cold, "warm": warm, "lines": by_line, "count": counted, "decode": decoded}
    return {
        "ids": int(ids.size),
        **{f"{name}_mb_per_second": len(text) / 1e6 / seconds for name, seconds in speed.items()},
        "small_call_microseconds": 1e6 * calls / len(small),
    }


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return max(time.perf_counter() - started, 1e-9)


def table(figures: dict[str, float]) -> list[tuple[str, str]]:
    """Return the lines of the table, name and value."""
    names = {
        "cold": "whole text, cold", "warm": "whole text, warm", "lines": "its lines, one batch",
        "count": "count", "decode": "decode",
    }  # fmt: skip
    return [
        ("text", f"{figures['bytes'] / 1e6:,.2f} MB, {figures['ids']:,} ids"),
        ("load and first ids", f"{1000 * figures['load_seconds']:,.0f} ms"),
        *((name, f"{figures[f'{key}_mb_per_second']:,.1f} MB/s") for key, name in names.items()),
        (f"up to {SMALL} bytes, a call", f"{figures['small_call_microseconds']:,.1f} us"),
    ]
