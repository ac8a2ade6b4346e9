"""Batches as one array: the bytes of every row, whatever it is, and errors that name it."""

from __future__ import annotations

import gc
import random

import numpy as np
import pytest

from numbatok import parallel, rows
from numbatok.errors import InvalidType, InvalidUtf8
from numbatok.native import interpreted

KINDS = ["", "a", "Hello, world", "é日本😀", "\0", "x" * 5000, b"", b"bytes \xff\xfe", "ﬁ" * 300]


def plain(texts):
    data = [text if isinstance(text, bytes) else text.encode() for text in texts]
    return b"".join(data), np.cumsum([len(row) for row in data]).tolist()


@pytest.mark.parametrize("n_rows", [0, 1, 2, 7, 1000])
def test_rows_are_joined(n_rows):
    rng = random.Random(n_rows)
    for _ in range(20):
        texts = rng.choices(KINDS, k=n_rows)
        text, ends = rows.join(texts, "byte-alphabet")
        assert (text.tobytes(), ends.tolist()) == plain(texts)
        assert text.dtype == np.uint8 and ends.dtype == np.int64


@pytest.mark.skipif(interpreted(), reason="interpreted kernels run serially")
def test_threads_copy_a_share_each(monkeypatch):
    monkeypatch.setattr(parallel, "WORTH_BYTES", 1)
    monkeypatch.setattr(parallel, "LOAD_BYTES", 1)
    monkeypatch.setattr(parallel, "n_threads", lambda: 3)
    rng = random.Random(1)
    for n_rows in (1, 2, 3, 50, 2000):
        texts = rng.choices(KINDS, k=n_rows)
        text, ends = rows.join(texts, "byte-alphabet")
        assert (text.tobytes(), ends.tolist()) == plain(texts)


ALPHABETS = ["abc é", "abé日本", "日本語", "😀a日é", "éèê"]


def fresh(rng, longest):
    """Return a str that nobody asked for its UTF-8."""
    return "".join(rng.choices(rng.choice(ALPHABETS), k=rng.randint(0, longest)))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("longest", [3, 40, 200, 3000])
def test_code_units_become_bytes_side_by_side(n_threads, longest, monkeypatch):
    if not interpreted():
        monkeypatch.setattr(parallel, "WORTH_BYTES", 1)
        monkeypatch.setattr(parallel, "LOAD_BYTES", 1)
        monkeypatch.setattr(parallel, "n_threads", lambda: n_threads)
    rng = random.Random(n_threads * longest)
    for n_rows in (1, 2, 5, 30, 200):
        texts = [fresh(rng, longest) for _ in range(n_rows)]
        for _ in range(3):
            text, ends = rows.join(texts, "byte-alphabet")
            assert (text.tobytes(), ends.tolist()) == plain(texts)


def test_a_surrogate_among_code_units_is_found():
    for alphabet in ("日本", "😀"):
        texts = [*[2 * alphabet] * 50, f"{alphabet}\udc80", "a"]
        text, _ = rows.join(texts, "byte-alphabet")
        assert text.tobytes().decode() == 100 * alphabet + alphabet + "\ufffda"


def test_rows_of_other_kinds():
    class Text(str):
        pass

    texts = ["a", Text("b"), bytearray(b"c"), np.str_("d"), memoryview(b"e"), "\ud83d\ude00"]
    text, ends = rows.join(iter(texts), "byte-alphabet")
    assert text.tobytes().decode() == "abcde😀" and ends.tolist() == [1, 2, 3, 4, 5, 9]
    text, _ = rows.join(["a", "\ud800"], "byte-alphabet")
    assert text.tobytes().decode() == "a\ufffd"


@pytest.mark.parametrize("wrong", [None, 3, ["a"], float("nan")])
def test_the_wrong_row_is_named(wrong):
    with pytest.raises(InvalidType, match="row 2"):
        rows.join(["a", "b", wrong, "c"], "byte-alphabet")


def test_policies_on_bytes():
    with pytest.raises(InvalidUtf8, match="row 1"):
        rows.join([b"a", b"\xff"], "error")
    text, _ = rows.join([b"a", b"\xff"], "replace")
    assert text.tobytes().decode() == "a\ufffd"
    for texts in ("text", b"bytes", 3, None):
        with pytest.raises(InvalidType):
            rows.join(texts, "byte-alphabet")


def test_a_single_row_is_not_copied_and_lives_on(gpt2):
    text = "é wörld " * 50_000
    for _ in range(3):  # the third time CPython has its UTF-8
        joined, ends = rows.join([text], "byte-alphabet")
        assert joined.tobytes() == text.encode() and ends.tolist() == [joined.size]
    assert np.shares_memory(joined, rows.join([text], "byte-alphabet")[0])
    joined, _ = rows.join(iter(["".join(["aé"] * 200_000)]), "byte-alphabet")
    gc.collect()
    assert joined.tobytes() == "aé".encode() * 200_000
    with pytest.raises(InvalidType, match="row 0 is 1"):
        gpt2.encode_batch([1])
    with pytest.raises(InvalidUtf8, match="row 0, byte 1"):
        gpt2.encode_batch([b"a\xff"], invalid="error")
