"""Where compiled kernels and table images are kept, and how a file appears there: whole or not.

NUMBATOK_CACHE_DIR, else the platform's cache folder. When nothing is writable everything works in
memory: no function here raises because of the disk.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path


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
