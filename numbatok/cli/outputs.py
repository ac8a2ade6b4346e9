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

    A file appears under its name when the block ends without an error; otherwise nothing of it
    stays. What is no regular file, such as a pipe or /dev/null, is written directly.

    Errors: InvalidValue if the file exists and may not be overwritten, OSError.
    """
    if path is None or path == "-":
        yield _standard_output()
    elif os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
    else:
        with whole_path(path, overwrite) as partial, open(partial, "xb") as file:
            yield file


@contextlib.contextmanager
def whole_path(path: str, overwrite: bool) -> Iterator[str]:
    """Give the name, beside `path` and with its ending, of a file that is renamed to it at the end.

    Errors: InvalidValue if `path` exists and may not be overwritten, OSError.
    """
    if os.path.exists(path) and not overwrite:
        raise InvalidValue(f"{path} exists; pass --overwrite to replace it")
    final = os.path.realpath(path)
    stem, ending = os.path.splitext(final)
    partial = f"{stem}.{os.getpid()}.partial{ending}"
    try:
        yield partial
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
