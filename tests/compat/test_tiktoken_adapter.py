import inspect
import pickle

import numpy as np
import pytest

import numbatok
from numbatok.compat import tiktoken as compat
from numbatok.verification.texts import sample_texts

END = "<|endoftext|>"


@pytest.fixture(scope="module")
def pair(vocab_file):
    """Our adapter and tiktoken's own Encoding of r50k_base."""
    pytest.importorskip("tiktoken")
    from numbatok import formats
    from numbatok.verification.references import tiktoken_encoding

    path = vocab_file("gpt2", "r50k_base.tiktoken")
    return numbatok.load(path).as_tiktoken(), tiktoken_encoding(formats.locate(path).read())


def texts():
    groups = sample_texts([b" the", b"\xf0\x9f"], [END], with_bytes=False, rounds=1)
    return [text for group in groups for text in group][::4]


def outcome(call):
    """What a call returns, or the builtin errors that it raises."""
    try:
        return call()
    except Exception as error:
        return [kind for kind in (KeyError, ValueError, TypeError) if isinstance(error, kind)]


@pytest.mark.oracle
def test_ids_and_texts_are_equal(pair):
    ours, theirs = pair
    compared = 0
    for text in texts():
        ids = theirs.encode_ordinary(text)
        every = {"allowed_special": "all"}
        assert ours.encode_ordinary(text) == ids
        assert ours.encode(text, **every) == theirs.encode(text, **every)
        assert ours.decode(ids) == theirs.decode(ids)
        assert ours.decode_tokens_bytes(ids) == theirs.decode_tokens_bytes(ids)
        assert ours.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)
        compared += 5
    print(f"{compared} results compared")
    assert compared > 5000
    assert ours.encode_ordinary_batch(texts()) == theirs.encode_ordinary_batch(texts())


CALLS = {
    "refused": lambda e: e.encode(f"a{END}"),
    "allowed": lambda e: e.encode(f"a{END}", allowed_special={END}),
    "not refused": lambda e: e.encode(f"a{END}", disallowed_special=()),
    "another refused": lambda e: e.encode(f"a{END}", disallowed_special={"<|x|>"}),
    "allowed and refused": lambda e: e.encode(END, allowed_special={END}, disallowed_special=()),
    "batch": lambda e: e.encode_batch(["a", "b c", ""], num_threads=2),
    "batch refused": lambda e: e.encode_batch(["a", END]),
    "numpy": lambda e: e.encode_to_numpy("hello world").tolist(),
    "surrogates": lambda e: e.encode("\ud83d\udc4d \ud83d"),
    "single": lambda e: [e.encode_single_token(t) for t in ("hello", b" world", END)],
    "no single": lambda e: e.encode_single_token("hello world"),
    "decode": lambda e: e.decode([31373, 995]),
    "decode broken": lambda e: e.decode([447]),
    "decode strictly": lambda e: e.decode([447], errors="strict"),
    "decode nothing": lambda e: (e.decode([]), e.decode_bytes([])),
    "decode unknown": lambda e: e.decode([60000]),
    "decode batch": lambda e: e.decode_batch([[31373], [995, 447]]),
    "bytes batch": lambda e: e.decode_bytes_batch([[31373], [447]]),
    "single bytes": lambda e: e.decode_single_token_bytes(31373),
    "no single bytes": lambda e: e.decode_single_token_bytes(60000),
    "values": lambda e: e.token_byte_values(),
    "numbers": lambda e: (e.n_vocab, e.max_token_value, e.eot_token, e.special_tokens_set),
    "special": lambda e: (e.is_special_token(50256), e.is_special_token(1)),
    "name": lambda e: (e.name, repr(e)),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", CALLS)
def test_calls_give_what_tiktoken_gives(pair, name):
    ours, theirs = pair

    assert outcome(lambda: CALLS[name](ours)) == outcome(lambda: CALLS[name](theirs))


@pytest.mark.oracle
def test_every_public_name_of_tiktoken_is_here_and_in_the_table(pair):
    ours, theirs = pair
    names = {name for name in dir(theirs) if not name.startswith("_")}

    assert names <= {name for name in dir(ours) if not name.startswith("_")}
    assert all(f"`{name}`" in compat.__doc__ for name in names)
    for name in names - {"encode_with_unstable"}:
        if inspect.ismethod(getattr(theirs, name)):
            expected = inspect.signature(getattr(theirs, name)).parameters
            assert list(inspect.signature(getattr(ours, name)).parameters) == list(expected)


def test_what_differs_is_as_the_table_says(gpt2):
    encoding = gpt2.as_tiktoken()

    assert encoding.decode_with_offsets([447, 31373]) == ("\ufffdhello", [0, 1])
    assert encoding.encode(b"a\xff") == [64, 187]
    with pytest.raises(NotImplementedError):
        encoding.encode_with_unstable("a")
    with pytest.raises(numbatok.SpecialTokenError, match=r"endoftext.* at byte 1"):
        encoding.encode(f"a{END}")


def test_the_adapter_is_pickled_with_its_tokenizer(gpt2):
    again = pickle.loads(pickle.dumps(gpt2.as_tiktoken()))

    assert again.encode("hello world") == [31373, 995]
    assert isinstance(again.encode_to_numpy("a"), np.ndarray)
