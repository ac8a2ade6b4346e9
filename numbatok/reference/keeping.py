"""Keeping what was made of a tokenizer, which is too large to be made again for every text."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Source = TypeVar("Source")
Made = TypeVar("Made")

KEPT = 4
"""Number of tokenizers whose tables stay."""


def kept_for_last(make: Callable[[Source], Made]) -> Callable[[Source], Made]:
    """Let a function of one argument keep its results for the last few objects.

    An object is known by its identity, because a specification is frozen but holds dictionaries,
    which cannot be hashed; it is held as long as its result.
    """
    kept: dict[int, tuple[Source, Made]] = {}

    @wraps(make)
    def look_up(source: Source) -> Made:
        if id(source) not in kept:
            made = make(source)
            while len(kept) >= KEPT:
                del kept[next(iter(kept))]
            kept[id(source)] = (source, made)
        return kept[id(source)][1]

    return look_up
