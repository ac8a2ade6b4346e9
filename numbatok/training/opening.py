"""A file as chunks of bytes, decompressed; every way it can fail becomes a InvalidSource."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from numbatok.errors import InvalidSource
from numbatok.tables import U8
from numbatok.training.blocks import BLOCK_BYTES

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError)  # what decompressing damaged data raises


class Opened:
    """An open file."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path, self.file = path, file
        self.size = os.fstat(file.fileno()).st_size  # on the disk
        self._is_compressed = path.suffix.lower() in COMPRESSED

    def position(self) -> int:
        """Return how many bytes are read from the disk."""
        return self.size if self.file.closed else min(self.file.tell(), self.size)

    def stream(self) -> BinaryIO:
        """Return the content as a file object."""
        ending = self.path.suffix.lower()
        opening: Any = {".gz": gzip.GzipFile, ".bz2": bz2.BZ2File, ".xz": lzma.LZMAFile}
        if ending == ".gz":
            return cast("BinaryIO", gzip.GzipFile(fileobj=self.file))
        if ending == ".zst":
            import pyarrow  # the standard library has zstd from Python 3.14 on

            return cast("BinaryIO", pyarrow.CompressedInputStream(self.file, "zstd"))
        return cast("BinaryIO", opening[ending](self.file)) if ending in opening else self.file

    def chunks(self) -> Iterator[U8]:
        """Yield the content, at most BLOCK_BYTES at a time. Errors: InvalidSource."""
        stream, n_read = self.stream(), 0
        while True:
            try:
                data = stream.read(BLOCK_BYTES)
            except DAMAGE as error:
                raise self.damaged(f"after {n_read:,} bytes: {error}") from error
            if not data:
                break
            n_read += len(data)
            yield np.frombuffer(data, np.uint8)
        if not self._is_compressed:
            self.check_length(n_read)

    def check_length(self, n_read: int) -> None:
        """Refuse a file that has become shorter since it was opened."""
        if n_read < self.size:
            raise self.damaged(
                f"it became shorter while it was read: {n_read:,} of {self.size:,} bytes"
            )

    def damaged(self, why: str) -> InvalidSource:
        """Return the error of a file that cannot be read to its end."""
        return InvalidSource(f"{self.path} cannot be read, {why}")


@contextmanager
def open_file(path: Path) -> Iterator[Opened]:
    """Open a file. Errors: InvalidSource."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise InvalidSource(f"{path} cannot be read: {error}") from error
    with file:
        yield Opened(path, file)
