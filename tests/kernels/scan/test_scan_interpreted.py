"""The scans as plain Python give the same pretokens: no integer depends on the compiler.

A process of its own, with NUMBA_DISABLE_JIT=1 and every warning an error: a NumPy scalar that wraps
unseen would warn.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

from numbatok.pattern import PATTERNS
from tests.conftest import ROOT
from tests.kernels.scan.scan_cutter import Cutter
from tests.reference.hard_texts import NASTY, REPRESENTATIVES

PROGRAM = """
import json
from tests.kernels.scan.test_scan_interpreted import ends_of_all
print(json.dumps(ends_of_all()))
"""


def texts() -> list[bytes]:
    chance = random.Random(29)
    found = ["\x00".join(NASTY).encode(), b"a\n" + b" " * 200 + b"\n b", "中".encode() * 30]
    for _ in range(12):
        parts = chance.choices(REPRESENTATIVES, k=30)
        found.append("".join(part * chance.choice((1, 1, 2, 9)) for part in parts).encode())
    return [*found, bytes(range(256))]


def ends_of_all() -> dict[str, list[list[int]]]:
    found = {}
    for name, pattern in PATTERNS.items():
        cut = Cutter(pattern, segment=128)
        found[name] = [each for text in texts() for each in (cut.by_masks(text), cut.by_twin(text))]
    return found


def test_every_family_interpreted():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]

    compiled = ends_of_all()
    print(f"{sum(map(len, compiled.values()))} cuttings compared")
    assert json.loads(done.stdout) == compiled
    assert len(compiled) == len(PATTERNS)
