"""The command line that the smaller benchmarks share, and how a result is written."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.libraries import PEERS
from benchmarks.places import CACHE, RESULTS, MissingData, write_atomically


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    libraries: list[str]
    tokenizers: list[str]
    rounds: int
    quick: bool


def command(
    name: str,
    about: str,
    measure: Callable[[Options], dict[str, Any]],
    libraries: tuple[str, ...] = tuple(PEERS),
    *,
    many: bool = False,
) -> int:
    """Parse the command line, measure, write `name`.json; return the exit status.

    `libraries` are those that are measured when the command line names none; `many` is whether it
    may name many tokenizers.
    """
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    made.add_argument(
        "--libraries", nargs="+", choices=PEERS, default=list(libraries), metavar="NAME"
    )
    made.add_argument("--tokenizers", nargs="+" if many else 1, default=["gpt2"], metavar="NAME")
    made.add_argument("--rounds", type=int, default=3, help="each is a pass forward and one back")
    made.add_argument("--quick", action="store_true", help="small, only to see that it runs")
    made.add_argument("--out", type=Path)
    given = made.parse_args()
    rounds = 1 if given.quick else given.rounds
    try:
        result = measure(Options(given.libraries, given.tokenizers, rounds, given.quick))
    except MissingData as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 0
    save(result, given.out or default_out(name, given.quick))
    return 0


def default_out(name: str, quick: bool) -> Path:
    """Return where a result goes: a quick one must not replace a measured one."""
    return (CACHE / "quick" if quick else RESULTS) / f"{name}.json"


def save(result: dict[str, Any], path: Path) -> None:
    """Write a result as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, (json.dumps(result, indent=1) + "\n").encode())
