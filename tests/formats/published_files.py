"""The published files that tests compare with, unpacked once per process."""

from __future__ import annotations

import lzma
import os
from functools import lru_cache
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("NUMBATOK_SHARED", Path(__file__).resolve().parents[3] / "shared"))
VOCABS = SHARED / "vocabs"


@lru_cache(maxsize=4)
def vocab_bytes(name: str, file: str) -> bytes:
    """The bytes of a file of ../shared/vocabs; skips the test where the folder is absent."""
    path = VOCABS / name / f"{file}.xz"
    if not path.exists():
        pytest.skip(f"{path} is absent (set NUMBATOK_SHARED to the folder that has vocabs/)")
    return lzma.decompress(path.read_bytes())
