"""Short texts by the built-in function: the ids of the general way, and nothing leaks."""

from __future__ import annotations

import gc
import random
import sys
import threading
import tracemalloc

import numpy as np
import pytest

import numbatok
from numbatok import built_in, small_calls
from numbatok.errors import InvalidType, SpecialTokenError
from numbatok.native import interpreted
from numbatok.small_calls import SMALL_TEXT
from tests.conftest import unpacked

pytestmark = pytest.mark.skipif(
    interpreted() or not built_in.is_possible(),
    reason="objects are laid out otherwise here: every call goes the general way",
)

ALPHABET = [
    *"aAzZ09 .,'\n\t",
    "é",
    "\u0301",
    "日本",
    "語",
    "😀",
    "ﬁ",
    "\u00a0",
    "\u2028",
    "İ",
    "\0",
]


def texts(n, seed=0):
    rng = random.Random(seed)
    return ["".join(rng.choices(ALPHABET, k=rng.randrange(40))) for _ in range(n)]


def general(tokenizer, text, special="raise"):
    policy = tokenizer._policies.get(special)
    data = text if isinstance(text, bytes) else text.encode()
    return tokenizer._encode_one(np.frombuffer(data, np.uint8), policy)


def test_ids_are_those_of_the_general_way(gpt2):
    compared = 0
    for text in texts(3000):
        for given in (text, text.encode(), text.encode()[1:-1]):
            ids = gpt2.encode(given)
            assert ids.dtype == np.uint32 and ids.flags.owndata and ids.flags.writeable
            assert ids.tolist() == general(gpt2, given).tolist(), given
            compared += 1
    print(f"{compared} texts compared")


def test_the_short_way_is_taken(gpt2):
    policy = gpt2._policies.get("raise")
    gpt2.encode("warm")
    for text in ["", "a", "Hello, world", b"bytes", "é日本", "x " * (SMALL_TEXT // 2)]:
        ids = gpt2._small_call(policy, text)
        assert ids is not None and ids.tolist() == general(gpt2, text).tolist()
    for text in [
        "x" * SMALL_TEXT,
        "x " * SMALL_TEXT,
        "é" * SMALL_TEXT,
        "\ud800",
        bytearray(b"a"),
        None,
        3,
    ]:
        assert gpt2._small_call(policy, text) is None


def test_a_normalizer_is_looked_through():
    qwen = numbatok.load(unpacked("vocabs/qwen2.5/tokenizer.json"))
    policy, n_short, n_changed = qwen._policies.get("raise"), 0, 0
    qwen.encode("warm")
    for text in texts(2000, seed=1):
        short = qwen._small_call(policy, text)
        wanted = general(qwen, text).tolist()
        assert qwen.encode(text).tolist() == wanted
        n_short += short is not None
        n_changed += short is None
        assert short is None or short.tolist() == wanted
    assert n_short > 200 and n_changed > 200
    print(f"{n_short} texts as they are, {n_changed} the general way")


def test_kinds_of_objects(gpt2):
    class Text(str):
        pass

    class Data(bytes):
        pass

    wanted = gpt2.encode("Hello").tolist()
    for text in [Text("Hello"), Data(b"Hello"), np.str_("Hello")]:
        assert gpt2.encode(text).tolist() == wanted
    for text in [None, 3, ["Hello"], object()]:
        with pytest.raises(InvalidType):
            gpt2.encode(text)
    with pytest.raises(SpecialTokenError):
        gpt2.encode("a<|endoftext|>")
    assert gpt2.encode("a<|endoftext|>", "recognize").tolist() == [64, 50256]
    assert len(gpt2.encode("a<|endoftext|>", "plain")) > 2


def test_policies_take_turns_between_threads(gpt2):
    text, failures = "a<|endoftext|>b", []
    wanted = {choice: general(gpt2, text, choice).tolist() for choice in ("recognize", "plain")}

    def work(choice):
        for _ in range(3000):
            if gpt2.encode(text, choice).tolist() != wanted[choice]:
                failures.append(choice)

    threads = [threading.Thread(target=work, args=(c,)) for c in ("recognize", "plain") * 3]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures


def test_a_full_memo_grows(gpt2):
    gpt2._encoder.forget()
    rng, words = random.Random(5), []
    for _ in range(30_000):
        words.append("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=9)))
    gpt2.encode("")
    before = gpt2._encoder.small_calls._state.memo.entries.slots.size
    for at in range(0, len(words), 100):
        text = " ".join(words[at : at + 100])
        assert gpt2.encode(text).tolist() == general(gpt2, text).tolist()
    assert gpt2._encoder.small_calls._state.memo.entries.slots.size > before


def test_nothing_is_kept_and_nothing_let_go_twice(gpt2):
    text, policy = "Hello, wörld", gpt2._policies.get("raise")
    gpt2.encode(text)
    counted = [text, policy, gpt2._small_call, gpt2._encoder.small_calls._frame]
    before = [sys.getrefcount(thing) for thing in counted]
    nothing = sys.getrefcount(None)
    for _ in range(1000):
        gpt2.encode(text)
        assert gpt2._small_call(policy, 3) is None
    assert [sys.getrefcount(thing) for thing in counted] == before
    assert abs(sys.getrefcount(None) - nothing) < 100
    tracemalloc.start()
    try:
        gpt2.encode(text)
        gc.collect()
        first = tracemalloc.get_traced_memory()[0]
        for _ in range(2000):
            gpt2.encode(text)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - first < 20_000
    finally:
        tracemalloc.stop()


def test_without_the_function_every_call_goes_the_general_way(gpt2, monkeypatch):
    monkeypatch.setattr(small_calls, "is_possible", lambda: False)
    other = numbatok.load("gpt2")
    assert other._small_call(other._policies.get("raise"), "Hello") is None
    for text in texts(200, seed=2):
        assert other.encode(text).tolist() == gpt2.encode(text).tolist()


def test_a_str_is_kept_as_utf8_from_the_second_call_on(gpt2):
    if built_in.str_layout() is None:
        pytest.skip("a str is laid out otherwise here")
    text = "".join(["日本 é "] * 20)
    size, expected = sys.getsizeof(text), general(gpt2, text).tolist()
    seen = []
    for _ in range(4):
        assert gpt2.encode(text).tolist() == expected
        seen.append(sys.getsizeof(text) > size)
    assert seen == [False, True, True, True]


@pytest.mark.parametrize("character", ["é", "日", "😀"])
def test_texts_as_long_as_a_short_one_may_be(gpt2, character):
    width = len(character.encode())
    for n in (SMALL_TEXT // width - 1, SMALL_TEXT // width + 1, SMALL_TEXT, SMALL_TEXT + 1):
        text = character * n
        assert gpt2.encode(text).tolist() == general(gpt2, text).tolist()


def prepared(**changes):
    from numbatok.tokenizer import _from_spec
    from tests.formats.documents import BYTE_LEVEL, added, document, read

    tokens = [added("<s>", 258, special=True), added("ﬁ", 259, normalized=True)]
    fields = {"added_tokens": tokens, "pre_tokenizer": {**BYTE_LEVEL, "add_prefix_space": True}}
    return _from_spec(read(document(**{**fields, **changes})))


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", None])
def test_texts_that_are_prepared_have_the_ids_of_the_general_way(form, monkeypatch):
    tokenizer = prepared(normalizer=form and {"type": form})
    quick, calls = tokenizer._encoder.encode_prepared, []
    monkeypatch.setattr(
        tokenizer._encoder, "encode_prepared", lambda *of: calls.append(quick(*of)) or calls[-1]
    )
    made = texts(800, seed=1)
    made += [text + extra for text in made[:150] for extra in ("<s>", "\uff1cs\uff1e", "fi")]
    for text in made:
        for special in ("plain", "recognize"):
            ids = tokenizer.encode(text, special)
            assert ids.tolist() == general(tokenizer, text, special).tolist(), text
            assert ids.flags.owndata
    n_quick = sum(ids is not None for ids in calls)
    print(f"{2 * len(made):,} texts compared, {n_quick:,} of them prepared for the quick way")
    assert n_quick > 300
    assert n_quick < len(calls)


def test_special_tokens_and_other_arguments_of_prepared_texts_are_refused_as_ever():
    tokenizer = prepared(normalizer={"type": "NFKC"})
    with pytest.raises(SpecialTokenError, match="'<s>' at byte 3"):
        tokenizer.encode("é <s>")
    made = "\uff1cs>"  # becomes one, but a raw token is searched before normalization
    assert tokenizer.encode(made).tolist() == general(tokenizer, made).tolist() == [32, 60, 115, 62]
    with pytest.raises(InvalidType):
        tokenizer.encode(7)
    assert tokenizer.encode("e\ud800").tolist() == tokenizer.encode("e\ufffd").tolist()
    assert tokenizer.encode(b"e\xff").tolist() == general(tokenizer, b"e\xff").tolist()
    long = "é" * SMALL_TEXT
    assert tokenizer.encode(long).tolist() == general(tokenizer, long).tolist()
    tokenizer.forget()
    assert tokenizer.encode("é").tolist() == general(tokenizer, "é").tolist()


def test_threads_may_prepare_texts_at_once():
    tokenizer, made = prepared(normalizer={"type": "NFC"}), texts(400, seed=2)
    expected = [general(tokenizer, text).tolist() for text in made]
    found = [[], [], []]

    def run(rows):
        for special in ("plain", "raise"):
            rows += [tokenizer.encode(text, special).tolist() for text in made]

    threads = [threading.Thread(target=run, args=(rows,)) for rows in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected + expected] * 3
