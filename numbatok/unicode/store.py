"""Reads the data files that `data/build_unicode.py` writes.

A file is one zlib stream (its checksum guards the content) of a line of JSON and then the arrays
that the line's "arrays" names as [dtype, length], little-endian. The line and each array are padded
with zero bytes to a multiple of 8. A table over all code points is stored as runs: either the value
and the length of each run, or for a set the lengths of the runs outside and inside it by turns.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import NumbatokError

FOLDER = Path(__file__).resolve().parent.parent / "data"


class Content(NamedTuple):
    """What a data file holds."""

    header: dict[str, Any]  # versions and names
    arrays: dict[str, NDArray[Any]]  # 1-d, contiguous, read-only


def read(name: str) -> Content:
    """Read the data file `name` of the package.

    Errors: NumbatokError if it is missing or damaged, which only a broken installation can
    bring about.
    """
    path = FOLDER / name
    try:
        content = zlib.decompress(path.read_bytes())
    except (OSError, zlib.error) as error:
        raise NumbatokError(
            f"the Unicode table {path} cannot be read ({error}); reinstall numbatok"
        ) from error
    line, _, _ = content.partition(b"\n")
    header = json.loads(line)
    arrays = {}
    position = _padded(len(line) + 1)
    for key, (dtype, length) in header.pop("arrays").items():
        arrays[key] = np.frombuffer(content, dtype, length, position)
        position += _padded(arrays[key].nbytes)
    return Content(header, arrays)


def _padded(length: int) -> int:
    return -(-length // 8) * 8


def table_of_runs(values: NDArray[Any], lengths: NDArray[np.uint32]) -> NDArray[Any]:
    """Return the read-only table over all code points whose runs are given."""
    table = np.repeat(values, lengths)
    table.flags.writeable = False
    return table


def set_of_runs(lengths: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return bool[CODE_POINTS], read-only: true in every second run."""
    return table_of_runs(np.arange(lengths.size) % 2 == 1, lengths)
