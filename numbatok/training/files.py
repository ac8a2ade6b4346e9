"""Files as sources of text: plain, JSON Lines or Parquet, compressed or not."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Union

from numbatok.errors import InvalidSource, InvalidType, InvalidValue
from numbatok.training.blocks import Block
from numbatok.training.opening import COMPRESSED, Opened, open_file
from numbatok.training.records import parquet_blocks, record_blocks
from numbatok.training.splitting import line_blocks, separated_blocks, whole_blocks

Format = Literal["text", "jsonl", "parquet"]
FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


class Files:
    """Files to read documents from.

    Args:
        paths: a path, a folder (all files in it), a glob pattern, or several of those. The order
            is theirs; inside a folder or pattern it is by name.
        format: "text", "jsonl" (JSON Lines) or "parquet"; by the name's ending if None, which may
            be followed by .gz, .bz2, .xz or .zst.
        split: what is a document of a text file: "whole", or "lines", each with its line feed.
        separator: what stands between documents of a text file and belongs to none; instead of
            `split`.
        field: the field or column that holds the text of jsonl and parquet.
        nulls: "error" or "skip" where that is null.

    Raises:
        InvalidType, InvalidValue: an argument is none of those.
        InvalidSource: there is no such file. Reading raises it for a file that is damaged, has
            become shorter or has gone, naming the file and the place.
    """

    def __init__(
        self,
        paths: Union[str, Path, Iterable[Union[str, Path]]],
        *,
        format: Format | None = None,
        split: Literal["whole", "lines"] = "whole",
        separator: str | bytes | None = None,
        field: str = "text",
        nulls: Literal["error", "skip"] = "error",
    ) -> None:
        _choose("format", format, (None, "text", "jsonl", "parquet"))
        _choose("split", split, ("whole", "lines"))
        _choose("nulls", nulls, ("error", "skip"))
        if separator is not None and (not separator or split != "whole"):
            raise InvalidValue(
                f"separator is {separator!r} with split={split!r}; a separator is not empty and "
                "goes with split='whole'"
            )
        self._paths = find_files(paths)
        self._format, self._split, self._field, self._nulls = format, split, field, nulls
        self._separator = separator.encode() if isinstance(separator, str) else separator
        status = [_status(path) for path in self._paths]
        self.n_bytes: int | None = sum(size for size, _ in status)
        files = [
            [str(path.resolve()), size, changed]
            for path, (size, changed) in zip(self._paths, status, strict=True)
        ]
        options = [format, split, repr(self._separator), field, nulls]
        self.identity: list[Any] | None = [files, options]
        self._n_done = 0
        self._opened: Opened | None = None

    def blocks(self) -> Iterator[Block]:
        """Yield all files from the start of the first."""
        self._n_done = 0
        for path in self._paths:
            with open_file(path) as opened:
                self._opened = opened
                yield from self._blocks_of(opened)
                self._opened = None
                self._n_done += opened.size

    def position(self) -> int:
        """Return how many of n_bytes are read."""
        return self._n_done + (0 if self._opened is None else self._opened.position())

    def _blocks_of(self, opened: Opened) -> Iterator[Block]:
        kind = self._format or format_of(opened.path)
        if kind == "parquet":
            return parquet_blocks(opened, self._field, self._nulls == "skip")
        if kind == "jsonl":
            return record_blocks(opened, self._field, self._nulls == "skip")
        if self._separator is not None:
            return separated_blocks(opened.chunks(), self._separator)
        return (whole_blocks if self._split == "whole" else line_blocks)(opened.chunks())

    def __repr__(self) -> str:
        return f"Files({len(self._paths)} files, {self.n_bytes:,} bytes)"


def format_of(path: Path) -> Format:
    """Return the format that a file's name tells."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in COMPRESSED:
        endings.pop()
    return FORMATS.get(endings[-1], "text") if endings else "text"


def find_files(paths: Union[str, Path, Iterable[Union[str, Path]]]) -> Sequence[Path]:
    """Return the files that paths, folders and glob patterns name. Errors: as in Files."""
    if isinstance(paths, (str, Path)):
        return _find(paths)
    found: list[Path] = []
    for number, path in enumerate(paths):
        if not isinstance(path, (str, Path)):
            raise InvalidType(f"item {number} is {path!r:.60} ({type(path).__name__}), not a path")
        found += _find(path)
    if not found:
        raise InvalidValue("paths is empty; name at least one file")
    return found


def _find(path: str | Path) -> list[Path]:
    if os.path.isdir(path):
        inside = sorted(p for p in Path(path).rglob("*") if p.is_file())
        if not inside:
            raise InvalidSource(f"folder {str(path)!r} holds no files")
        return inside
    if os.path.exists(path):
        if stat.S_ISFIFO(os.stat(path).st_mode):
            raise InvalidSource(
                f"{str(path)!r} is a pipe, whose end nobody knows; pass its lines: open(...)"
            )
        return [Path(path)]
    found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
    found = [name for name in found if name.is_file()]
    if not found:
        raise InvalidSource(
            f"no file is called or matches {str(path)[:200]!r}; to train on a text pass [text]"
        )
    return found


def _status(path: Path) -> tuple[int, int]:
    """Return size and time of the last change."""
    try:
        status = path.stat()
    except OSError as error:
        raise InvalidSource(f"{path} cannot be read: {error}") from error
    return status.st_size, status.st_mtime_ns


def _choose(name: str, value: object, choices: Sequence[object]) -> None:
    if value not in choices:
        raise InvalidValue(f"{name} is {value!r}; use one of {', '.join(map(repr, choices))}")
