"""Stretches of text that come again give the ids that they gave, and nothing else does."""

from __future__ import annotations

import random

import numpy as np
import pytest

import numbatok
from numbatok import scratch
from numbatok.kernels.segments import PLACE, SHORTEST
from numbatok.native import interpreted
from numbatok.scratch import SEGMENT
from numbatok.tables import MARGIN
from tests.conftest import unpacked

pytestmark = pytest.mark.skipif(interpreted(), reason="such texts take minutes as plain Python")
WORDS = [
    "the",
    " of",
    " it's",
    "  ",
    "\n\n",
    "naïve",
    " 中文字",
    "12345",
    "!?",
    "\t",
    " été",
    "😀",
    "x",
]


def text_of(rng, size):
    data = "".join(rng.choices(WORDS, k=size)).encode()[:size]
    return data.decode(errors="ignore").encode().ljust(size, b".")


def sizes():
    edges = [SHORTEST, SEGMENT, SEGMENT + MARGIN, 2 * SEGMENT]
    return [edge + d for edge in edges for d in (-1, 0, 1)] + [100, 700, 3000, 50_000]


@pytest.fixture
def tok():
    """Return a tokenizer whose thread states are its own."""
    return numbatok.load("gpt2")


def anew(tok, data, special="plain"):
    """Encode with nothing remembered."""
    tok._encoder.forget()
    ids = tok.encode(data, special).tolist()
    tok._encoder.forget()
    return ids


def segments_of(tok):
    small = tok._encoder.small_calls._state
    return [s.segments for s in [*tok._encoder._states, small] if s is not None]


def n_kept(tok):
    return sum(int(segments.used[0]) for segments in segments_of(tok))


@pytest.mark.parametrize("name", ["gpt2", "llama3", "qwen2.5", "deepseek_v3", "o200k_base"])
def test_the_third_time_is_as_the_first(name):
    files = {"o200k_base": "o200k_base.tiktoken"}
    path = unpacked(f"vocabs/{name}/{files.get(name, 'tokenizer.json')}")
    tok, rng, compared = numbatok.load(path), random.Random(1), 0
    texts = [text_of(rng, size) for size in sizes()]
    wanted = [anew(tok, data) for data in texts]
    for _ in range(4):
        for data, ids in zip(texts, wanted, strict=True):
            assert tok.encode(data, "plain").tolist() == ids
            compared += 1
    assert n_kept(tok) > 100_000
    print(f"{compared} texts compared, {n_kept(tok)} bytes kept")


def test_a_kept_stretch_is_used(tok):
    """Planted: with a wrong id in what is kept, the result is wrong."""
    data = text_of(random.Random(2), 40_000)
    ids = [tok.encode(data, "plain").tolist() for _ in range(3)]
    assert ids[0] == ids[1] == ids[2]
    for segments in segments_of(tok):
        segments.ids[:20] = 7
    assert tok.encode(data, "plain").tolist() != ids[0]


def test_a_change_anywhere_is_seen(tok):
    rng, compared = random.Random(3), 0
    for size in (300, 5000, SEGMENT + MARGIN, 30_000):
        data = bytearray(text_of(rng, size))
        for _ in range(3):
            tok.encode(bytes(data), "plain")
        places = [PLACE + 1, size // 4, size // 2 - PLACE - 1, size - PLACE - 1, size - 1]
        places += [SEGMENT - 1, SEGMENT, SEGMENT + 1, SEGMENT + MARGIN - 1, SEGMENT + MARGIN]
        for place in (place for place in places if place < size):
            for byte in b"aZ \n9":
                changed = data.copy()
                changed[place] = byte
                found = tok.encode(bytes(changed), "plain").tolist()
                other = numbatok.load("gpt2")
                assert found == other.encode(bytes(changed), "plain").tolist()
                compared += 1
    print(f"{compared} changes compared")


def test_where_a_document_ends_matters(tok):
    """A window of a longer document and a document of the same bytes are not the same."""
    words = b" word" * 8000
    for size in (SEGMENT - 2, SEGMENT, SEGMENT + MARGIN, 2 * SEGMENT):
        for data in (words[:size], words[: size + 100], words[:size] + b"s", words[: size + 2]):
            wanted = numbatok.load("gpt2").encode(data).tolist()
            for _ in range(3):
                assert tok.encode(data).tolist() == wanted


def test_what_a_call_does_with_special_tokens_matters(tok):
    data = b"one two three " * 300 + b"<|endoftext|>" + b" four" * 2000
    for _ in range(3):
        for special in ("plain", "recognize"):
            wanted = numbatok.load("gpt2").encode(data, special).tolist()
            assert tok.encode(data, special).tolist() == wanted
        with pytest.raises(numbatok.SpecialTokenError):
            tok.encode(data)


def test_batches_and_counts_are_as_before(tok):
    rng = random.Random(5)
    rows = [text_of(rng, rng.choice([10, 300, 2000, 9000, 20_000])) for _ in range(60)]
    batch = numbatok.load("gpt2").encode_batch(rows, "plain")
    for _ in range(3):
        for row in rows[::7]:
            tok.encode(row, "plain")
        found = tok.encode_batch(rows, "plain")
        assert np.array_equal(found.ids, batch.ids)
        assert np.array_equal(found.offsets, batch.offsets)
        assert tok.count_batch(rows).tolist() == np.diff(batch.offsets).tolist()


def test_full_room_is_emptied(tok, monkeypatch):
    monkeypatch.setattr(scratch, "SEGMENTS_TEXT", 40_000)
    monkeypatch.setattr(scratch, "SEGMENTS_IDS", 20_000)
    rng = random.Random(6)
    texts = [text_of(rng, 9000) for _ in range(12)]
    wanted = [numbatok.load("gpt2").encode(data, "plain").tolist() for data in texts]
    small = numbatok.load("gpt2")
    for _ in range(5):
        for data, ids in zip(texts, wanted, strict=True):
            for _ in range(3):
                assert small.encode(data, "plain").tolist() == ids
    assert segments_of(small)[-1].used[2] > 2  # those of the built-in call
