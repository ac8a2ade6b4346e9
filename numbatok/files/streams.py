"""Compressed or plain files as streams of bytes."""

from __future__ import annotations

import io
import lzma
import os
import select
import sys
import zlib
from types import TracebackType
from typing import IO, Any

from numbatok.errors import InvalidSource
from numbatok.files.sources import STANDARD_INPUT, Source

SKIP_BYTES = 1 << 22


class ByteStream:
    """The decompressed bytes of a file.

    Errors of every call: InvalidSource for a file that is cut short or damaged, OSError.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        standard = source.path == STANDARD_INPUT
        self._file: IO[bytes] = (
            _standard_input() if standard else open(source.path, "rb")  # noqa: SIM115
        )
        self._stream = _decompressed(self._file, source.compression)
        self.at = 0  # decompressed bytes that were read

    def read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end."""
        data = bytearray(size)
        return bytes(memoryview(data)[: self.read_into(data)])

    def read_into(self, room: Any) -> int:
        """Fill a buffer of bytes, or less of it at the end; return how many there are."""
        view, done = memoryview(room), 0
        try:
            while done < len(view) and (size := self._stream.readinto(view[done:])):
                done += size
            if done == self.at == 0 and self._is_empty():
                raise EOFError("the file is empty")
        except (EOFError, lzma.LZMAError, zlib.error, ValueError, OSError) as error:
            self.at += done
            raise self._damaged(error) from error
        self.at += done
        return done

    def skip_to(self, position: int) -> None:
        """Go forward to a decompressed position."""
        if self._source.compression is None and self._file.seekable():
            self.at = self._stream.seek(position)
        while self.at < position:
            if not self.read(min(SKIP_BYTES, position - self.at)):
                raise InvalidSource(
                    f"{self._source.path} ends at byte {self.at}, before byte {position}"
                )

    def position_in_file(self) -> int:
        """Return how many bytes of the file itself were used, for progress."""
        return self._file.tell() if self._file.seekable() else 0

    def _is_empty(self) -> bool:
        """Tell whether a compressed file has no byte at all: even nothing takes some."""
        if self._source.compression is None or not self._file.seekable():
            return False
        return self._file.tell() == 0

    def _damaged(self, error: Exception) -> Exception:
        if self._source.compression is None or getattr(error, "errno", None) is not None:
            return error
        return InvalidSource(
            f"{self._source.path}: the {self._source.compression} data is cut short or damaged "
            f"after {self.at} decompressed bytes: {error}"
        )

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._source.path != STANDARD_INPUT:
            self._file.close()


def _standard_input() -> Any:
    """Return standard input, without its buffer where a read may wait."""
    buffer = sys.stdin.buffer
    try:
        if os.name != "posix" or buffer.seekable():  # Windows selects sockets only
            return buffer
        return _Pipe(buffer, buffer.fileno())
    except (AttributeError, OSError):  # an object that was put in its place
        return buffer


class _Pipe(io.RawIOBase):
    """What a buffered object has read already, then what its file descriptor gives.

    A thread that waits in a read of the buffered object holds its lock, and Python aborts if
    standard input is locked when it ends.
    """

    def __init__(self, buffer: Any, descriptor: int) -> None:
        self._buffer, self._descriptor = buffer, descriptor
        self._first: io.BytesIO | None = None
        self._raw = io.FileIO(descriptor, closefd=False)

    def readinto(self, room: Any) -> int | None:
        """Fill a buffer with what there is, at least a byte; return how many, 0 at the end."""
        select.select([self._descriptor], [], [])  # the lock is held for no wait
        if self._first is None:
            self._first = io.BytesIO(self._buffer.read1())
        return self._first.readinto(room) or self._raw.readinto(room)


def _decompressed(file: IO[bytes], compression: str | None) -> Any:
    """Return a stream to read from.

    gzip, bz2 and zstd are pyarrow's: it checks their checksums, knows files of several members,
    and Python before 3.14 has no zstd. It has no xz.
    """
    if compression is None:
        return file
    if compression == "xz":
        return lzma.open(file)
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(file, "r"), compression)
