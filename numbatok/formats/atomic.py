"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable
from pathlib import Path


def own_path(path: Path, suffix: str) -> Path:
    """Return a name beside a file that no other process or thread uses."""
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.{suffix}")


def write_whole(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file under another name beside it, flush it to the disk, and rename it.

    Raises:
        OSError: the folder is missing or read-only, the disk is full; what was there stays.
    """
    target = Path(path)
    temporary = own_path(target, "tmp")
    try:
        with temporary.open("xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
