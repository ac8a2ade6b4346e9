"""The kernels as plain Python give the same ids: no integer of theirs depends on the compiler.

A process of its own, with NUMBA_DISABLE_JIT=1 and every warning an error: a NumPy scalar that
wraps unseen would warn.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

from numbatok.compile import build_tables
from numbatok.spec import AddedToken, BpeModel, ByteLevel, TokenizerSpec
from numbatok.tokenizer import Tokenizer

PROGRAM = """
import json, sys
from tests.test_interpreted import cases, small_tokenizer
tokenizer = small_tokenizer()
results = []
for text in cases():
    ids = tokenizer.encode(text, "recognize")
    assert tokenizer.decode_bytes(ids) == text or b"<m>" in text  # which strips white space
    results.append([ids.tolist(), tokenizer.count(text), tokenizer.pretoken_ends(text).tolist()])
print(json.dumps([results, tokenizer.encode_batch(cases(), "recognize").to_list()]))
"""


def small_tokenizer() -> Tokenizer:
    merges = ["t h", "h e", "th e", "_ the", "i n", "in g", "e r", "_ a", "a n", "_a n", "_an d"]
    pairs = tuple(
        tuple(part.replace("_", " ").encode() for part in merge.split(" ")) for merge in merges
    )
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [left + right for left, right in pairs]
    spec = TokenizerSpec(
        model=BpeModel({token: i for i, token in enumerate(dict.fromkeys(tokens))}, pairs),
        pre_tokenizers=(ByteLevel(False, True),),
        added_tokens=(AddedToken("<s>", 300), AddedToken("<m>", 301, lstrip=True, rstrip=True)),
    )
    return Tokenizer(spec, build_tables(spec))


def cases() -> list[bytes]:
    rng = random.Random(13)
    pool = [
        "the",
        " the",
        "thing",
        " and",
        "<s>",
        "<m>",
        "  ",
        "\n",
        "it's",
        "é",
        "中文",
        "123",
        "!?",
        "\u3000",
    ]
    texts = ["".join(rng.choices(pool, k=rng.randint(0, 30))).encode() for _ in range(40)]
    texts += [b"the" * 40, b"a" * 70, b"\xff\xfe the \xe4\xbd", b"x" * 9000 + b" the"]
    return texts


def test_interpreted_is_compiled():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    results, batch = json.loads(child.stdout)
    tokenizer = small_tokenizer()
    assert len(results) == len(cases()) > 0
    for text, (ids, count, ends) in zip(cases(), results, strict=True):
        assert tokenizer.encode(text, "recognize").tolist() == ids
        assert tokenizer.count(text) == count
        assert tokenizer.pretoken_ends(text).tolist() == ends
    assert tokenizer.encode_batch(cases(), "recognize").to_list() == batch
