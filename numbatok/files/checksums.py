"""SHA-256 of files, also of one that is still being written."""

from __future__ import annotations

import hashlib
from pathlib import Path

READ_AT_ONCE = 1 << 20


class Checksum:
    """The SHA-256 of a file that only grows: of what is there so far."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0
        self._hash, self._buffer = hashlib.sha256(), bytearray(READ_AT_ONCE)

    def follow(self) -> None:
        """Take in what was appended, if there is a file. Errors: OSError."""
        try:
            with open(self._path, "rb", buffering=0) as file:
                file.seek(self._at)
                while size := file.readinto(self._buffer):
                    self._hash.update(memoryview(self._buffer)[:size])
                    self._at += size
        except FileNotFoundError:
            return

    def hexdigest(self) -> str:
        """Return 64 hexadecimal digits for the file as it is now. Errors: OSError."""
        self.follow()
        return self._hash.hexdigest()


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits. Errors: OSError."""
    return Checksum(path).hexdigest()
