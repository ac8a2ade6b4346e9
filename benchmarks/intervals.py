"""Medians with bootstrap intervals, and the order in which rivals run."""

import random
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple, TypeVar

T = TypeVar("T")
RESAMPLES = 1000


class Interval(NamedTuple):
    """A median and the middle 95 % of the medians of its resamples."""

    median: float
    low: float
    high: float


def interval(values: Sequence[float]) -> Interval:
    """Return the median of values and its bootstrap interval, seeded: same values, same result."""
    dice = random.Random(0)
    medians = sorted(median(dice.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return Interval(median(values), medians[RESAMPLES // 40], medians[-RESAMPLES // 40 - 1])


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """Return how many times `ours` is `theirs`, pass by pass.

    Where one of them ran in fewer passes, only the passes that both ran count.
    """
    return interval([a / b for a, b in zip(ours, theirs, strict=False)])


def abba(rivals: Sequence[T], rounds: int) -> list[list[T]]:
    """Return the order of the rivals in each pass: forward and back in every round.

    A slow drift of the machine then weighs on the first and the last alike.
    """
    forward = list(rivals)
    return [forward, forward[::-1]] * rounds
