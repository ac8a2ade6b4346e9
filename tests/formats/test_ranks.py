import base64
import random
import time

import pytest

from numbatok.errors import InvalidTokenizerFile, InvalidValue
from numbatok.formats.ranks import MAX_ID, NO_UTF8, ranks_to_spec, read_ranks
from numbatok.pattern_names import PATTERNS, named_pattern
from numbatok.spec import ByteLevel, Split

BYTES = {bytes([byte]): byte for byte in range(256)}


def rank_file(ranks, end=b"\n"):
    lines = (base64.b64encode(token) + b" %d" % rank for token, rank in ranks.items())
    return end.join(lines) + end


def test_ranks_are_read_whatever_ends_the_lines():
    ranks = {**BYTES, b"ab": 256, "é".encode(): 300}
    data = rank_file(ranks)
    assert read_ranks(data, "r") == ranks
    assert read_ranks(data[:-1], "r") == ranks
    assert read_ranks(rank_file(ranks, b"\r\n"), "r") == ranks
    assert read_ranks(rank_file(ranks, b"\n\n"), "r") == ranks


def test_the_empty_token_of_whisper():
    ranks = read_ranks(rank_file(BYTES) + b"= 256\n", "r")
    assert ranks == {**BYTES, b"": 256}
    model = ranks_to_spec(ranks, PATTERNS["gpt2"], {}, None).model
    assert model.opaque == {"": 256}
    assert b"" not in model.tokens


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"YWI=", "line 257 is b'YWI='"),
        (b"YWI= 256 1", "line 257"),
        (b"YWI= -1", "line 257"),
        (b"YWI= 2_5_6", "line 257"),
        (b"YWI= 0x100", "line 257"),
        (b"YWI= 256.0", "line 257"),
        (b"YW!I= 256", "line 257"),
        (b"YWI 256", "line 257"),
        (b"YWJ= 256", "line 257"),  # a bit after the last byte
        (b"YWI== 256", "line 257"),
        (b"YWI= 123456789", "line 257"),
        (b"YWI= " + b"9" * 100_000, "line 257"),
        (b"YWI= 99999999", f"rank 99999999, above {MAX_ID}"),
        (b"YQ== 256", "entry 257 of 257 gives b'a' twice"),
        (b"YWI= 97", "entry 257 of 257 gives rank 97 twice, for b'a' and b'ab'"),
    ],
)
def test_bad_line(line, reason):
    with pytest.raises(InvalidTokenizerFile, match=reason) as caught:
        read_ranks(rank_file(BYTES) + line + b"\n", "r.tiktoken")
    assert str(caught.value).startswith("r.tiktoken")
    assert len(str(caught.value)) < 400


def test_every_byte_of_text_needs_a_token():
    for byte in range(256):
        ranks = {token: rank for token, rank in BYTES.items() if token != bytes([byte])}
        if byte in NO_UTF8:
            assert len(read_ranks(rank_file(ranks), "r")) == 255
            continue
        with pytest.raises(InvalidTokenizerFile, match=f"1 of the 256 bytes .0x{byte:02x} first"):
            read_ranks(rank_file(ranks), "r")


def test_tokens_spelled_in_the_byte_alphabet_are_recognized():
    spelled = {f"Ġ{i}".encode(): i for i in range(300)}
    with pytest.raises(InvalidTokenizerFile, match="spelled in GPT-2's byte alphabet"):
        read_ranks(rank_file(spelled), "r")


def test_nothing_and_much():
    with pytest.raises(InvalidTokenizerFile, match="holds no tokens"):
        read_ranks(b"\n\n", "r")
    rng = random.Random(3)
    ranks = {**BYTES, **{rng.randbytes(9): 256 + i for i in range(100_000)}}
    start = time.perf_counter()
    assert read_ranks(rank_file(ranks), "r") == ranks
    assert time.perf_counter() - start < 30


def test_spec_of_a_rank_file():
    spec = ranks_to_spec({**BYTES, b"ab": 256}, PATTERNS["o200k"], {"<|x|>": 300}, "name")
    assert spec.model.merges is None
    assert spec.model.ignore_merges
    split, byte_level = spec.pre_tokenizers
    assert isinstance(split, Split)
    assert (split.behavior, split.invert) == ("isolated", False)
    assert byte_level == ByteLevel(False, False)
    assert (spec.engine, spec.name) == ("tiktoken", "name")
    assert [(t.content, t.id, t.special, t.normalized) for t in spec.added_tokens] == [
        ("<|x|>", 300, True, False)
    ]


@pytest.mark.parametrize(
    ("special", "reason"),
    [
        ({"<|x|>": 97}, r"special_tokens\['<\|x\|>'\] is 97, the rank of b'a'.*from 257"),
        ({"<|x|>": -1}, "is -1, expected 0"),
        ({"<|x|>": 2**40}, "expected 0"),
        ({"": 300}, "empty string"),
    ],
)
def test_bad_special_tokens(special, reason):
    with pytest.raises(InvalidValue, match=reason):
        ranks_to_spec({**BYTES, b"ab": 256}, PATTERNS["gpt2"], special, None)


def test_names_and_regexes():
    assert named_pattern("llama3") is PATTERNS["llama3"]
    split = named_pattern(r"\w+|\s+").steps[0]
    assert isinstance(split, Split)
    assert split.pattern == r"\w+|\s+"
    with pytest.raises(InvalidValue, match=r"Did you mean 'llama3'.*bloom, cl100k") as caught:
        named_pattern("lama3")
    assert all(name in str(caught.value) for name in PATTERNS)
    with pytest.raises(InvalidValue):
        named_pattern("")
