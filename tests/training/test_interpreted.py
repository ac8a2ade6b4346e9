"""The trainer's kernels as plain Python learn the same: no integer depends on the compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numbatok

PROGRAM = """
import json, sys
import numpy as np
from numbatok.training import pretokens, train_with_report
from numbatok.training.counting import Counter
from numbatok.training.table import CountTable
texts = ["the cat's hat and that cat " * 9 + "antidisestablishmentarianism ", "aaaa aaaaa", "é本"]
results = []
for ties in ("huggingface", "minbpe"):
    tokenizer, report = train_with_report(texts, 285, ties=ties, progress=False)
    longer, other = train_with_report(texts, 300, ties=ties, start_from=tokenizer, progress=False,
                                      veto="^x", held_out=texts)
    merges = [[left.hex(), right.hex()] for left, right in longer.merges]
    results.append([merges, report.n_tokens, other.held_out_bytes_per_token])
table = CountTable()
words = pretokens.make_pretokens([b"b" * 20, b"a", b"b" * 19, b"a"], [1 << 40, 2, 3, 4])
table.add(words)
results.append([[word.hex(), n] for word, n in zip(pretokens.sort_and_add_up(table.export()),
                [6, 3, 1 << 40])])
print(json.dumps(results))
"""


def run(**environment):
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(numbatok.__file__)),
             **environment},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def test_interpreted_is_compiled():
    compiled, interpreted = run(), run(NUMBA_DISABLE_JIT="1")
    assert compiled == interpreted
    assert [len(result[0]) for result in compiled[:2]] == [44, 44]
