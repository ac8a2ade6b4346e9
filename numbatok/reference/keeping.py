"""Keeping what was made of a tokenizer, which is too large to be made again for every text."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar

Source = TypeVar("Source")
Made = TypeVar("Made")

KEPT = 4
"""Number of tokenizers whose tables stay."""


def kept_for_last(make: Callable[[Source], Made]) -> Callable[[Source], Made]:
    """Let a function of one argument keep its results for the last few objects.

    An object is known by its identity, because a specification is frozen but holds dictionaries,
    which cannot be hashed; it is held as long as its result. Threads may call it at once.
    """
    kept: dict[int, tuple[Source, Made]] = {}
    lock = Lock()

    @wraps(make)
    def look_up(source: Source) -> Made:
        found = kept.get(id(source))
        if found is None:
            found = source, make(source)
            with lock:
                while len(kept) >= KEPT:
                    del kept[next(iter(kept))]
                kept[id(source)] = found
        return found[1]

    return look_up
