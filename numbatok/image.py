"""Tables on disk: built once, read by every later process.

One file per tokenizer, named by the digest of its source: a header (magic, size and checksum of
the description), the description as JSON (versions, the spec without its model, name, dtype and
place of every array), then the arrays, each on a cache line. A file that is damaged, cut short or
of another version is not an error: the tables are built again.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import struct
import zlib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np

from numbatok.cache import cache_directory, write_atomically
from numbatok.memory import LINE, arrays_of
from numbatok.spec import TokenizerSpec
from numbatok.spec_json import from_json, to_json
from numbatok.tables import Tables

MAGIC = b"numbatok"
FORMAT = 9  # raise it whenever the meaning of a table changes
HEADER = struct.Struct("<8sIIQI")  # magic, format, length of description, of arrays, checksum


class Image(NamedTuple):
    """What a table image holds."""

    spec: TokenizerSpec  # without the model's vocabulary and merges
    tables: Tables


def image_path(digest: str) -> Path:
    """Return where the image of a source is kept."""
    return cache_directory() / "tables" / f"{digest[:40]}-{FORMAT}.tables"


def save_image(digest: str, spec: TokenizerSpec, tables: Tables) -> bool:
    """Write an image; return whether that worked: a full or read-only disk is no error."""
    arrays = arrays_of(tables)
    description = json.dumps(
        {
            "digest": digest,
            "spec": to_json(spec),
            "arrays": [[str(a.dtype), a.size] for a in arrays],
        }
    ).encode()
    parts: list[bytes | memoryview] = [b"", description]
    checksum, n_bytes = zlib.crc32(description), 0
    at = HEADER.size + len(description)
    for array in arrays:
        gap = bytes(-at % LINE)
        data = np.ascontiguousarray(array).view(np.uint8).data
        parts += [gap, data]
        checksum = zlib.crc32(data, zlib.crc32(gap, checksum))
        n_bytes += len(gap) + len(data)
        at += len(gap) + len(data)
    parts[0] = HEADER.pack(MAGIC, FORMAT, len(description), n_bytes, checksum)
    return write_atomically(image_path(digest), parts)


def open_image(digest: str) -> Image | None:
    """Return the image of a source, or None if there is none that can be used."""
    path = image_path(digest)
    try:
        return _read(path, digest)
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def _read(path: Path, digest: str) -> Image:
    with open(path, "rb") as file:
        # mapped, not read: 34 MB of pages that the system has are there in 1 ms, and every process
        # shares them. The file is only ever replaced as a whole.
        content = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    magic, version, n_description, n_arrays, checksum = HEADER.unpack_from(content.data)
    first = HEADER.size + n_description
    if (magic, version) != (MAGIC, FORMAT) or content.size != first + n_arrays:
        raise ValueError("another format, or cut short")
    if zlib.crc32(content.data[HEADER.size :]) != checksum:
        raise ValueError("damaged")
    description = json.loads(bytes(content[HEADER.size : first]))
    if description["digest"] != digest:
        raise ValueError("of another source")
    arrays, at = [], first
    for dtype, count in description["arrays"]:
        at += -at % LINE
        end = at + count * np.dtype(dtype).itemsize
        arrays.append(content[at:end].view(dtype))
        at = end
    remaining = iter(arrays)
    tables = _fill(Tables, remaining)
    if next(remaining, None) is not None:
        raise ValueError("too many arrays")
    return Image(from_json(description["spec"]), tables)


@cache
def _hints(layout: Any) -> list[Any]:
    """Return the types of a NamedTuple's fields: 3 ms for all tables, once."""
    return list(get_type_hints(layout).values())


def _fill(layout: Any, arrays: Any) -> Any:
    """Return a NamedTuple of arrays, nested ones included, checked against its declared dtypes."""
    parts = []
    for hint in _hints(layout):
        if hasattr(hint, "_fields"):
            parts.append(_fill(hint, arrays))
            continue
        array = next(arrays, None)
        if array is None or array.dtype != np.dtype(get_args(get_args(hint)[1])[0]):
            raise ValueError("arrays of another layout")
        parts.append(array)
    return layout(*parts)
