"""Short texts by the built-in function: the ids of the general way, and nothing leaks."""

from __future__ import annotations

import enum
import gc
import inspect
import pickle
import random
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import numbatok
from numbatok import built_in, small_calls
from numbatok.errors import InvalidType, SpecialTokenError
from numbatok.native import interpreted
from numbatok.scratch import ThreadState
from numbatok.small_calls import SMALL_TEXT
from numbatok.tokenizer import Tokenizer, _encode
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
    monkeypatch.setattr(Tokenizer, "encode", _encode)
    other = numbatok.load("gpt2")
    assert other._small_call(other._policies.get("raise"), "Hello") is None
    for text in texts(200, seed=2):
        assert other.encode(text).tolist() == gpt2.encode(text).tolist()


def test_a_str_is_kept_as_utf8_from_the_second_call_on(gpt2):
    if built_in.str_layout() is None:
        pytest.skip("a str is laid out otherwise here")
    texts = ["".join(["日本 é "] * n) for n in range(20, 60)]
    n_right = 0
    for text in texts:
        size, expected = sys.getsizeof(text), general(gpt2, text).tolist()
        seen = []
        for _ in range(4):
            assert gpt2.encode(text).tolist() == expected
            seen.append(sys.getsizeof(text) > size)
        n_right += seen == [False, True, True, True]
    assert n_right > 30  # some have the address and the length of a text before


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


def test_the_method_is_a_built_in_one_that_documents_itself(gpt2):
    assert not inspect.isfunction(Tokenizer.encode)
    plain = "(text, special='raise', *, invalid='byte-alphabet', template=False)"
    assert str(inspect.signature(gpt2.encode)) == plain
    assert gpt2.encode.__doc__ == inspect.getdoc(_encode)
    assert gpt2.encode.__name__ == "encode"
    assert pickle.loads(pickle.dumps(gpt2.encode))("Hi").tolist() == gpt2.encode("Hi").tolist()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("raise",), {}),
        (("plain",), {}),
        (("recognize",), {}),
        ((), {"special": "raise"}),
        ((), {"special": "plain"}),
        ((), {"special": "recognize"}),
        ((), {"special": {"<|endoftext|>"}}),
        (({"<|endoftext|>"},), {}),
        ((), {"invalid": "punct"}),
        ((), {"special": "plain", "invalid": "punct"}),
        ((), {"template": True}),
        (("plain",), {"template": True, "invalid": "byte-alphabet"}),
    ],
)
def test_the_method_takes_what_the_function_takes(gpt2, given, named):
    for text in (
        "",
        "Hello",
        b"Hello",
        "日本 é",
        "a <|endoftext|>",
        b"\xff\xfe <|endoftext|>",
        "\ud800",
    ):
        for choices in (given, tuple("".join(list(c)) if isinstance(c, str) else c for c in given)):
            assert outcome(gpt2.encode, text, *choices, **named) == outcome(
                _encode, gpt2, text, *choices, **named
            )


def test_the_method_refuses_what_the_function_refuses(gpt2):
    calls = [
        ((), {}),
        ((3,), {}),
        (("a", "b"), {}),
        (("a", 7), {}),
        (("a", "plain", "c"), {}),
        (("a", "plain"), {"special": "plain"}),
        (("a",), {"spatial": "plain"}),
        ((), {"special": "plain"}),
        (("a",), {"special": None}),
        (("a",), {"special": {"no such token"}}),
        (("a",), {"special": "plain", "invalid": "other"}),
    ]
    n_refused = 0
    for given, named in calls:
        expected = outcome(_encode, gpt2, *given, **named)
        assert outcome(gpt2.encode, *given, **named) == expected
        n_refused += isinstance(expected, tuple)
    assert n_refused == len(calls)
    with pytest.raises(TypeError, match="doesn't apply"):
        Tokenizer.encode("no tokenizer", "text")
    with pytest.raises(SystemError):
        Tokenizer.__new__(Tokenizer).encode("text")


def outcome(call, *given, **named):
    """Return the ids, or the type and the text of the error."""
    try:
        return call(*given, **named).tolist()
    except Exception as error:
        return type(error), str(error)


def test_a_subclass_may_have_its_own(gpt2):
    class Counting(Tokenizer):
        calls = 0

        def encode(self, text, special="raise", **named):
            self.calls += 1
            return super().encode(text, special, **named)

    made = Counting(gpt2._spec, gpt2._tables, gpt2._located)
    for text in texts(20, seed=4):
        assert made.encode(text, "plain").tolist() == gpt2.encode(text, "plain").tolist()
    assert made.calls == 20


def test_calls_under_other_policies_take_turns(gpt2):
    """A policy is set up again whenever it is another one; the ids are those of each call."""
    text = "one <|endoftext|> two"
    plain, recognized = gpt2.encode(text, "plain").tolist(), gpt2.encode(text, "recognize").tolist()
    assert plain != recognized
    for _ in range(20):
        assert gpt2.encode(text, "plain").tolist() == plain
        assert gpt2.encode(text, special="recognize").tolist() == recognized
        with pytest.raises(numbatok.errors.SpecialTokenError):
            gpt2.encode(text)


def test_a_tokenizer_goes_with_its_last_reference(gpt2):
    other = numbatok.load("gpt2")
    other.encode("Hello")
    encode, known = other.encode, weakref.ref(other)
    del other
    assert encode("Hello").tolist() == gpt2.encode("Hello").tolist()
    del encode
    assert known() is None


@pytest.mark.parametrize("before", [True, False])
def test_an_interrupted_change_of_policies_changes_no_later_call(monkeypatch, before):
    """Ctrl-C while the state follows another policy: the state is gone, with what it pointed to."""
    tokenizer, text = numbatok.load("gpt2"), "x <|endoftext|> y"
    wanted = {
        special: tokenizer.encode(text, special).tolist() for special in ("plain", "recognize")
    }
    connect = ThreadState.connect

    def interrupted(self):
        if not before:
            connect(self)
        raise KeyboardInterrupt

    for special in ("plain", "recognize", "raise"):
        for forgets in (True, False):
            tokenizer.encode("hello", special)
            for other in ("plain", "recognize", "raise"):
                with monkeypatch.context() as patch:
                    patch.setattr(ThreadState, "connect", interrupted)
                    if other != special:
                        with pytest.raises(KeyboardInterrupt):
                            tokenizer.encode("hello", other)
                if forgets:
                    tokenizer.forget()
                for name, ids in wanted.items():
                    assert tokenizer.encode(text, name).tolist() == ids
                with pytest.raises(SpecialTokenError):
                    tokenizer.encode(text)
                tokenizer.encode("hello", special)


def test_an_interrupted_long_text_gives_its_state_up(gpt2, monkeypatch):
    tokenizer = numbatok.load("gpt2")
    text = " ".join(f"w{i * 7919:x}" for i in range(20_000))
    wanted = gpt2.encode(text).tolist()
    tokenizer.encode(text[:50_000])
    connect = ThreadState.connect

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadState, "connect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tokenizer.encode(text)  # the memo grows
    assert tokenizer._encoder._states == []
    monkeypatch.setattr(ThreadState, "connect", connect)
    assert tokenizer.encode(text).tolist() == wanted


class Word(str):
    pass


class Special(str, enum.Enum):
    RECOGNIZE = "recognize"


@pytest.mark.parametrize("special", [Word("recognize"), Special.RECOGNIZE, np.str_("recognize")])
def test_a_choice_may_be_of_a_subclass_of_str(special):
    tokenizer = numbatok.load("gpt2")  # which was not asked to recognize yet
    assert tokenizer.encode("a<|endoftext|>", special).tolist() == [64, 50256]
    assert tokenizer.encode("a<|endoftext|>", special=special).tolist() == [64, 50256]


def test_objects_of_no_length(gpt2):
    for thing in (object(), None, 1.5, [], gpt2):
        with pytest.raises(InvalidType):
            gpt2.encode(thing)
        with pytest.raises(InvalidType):
            gpt2.encode_batch(["a", thing])
