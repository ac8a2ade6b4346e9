"""What commands read: files, patterns, standard input, whole or by line."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from numbatok.errors import InvalidValue

BATCH_BYTES = 8 << 20  # enough for all cores, little enough to stay in memory and to report
BATCH_TEXTS = 1 << 16


@dataclass(frozen=True)
class Document:
    """A text and where it came from; `line` counts from 1, or is None for a whole file."""

    source: str
    line: int | None
    data: bytes

    @property
    def place(self) -> str:
        """The place as messages call it."""
        return self.source if self.line is None else f"{self.source}, line {self.line}"


def find_files(patterns: Iterable[str]) -> list[str]:
    """Return the files that arguments name; `-` is standard input, which no argument means too.

    Errors: InvalidValue for a pattern without a match, IsADirectoryError.
    """
    found: list[str] = []
    for pattern in patterns:
        if pattern == "-" or os.path.lexists(pattern) or not glob.has_magic(pattern):
            found.append(pattern)
            continue
        matches = sorted(glob.glob(pattern, recursive=True))
        files = [path for path in matches if not os.path.isdir(path)]
        if not files:
            raise InvalidValue(f"no file matches {pattern!r}")
        found += files
    return found or ["-"]


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """Open a file, or standard input for `-`."""
    if path != "-":
        with open(path, "rb") as file:
            yield file
        return
    if sys.stdin.isatty() and sys.stderr is not None:
        end = "Ctrl-Z, Enter" if os.name == "nt" else "Ctrl-D"
        print(f"numbatok: reading standard input; end it with {end}", file=sys.stderr)
    yield sys.stdin.buffer


def documents(paths: Iterable[str], by_line: bool) -> Iterator[Document]:
    """Yield every file as a document, or every line of every file, without its line feed."""
    for path in paths:
        source = "standard input" if path == "-" else path
        with opened(path) as file:
            if not by_line:
                yield Document(source, None, file.read())
                continue
            for number, line in enumerate(file, 1):
                yield Document(source, number, line.removesuffix(b"\n"))


def batches(texts: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield documents in groups of about BATCH_BYTES."""
    group: list[Document] = []
    n_bytes = 0
    for document in texts:
        group.append(document)
        n_bytes += len(document.data)
        if n_bytes >= BATCH_BYTES or len(group) >= BATCH_TEXTS:
            yield group
            group, n_bytes = [], 0
    if group:
        yield group
