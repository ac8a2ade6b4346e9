"""Where compiled kernels and table images are kept, and how a file appears there: whole or not.

NUMBATOK_CACHE_DIR, else the platform's cache folder. When nothing is writable everything works in
memory: no function here raises because of the disk.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

SILENT_WAIT = 2.0  # seconds after which a wait is announced
LONGEST_WAIT = 120.0  # seconds; a holder that was stopped must not stop the others


def cache_directory() -> Path:
    """Return the folder for cached files; it need not exist or be writable."""
    chosen = os.environ.get("NUMBATOK_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "numbatok"


def write_atomically(path: Path, parts: list[bytes | memoryview]) -> bool:
    """Write a file under another name and rename it; return whether that worked."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
    return True


@contextlib.contextmanager
def one_at_a_time(path: Path, announce: Callable[[], None]) -> Iterator[None]:
    """Let one process at a time into the block, so that sixteen do not compile the same thing.

    `announce` is called once if that takes long. The lock is the file `path` with `.lock` added;
    the system drops it when its holder dies. Where there are no locks or nothing is writable, and
    after LONGEST_WAIT, the block runs all the same.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path.with_name(path.name + ".lock"), "ab")  # noqa: SIM115
    except OSError:
        yield
        return
    with file:
        _wait_for(file, announce)
        yield


def _wait_for(file: IO[bytes], announce: Callable[[], None]) -> None:
    started, announced = time.monotonic(), False
    while not _lock(file) and (waited := time.monotonic() - started) < LONGEST_WAIT:
        if waited > SILENT_WAIT and not announced:
            announced = True
            announce()
        time.sleep(0.05)


def _lock(file: IO[bytes]) -> bool:
    """Lock a file if nobody else has; True also where files cannot be locked."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except (ImportError, OSError):
        return True
    return True
