"""Decoders against Hugging Face's, at once and while ids arrive."""

from __future__ import annotations

import random

import pytest
from tokenizers import Regex, Tokenizer, decoders, models

from numbatok.errors import UnknownIdError, UnsupportedTokenizer
from numbatok.reference import DecodeStream, decode, decode_bytes
from numbatok.reference.decoders import ByteFallbackStep, fallback_byte
from numbatok.reference.merge import bytes_of_string
from numbatok.spec import (
    AddedToken,
    BpeModel,
    DecodeBpe,
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeFuse,
    DecodeMetaspace,
    DecodeStrip,
    DecodeWordPiece,
    Replace,
    TokenizerSpec,
)
from tests.reference.comparing import assert_equal, differences

STRINGS = ["a", "b", "ab", "▁", "▁a", "▁▁b", "##a", "##", "a</w>", "</w>", "<0x41>", "<0xC3>"]
STRINGS += ["<0xA9>", "<0xE4>", "<0x+F>", "<0xg0>", "é", "Ã", "©", "Ġ", "Ġa", "中", " ", "  ", "."]
STRINGS += [" .", "n't", "do not", "'s", "", " a ", "x", "<0xe4>", "<0xÃ>", "<0x4>"]
VOCABULARY = {string: number for number, string in enumerate(STRINGS)}
PANIC = "panic"


def model() -> BpeModel:
    spelled = {string: bytes_of_string(string) or None for string in STRINGS}
    return BpeModel(
        tokens={token: VOCABULARY[s] for s, token in spelled.items() if token is not None},
        merges=(),
        opaque={s: VOCABULARY[s] for s, token in spelled.items() if token is None},
    )


def random_decoder(chance: random.Random):
    """Return a decoder and the library's twin of it."""
    start, stop = chance.randint(0, 2), chance.choice([0, 0, 1, 2])
    content = chance.choice("a ▁é")
    scheme = chance.choice(["always", "never", "first"])
    suffix = chance.choice(["</w>", "", "a"])
    literal, regex = (
        chance.choice(["▁", "a", "", "ab"]),
        chance.choice(["a*", r"\s+", "^.", "[ab]"]),
    )
    by, cleanup = chance.choice([" ", "", "é"]), chance.random() < 0.5
    return chance.choice(
        [
            (DecodeByteLevel(), decoders.ByteLevel()),
            (DecodeFuse(), decoders.Fuse()),
            (DecodeByteFallback(), decoders.ByteFallback()),
            (DecodeStrip(content, start, stop), decoders.Strip(content, start, stop)),
            (DecodeMetaspace("▁", scheme), decoders.Metaspace("▁", scheme)),
            (DecodeWordPiece("##", cleanup), decoders.WordPiece("##", cleanup)),
            (DecodeBpe(suffix), decoders.BPEDecoder(suffix)),
            (Replace(literal, False, by), decoders.Replace(literal, by)),
            (Replace(regex, True, by), decoders.Replace(Regex(regex), by)),
        ]
    )


def random_cases(seed: int, count: int):
    """Return (spec, library, ids) of chains of up to four decoders."""
    chance = random.Random(seed)
    vocabulary = model()
    cases = []
    for _ in range(count):
        chain = [random_decoder(chance) for _ in range(chance.choice([0, 1, 1, 2, 3, 4]))]
        library = Tokenizer(models.BPE(vocab=VOCABULARY, merges=[]))
        twins = [twin for _, twin in chain]
        if twins:
            library.decoder = twins[0] if len(twins) == 1 else decoders.Sequence(twins)
        spec = TokenizerSpec(model=vocabulary, decoders=tuple(decoder for decoder, _ in chain))
        for _ in range(8):
            cases.append(
                (spec, library, chance.choices(range(len(STRINGS)), k=chance.randint(0, 6)))
            )
    return cases


def by_library(case):
    try:
        return case[1].decode(case[2], skip_special_tokens=False)
    except BaseException:  # a Rust panic is no Exception
        return PANIC


def by_reference(case):
    try:
        return decode(case[0], case[2])
    except UnsupportedTokenizer:
        return PANIC


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("seed", "count"), [(1, 700), pytest.param(2, 6_000, marks=pytest.mark.slow)]
)
def test_random_decoders_equal_the_library(seed, count):
    assert_equal("decoders", random_cases(seed, count), by_library, by_reference)


@pytest.mark.oracle
def test_comparison_sees_byte_fallback_that_is_never_joined(monkeypatch):
    class ByteByByte(ByteFallbackStep):
        def push(self, token):
            return [*super().push(token), *self.flush()]

    monkeypatch.setattr("numbatok.reference.decoders.ByteFallbackStep", ByteByByte)
    _, lines = differences(random_cases(1, 400), by_library, by_reference)
    assert lines


def streamed(spec, ids):
    stream = DecodeStream(spec)
    return "".join([stream.push(number) for number in ids]) + stream.flush()


def test_a_stream_equals_the_text_at_once():
    cases = [case for case in random_cases(3, 800) if by_reference(case) != PANIC]
    assert_equal("streams", cases, by_reference, lambda case: streamed(case[0], case[2]))


def byte_level(*added: AddedToken) -> TokenizerSpec:
    tokens = {bytes([byte]): byte for byte in range(256)}
    return TokenizerSpec(model=BpeModel(tokens, (), {"｜": 300}), added_tokens=added)


def test_a_stream_of_bytes_gives_what_is_certain():
    stream = DecodeStream(byte_level())
    pushed = [stream.push(byte) for byte in b"\xe2\x82\xac\xe2\x82a\xf0\x9f"]
    assert pushed == ["", "", "€", "", "", "\ufffda", "", ""]
    assert stream.flush() == "\ufffd"


def test_streams_of_any_bytes_equal_bytes_decode():
    chance = random.Random(4)
    parts = [
        b"a",
        "é".encode(),
        "€".encode(),
        "😀".encode(),
        b"\xe2",
        b"\xf0\x9f",
        b"\x80",
        b"\xff",
    ]
    texts = [b"".join(chance.choices(parts, k=6)) for _ in range(2_000)]
    spec = byte_level()
    assert_equal(
        "streams of bytes",
        texts,
        lambda data: data.decode("utf-8", errors="replace"),
        lambda data: streamed(spec, data),
    )


def test_an_unknown_id_is_named_and_changes_nothing():
    spec = byte_level()
    for call in (decode, decode_bytes):
        with pytest.raises(UnknownIdError, match="id 299 at position 2 is not in the vocabulary"):
            call(spec, [97, 98, 299])
    stream = DecodeStream(spec)
    assert stream.push(0xC3) == ""
    with pytest.raises(UnknownIdError, match="id 299"):
        stream.push(299)
    assert stream.push(0xA9) == "é"


@pytest.mark.parametrize(
    ("token", "byte"),
    [
        ("<0x41>", 0x41),
        ("<0xe4>", 0xE4),
        ("<0x+F>", 15),
        ("<0xg0>", None),
        ("<0x++>", None),
        ("<0x-1>", None),
        ("<0x4>", None),
        ("<0xé>", None),
        ("<0X41>", None),
    ],
)
def test_byte_fallback_tokens(token, byte):
    assert fallback_byte(token) == byte


def test_special_tokens_can_be_left_out():
    spec = byte_level(AddedToken("<e>", 301), AddedToken("<n>", 302, special=False))
    assert decode(spec, [97, 301, 302, 98]) == "a<e><n>b"
    assert decode(spec, [97, 301, 302, 98], skip_special=True) == "a<n>b"


def test_bytes_come_back_where_the_decoder_reads_a_string_in_the_byte_alphabet():
    spec = byte_level(AddedToken("é", 301, special=False))
    assert decode_bytes(spec, [301, 300]) == "é｜".encode()
    assert decode(spec, [301, 300]) == "\ufffd｜"
