"""Texts cut down to a number of ids: as much as fits, between characters, by every tokenizer."""

from __future__ import annotations

import random

import pytest

from numbatok.tokenizer import _from_spec
from numbatok.truncation import cut_between_characters, halve
from tests.formats.documents import ALPHABET, BYTE_LEVEL, added, document, read

PREFIX = {**BYTE_LEVEL, "add_prefix_space": True}
DIGITS = {"type": "Digits", "individual_digits": True}
FEW = {char: id for id, char in enumerate(ALPHABET) if char not in "Aé"}

# document fields of tokenizers of which ids have the bytes of the text, more, or fewer
KINDS = {
    "plain": {},
    "prefix": {"pre_tokenizer": PREFIX},
    "prefix of pieces": {
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [DIGITS, PREFIX]}
    },
    "longer": {"normalizer": {"type": "NFD"}},
    "shorter": {"normalizer": {"type": "NFC"}},
    "much longer": {
        "normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": "x" * 50}
    },
    "prepended": {"normalizer": {"type": "Prepend", "prepend": "abc"}},
    "dropped": {
        "pre_tokenizer": {
            "type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, BYTE_LEVEL]
        }
    },
    "unknown": {
        "model_vocab": {**FEW, "<unk>": 300}, "model_merges": [], "model_unk_token": "<unk>",
    },
    "stripping": {"added_tokens": [added("<x>", 258, lstrip=True, rstrip=True)]},
}  # fmt: skip
TEXT = [*"abA1 .", "é", "e\u0301", "中", "👍", "  ", "<x>", "한"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_as_much_as_fits(kind, side):
    tokenizer, rng, compared = _from_spec(read(document(**KINDS[kind]))), random.Random(1), 0
    for _ in range(60):
        text = "".join(rng.choices(TEXT, k=rng.randrange(14)))
        for n in (0, 1, 2, 5, 9, 60):
            found = tokenizer.truncate(text, n, side)
            assert text.startswith(found) if side == "right" else text.endswith(found)
            assert tokenizer.count(found) <= n
            longer = len(found) + 1
            if longer <= len(text):
                more = text[:longer] if side == "right" else text[len(text) - longer :]
                assert kind == "plain" or tokenizer.count(more) > n, (text, n, found)
            compared += 1
    assert compared == 360


def test_a_long_text_takes_a_few_counts():
    tokenizer = _from_spec(read(document(**KINDS["longer"])))
    text = "é" * 100_000
    assert len(tokenizer.truncate(text, 30_000)) == 10_000
    assert len(tokenizer.truncate(text.encode(), 30_000, "left")) == 20_000


def test_bytes_are_cut_between_characters():
    data = "aé中".encode() + b"\xff\x80\x80"
    found = {
        side: [cut_between_characters(data, n, side) for n in range(10)]
        for side in ("left", "right")
    }
    assert [len(part) for part in found["right"]] == [0, 1, 1, 3, 3, 3, 6, 7, 8, 9]
    assert [len(part) for part in found["left"]] == [0, 1, 2, 3, 3, 3, 6, 6, 8, 9]


def test_halving():
    calls = []

    def fits(part):
        calls.append(part)
        return len(part) <= 321

    assert len(halve(bytes(5000), fits, "right")) == 321
    assert len(calls) < 16
    assert halve(b"abc", lambda part: not part, "left") == b""
