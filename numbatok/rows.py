"""The texts of a batch as one array of bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numbatok import parallel
from numbatok.built_in import built_in, is_possible, make_frame
from numbatok.pages import lend
from numbatok.policy import Invalid, check_rows, rows_to_bytes
from numbatok.tables import CALL_LONGEST, CALL_WHY, I64, U8

LONGEST = 1 << 62


def join(texts: object, invalid: Invalid) -> tuple[U8, NDArray[np.int64]]:
    """Return the UTF-8 of an iterable of texts one after the other, and where each ends.

    uint8[n], int64[n_rows]. Errors: InvalidType and InvalidUtf8, which name the row.
    """
    rows = list(check_rows(texts))  # another thread may change a list of the caller's
    places = _places(rows) if invalid in ("byte-alphabet", "punct") else None
    if places is None:
        data = rows_to_bytes(rows, invalid)
        sizes = np.fromiter(map(len, data), np.int64, len(data))
        return np.frombuffer(b"".join(data), np.uint8), np.cumsum(sizes)
    ends = np.cumsum(places[1])
    size = int(ends[-1]) if rows else 0
    lent = lend(size)
    text = np.empty(size, np.uint8) if lent is None else lent
    parallel.call_rows("join_rows", _shares(places, ends, text))
    return text, ends


def _shares(places: I64, ends: I64, text: U8) -> NDArray[np.int64]:
    """Return the arguments with which each thread copies about as many bytes."""
    n_parts = parallel.n_parts(text.size)
    targets = text.size * np.arange(1, n_parts, dtype=np.int64) // n_parts
    bounds = np.concatenate([[0], np.searchsorted(ends, targets), [len(ends)]])
    shares = np.zeros((n_parts, 9), np.int64)
    shares[:, 0] = places[0].ctypes.data + 8 * bounds[:-1]
    shares[:, 1] = places[1].ctypes.data + 8 * bounds[:-1]
    shares[:, 2] = np.diff(bounds)
    shares[:, 3] = text.ctypes.data + np.append(0, ends)[bounds[:-1]]
    return shares


def _places(rows: list[Any]) -> I64 | None:
    """Return addresses and sizes of the rows, int64[2, n], or None if some are of another kind."""
    if not is_possible():
        return None
    list_rows, frame = _lister()
    places = np.empty((2, len(rows)), np.int64)
    list_rows(rows, places)
    return places if frame[CALL_WHY] == -1 else None


@cache
def _lister() -> tuple[Callable[[list[Any], I64], None], I64]:
    frame = make_frame()
    frame[CALL_LONGEST] = LONGEST
    return built_in("list_rows", frame), frame
