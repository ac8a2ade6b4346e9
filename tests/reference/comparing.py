"""Comparing two implementations: every comparison is counted, and none at all is a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Case = TypeVar("Case")


def differences(
    cases: Iterable[Case], expected: Callable[[Case], Any], found: Callable[[Case], Any]
) -> tuple[int, list[str]]:
    """Return how many cases were compared, and a line for each of the first that differ."""
    count, lines = 0, []
    for case in cases:
        count += 1
        want, have = expected(case), found(case)
        if want != have and len(lines) < 5:
            lines.append(f"{case!r}: expected {want!r}, found {have!r}")
    return count, lines


def assert_equal(
    what: str,
    cases: Iterable[Case],
    expected: Callable[[Case], Any],
    found: Callable[[Case], Any],
) -> int:
    """Fail if any case differs or there is none; print and return the number of cases."""
    count, lines = differences(cases, expected, found)
    print(f"{what}: {count} compared")
    assert count > 0, f"{what}: nothing was compared"
    assert not lines, f"{what}:\n" + "\n".join(lines)
    return count
