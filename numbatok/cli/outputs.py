"""What commands write: standard output, or a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from numbatok.errors import InvalidValue


@contextlib.contextmanager
def whole_file(path: str | None, overwrite: bool) -> Iterator[BinaryIO]:
    """Open an output for bytes; None and `-` are standard output.

    A file is written under another name beside the final one and renamed when the block ends
    without an error; otherwise nothing of it stays. What is no regular file, such as a pipe or
    /dev/null, is written directly.

    Errors: InvalidValue if the file exists and may not be overwritten, OSError.
    """
    if path in (None, "-"):
        yield _standard_output()
        return
    assert path is not None
    final = os.path.realpath(path)
    if os.path.exists(final):
        if not os.path.isfile(final):
            with open(final, "wb") as file:
                yield file
            return
        if not overwrite:
            raise InvalidValue(f"{path} exists; pass --overwrite to replace it")
    partial = f"{final}.{os.getpid()}.partial"
    try:
        with open(partial, "xb") as file:
            yield file
        os.replace(partial, final)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise


def _standard_output() -> BinaryIO:
    return sys.stdout.buffer


def refuse_terminal(path: str | None, what: str) -> None:
    """Refuse to write bytes that are no text to a terminal."""
    if path in (None, "-") and sys.stdout.isatty():
        raise InvalidValue(f"{what} is not written to a terminal; pass -o FILE or use a pipe")


def print_line(line: str) -> None:
    """Print a line; a file name that is no text keeps its bytes."""
    sys.stdout.flush()
    sys.stdout.buffer.write(line.encode("utf-8", errors="surrogateescape") + b"\n")
