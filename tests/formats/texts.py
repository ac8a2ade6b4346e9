"""Texts for comparing two tokenizers: real ones, cases, and random ones."""

from __future__ import annotations

import random

CORPORA = ("en", "code", "multilingual", "cjk", "web")
CASES = [
    "",
    " ",
    "\n\nA",
    "a  b",
    "don'ts I'LL'VE 'tis ''s",
    "2023 650841823",
    "/*\r\n//\n",
    "foo();\r\n\r\n\tbar",
    "trailing \n  ",
    "trailing\n",
    "\t\t1",
    "'ſ ſ's",
    " Cafe\u0301 e\u0301",
    "中AB! 中ABa",
    "a\u0085\u0085b a\u2028b",
    "naïve 👍a",
    "\0\0abc",
    "x" * 3000,
    " " * 300,
    "-" * 3000,
]
PIECES = [
    "a",
    "B",
    "é",
    "ſ",
    "'",
    "s",
    "1",
    "٣",
    " ",
    "\t",
    "\n",
    "\r",
    "\u00a0",
    "\u0301",
    "中",
    "!",
]
PIECES += ["/", "👍", "_", "ǅ", "ʰ", "Ab", "the", "  ", "\r\n", "ing", "0x", "=="]


def texts(corpus, size=20_000, fuzz=300):
    """Parts of real texts, known cases, and random strings, always the same."""
    rng = random.Random(20261129)
    found = list(CASES)
    for name in CORPORA:
        whole = corpus(name).decode("utf-8")
        start = rng.randrange(len(whole) - size)
        found += whole[start : start + size].split("\n\n")
    found += ["".join(rng.choices(PIECES, k=rng.randrange(1, 12))) for _ in range(fuzz)]
    return found
