"""Paths, globs and folders -> the files to read, in order."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Union

from numbatok.errors import InvalidSource, InvalidType, InvalidValue

Sources = Union[str, os.PathLike[str], Iterable[Union[str, os.PathLike[str]]]]
KINDS = {
    ".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "jsonl", ".txt": "text", ".text": "text", ".md": "text",
}  # fmt: skip
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2", ".xz": "xz"}
IN_FOLDERS = (".parquet", ".pq", ".jsonl", ".ndjson", ".txt")  # the names a folder is searched for
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Source:
    """A file to read."""

    path: str
    kind: str  # "parquet", "jsonl" or "text"
    compression: str | None
    size: int  # bytes of the file
    modified: int  # nanoseconds

    def as_json(self) -> dict[str, Any]:
        """Return what the manifest keeps, by which a changed input is known."""
        return asdict(self)


def find_sources(sources: Sources, input_format: str | None) -> list[Source]:
    """Return the files that paths, globs and folders stand for, each glob and folder sorted.

    Errors: InvalidSource for what does not exist, matches nothing or is of no known kind.
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    if not isinstance(sources, Iterable) or isinstance(sources, (bytes, bytearray)):
        raise InvalidType(f"sources is {sources!r:.60}; a path or a list of paths is needed")
    found = [
        _source(path, input_format)
        for pattern in sources
        for path in _paths(os.fspath(pattern), input_format)
    ]
    if not found:
        raise InvalidValue("sources is empty; at least one path is needed")
    return found


def is_pipe(path: str) -> bool:
    """Tell whether a path is a named pipe, or a shell's <(...): it can be read once."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _paths(pattern: str, input_format: str | None) -> list[str]:
    if pattern == STANDARD_INPUT or os.path.isfile(pattern) or is_pipe(pattern):
        return [pattern]
    if os.path.isdir(pattern):
        inside = sorted(str(path) for path in Path(pattern).rglob("*") if path.is_file())
        chosen = [path for path in inside if _is_wanted(path, pattern, input_format)]
        if not chosen:
            raise InvalidSource(
                f"the folder {pattern} has no file named {', '.join('*' + s for s in IN_FOLDERS)}; "
                "pass a glob such as folder/*.log and input_format="
            )
        return chosen
    matches = sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    if not matches and os.path.exists(pattern):
        raise InvalidSource(
            f"{pattern} is no file, folder or pipe; read it with `-` and a redirect"
        )
    if not matches:
        raise InvalidSource(f"{pattern} does not exist, and matches no file as a glob")
    return matches


def _is_wanted(path: str, folder: str, input_format: str | None) -> bool:
    """Tell whether a file of a folder is data: of a known kind and not hidden or marked."""
    inside = os.path.relpath(path, folder).split(os.sep)
    if any(part.startswith((".", "_")) for part in inside):
        return False
    suffix = os.path.splitext(_without_compression(path))[1].lower()
    return suffix in IN_FOLDERS and input_format in (None, KINDS[suffix])


def _without_compression(path: str) -> str:
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in COMPRESSIONS else path


def _source(path: str, input_format: str | None) -> Source:
    suffix = os.path.splitext(_without_compression(path))[1].lower()
    kind = input_format or KINDS.get(suffix)
    if kind is None:
        raise InvalidSource(
            f"{path}: the kind of a file named {suffix or 'without a suffix'} is not known; pass "
            "input_format='parquet', 'jsonl' or 'text'"
        )
    if path == STANDARD_INPUT:
        return Source(path, kind, None, 0, 0)
    compression = COMPRESSIONS.get(os.path.splitext(path)[1].lower())
    if is_pipe(path):
        if kind == "parquet":
            raise InvalidSource(
                f"{path} is a pipe, but Parquet is read from its end; save it first"
            )
        return Source(path, kind, compression, 0, 0)
    status = os.stat(path)
    return Source(path, kind, compression, status.st_size, status.st_mtime_ns)
