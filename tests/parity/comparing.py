"""Counting what was compared and keeping the first things that differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

SHOWN = 5


class Tally:
    """How many results were compared, and the first that differ."""

    def __init__(self, what: str) -> None:
        self.what, self.compared, self.differing = what, 0, 0
        self.shown: list[str] = []

    def compare(self, cases: Sequence[Any], expected: Sequence[Any], found: Sequence[Any]) -> None:
        """Compare results case by case."""
        self.compared += len(cases)
        assert len(cases) == len(expected) == len(found), f"{self.what}: a result is missing"
        if expected == found:
            return
        for case, want, have in zip(cases, expected, found, strict=True):
            if want != have:
                self.differ(case, want, have)

    def differ(self, case: Any, want: Any, have: Any) -> None:
        """Note a difference."""
        self.differing += 1
        if len(self.shown) < SHOWN:
            self.shown.append(f"{_short(case)}: expected {_short(want)}, got {_short(have)}")

    def __str__(self) -> str:
        lines = [f"{self.what}: {self.compared:,} compared, {self.differing:,} differ"]
        return "\n    ".join(lines + self.shown)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:200]} ... {text[-80:]}"


def settle(title: str, tallies: Iterable[Tally]) -> None:
    """Print tallies; fail if one differs, or if anything was not compared at all."""
    done = list(tallies)
    print("\n".join([title, *map(str, done)]), flush=True)
    assert done, f"{title}: nothing was compared"
    for tally in done:
        assert tally.compared > 0, f"{title}: nothing was compared\n{tally}"
        assert tally.differing == 0, f"{title}\n{tally}"
