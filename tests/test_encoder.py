"""However text is cut into windows, slices, batches and threads, the ids are the same."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import numbatok
from numbatok import encoder as encoder_module
from numbatok.scratch import SEGMENT
from numbatok.small_calls import SMALL_TEXT
from numbatok.tables import MARGIN
from tests.conftest import unpacked

WORDS = ["the", " of", " it's", "  ", "\n\n", "naïve", " 中文字", "12345", "!?", "\t", " été", "😀"]


def text_of(rng: random.Random, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += "".join(rng.choices(WORDS, k=200)).encode()
    return data[:size]


def test_windows_of_every_length(gpt2):
    rng, compared = random.Random(3), 0
    sizes = [SMALL_TEXT + d for d in (-1, 0, 1)]
    sizes += [k * SEGMENT + d for k in (1, 2) for d in range(-MARGIN, MARGIN + 1, 7)]
    for size in sizes:
        data = text_of(rng, size)
        ends = [0, *gpt2.pretoken_ends(data).tolist()]
        expected = [i for a, b in pairwise(ends) for i in gpt2.encode(data[a:b]).tolist()]
        # white space is the one thing whose pretokens depend on what follows; these are words
        assert expected == gpt2.encode(data).tolist()
        assert b"".join(data[a:b] for a, b in pairwise(ends)) == data
        compared += 1
    print(f"{compared} texts compared")


@pytest.mark.parametrize("unit", ["a", "^", " ", "\n", "é", "中", "ab", "\u3000", "!a"])
def test_pretokens_longer_than_a_window(gpt2, unit):
    for size in (SEGMENT - 1, SEGMENT, SEGMENT + 1, 3 * SEGMENT, 40_000):
        text = "x " + unit * (size // len(unit)) + " y"
        ends = gpt2.pretoken_ends(text)
        assert ends[-1] == len(text.encode())
        assert (np.diff(ends) > 0).all()
        assert gpt2.decode(gpt2.encode(text)) == text
        assert gpt2.count(text) == len(gpt2.encode(text))


def test_a_slice_a_time_is_the_same(gpt2, monkeypatch):
    data = text_of(random.Random(4), 300_000)
    whole, count, calls = gpt2.encode(data), gpt2.count(data), []
    kernel = gpt2._encoder._encode_documents
    monkeypatch.setattr(encoder_module, "BUDGET", 1)
    monkeypatch.setattr(encoder_module, "PART_BYTES", 1)  # a window each, to a part or the result
    monkeypatch.setattr(
        gpt2._encoder, "_encode_documents", lambda *given: (calls.append(given), kernel(*given))[1]
    )
    assert np.array_equal(whole, gpt2.encode(data))
    n_windows = len(data) // SEGMENT
    targets = {given[5] for given in calls}  # a part's address moves, the result's stays
    assert len(calls) > n_windows and 1 < len(targets) < len(calls)
    calls.clear()
    assert gpt2.count(data) == count and len(calls) > n_windows


def test_a_memo_that_is_often_full_is_the_same(gpt2, monkeypatch):
    rng = random.Random(5)
    text = " ".join("".join(rng.choices("abcdefghij", k=rng.randint(2, 40))) for _ in range(60_000))
    expected = gpt2.encode(text)
    monkeypatch.setenv("NUMBATOK_MEMO_MB", "1")
    gpt2 = numbatok.load("gpt2")
    for _ in range(2):
        assert np.array_equal(expected, gpt2.encode(text))


def test_batch_is_loop(gpt2):
    rng = random.Random(6)
    texts = [text_of(rng, rng.choice([0, 1, 5, 100, 5000, 9000])) for _ in range(300)]
    batch = gpt2.encode_batch(texts)
    assert [gpt2.encode(text).tolist() for text in texts] == batch.to_list()
    assert gpt2.count_batch(texts).tolist() == batch.lengths.tolist()


def test_special_tokens_at_every_edge_of_a_window(gpt2):
    token = "<|endoftext|>"
    for size in range(SEGMENT - 100, SEGMENT + 100, 3):
        text = "a" * (size % 50) + " b" * (size // 2) + token + "  c" + token * 3 + " "
        parts = text.split(token)
        expected = gpt2.encode(parts[0]).tolist()
        for part in parts[1:]:
            expected += [50256, *gpt2.encode(part).tolist()]
        assert expected == gpt2.encode(text, "recognize").tolist()


def test_threads_at_once(gpt2):
    texts = [text_of(random.Random(seed), 200_000) for seed in range(8)]
    expected = [gpt2.encode(text).tolist() for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            assert expected == [ids.tolist() for ids in pool.map(gpt2.encode, texts)]


def test_the_parallel_result_is_the_serial_one(gpt2, monkeypatch):
    from numbatok import parallel

    rng = random.Random(9)
    one = text_of(rng, 3_000_000)
    many = [text_of(rng, rng.choice([0, 10, 1000, 100_000])) for _ in range(200)]
    serial = [gpt2.encode(text).tolist() for text in (one, *many)]
    monkeypatch.setattr(parallel, "_bytes_seen", parallel.LOAD_BYTES)
    batch = gpt2.encode_batch([one, *many])
    assert serial == batch.to_list()
    assert gpt2.count_batch([one, *many]).tolist() == [len(ids) for ids in serial]


def test_added_tokens_alone_take_more_ids_than_bytes_are_left():
    """A text that is normalized is cut at its added tokens: an id each, and no bytes."""
    qwen, n = numbatok.load(unpacked("vocabs/qwen2.5/tokenizer.json")), 700_000
    one = qwen.encode("<|im_start|>", "recognize").tolist()
    end = qwen.encode("e\u0301", "recognize").tolist()
    ids = qwen.encode("<|im_start|>" * n + "e\u0301", "recognize")
    assert len(one) == 1 and ids.size == n + len(end)
    assert (ids[:n] == one[0]).all() and ids[n:].tolist() == end
    assert qwen.count("<|im_start|>" * n + "e\u0301", "recognize") == n + len(end)
