"""What is certain to merge never changes the ids; each test of the certificate is needed."""

from __future__ import annotations

import random

import numpy as np
import pytest

from numbatok import compile as compile_module
from numbatok import premerge
from numbatok.compile import build_tables
from numbatok.reference import merge_pretoken
from numbatok.spec import BpeModel, ByteLevel, TokenizerSpec
from numbatok.tables import EDGE_BITS, EDGE_NONE, NO_RANK, SYMBOL_BITS
from numbatok.tokenizer import Tokenizer
from tests.kernels.test_merge import BYTES, random_model

u64, NONE = np.uint64, np.uint64(EDGE_NONE)
CHARACTERS = ["一", "丁", "万", "á", "a", "b"]


def differences(
    seed, n_models, texts_each, is_utf8, n_letters=(2, 4), n_merges=(3, 24), alphabet=CHARACTERS
):
    """Return how many pretokens were compared, how many differ, how many pairs were certain."""
    rng, compared, differ, certain = random.Random(seed), 0, 0, 0
    for number in range(n_models):
        letters = rng.sample(alphabet if is_utf8 else "abcde", rng.randint(*n_letters))
        parts = sorted({bytes([byte]) for byte in "".join(letters).encode()})
        model = random_model(rng, rng.randint(*n_merges), number % 2 == 0, parts, 9)
        spec = TokenizerSpec(model=model, pre_tokenizers=(ByteLevel(False, False),))
        tokenizer = Tokenizer(spec, build_tables(spec))
        certain += int((tokenizer._encoder.tables.merges.byte_ranks < NO_RANK).sum())
        for _ in range(texts_each):
            if is_utf8 and rng.random() < 0.8:
                pretoken = "".join(rng.choices(letters, k=rng.randint(1, 6))).encode()
            else:
                pretoken = b"".join(rng.choices(parts, k=rng.randint(2, 14)))
            found = tokenizer.encode(pretoken).tolist()
            compared += 1
            differ += found != list(merge_pretoken(model, pretoken))
    return compared, differ, certain


@pytest.mark.parametrize("is_utf8", [False, True], ids=["letters", "characters"])
def test_random_vocabularies(is_utf8):
    compared, differ, certain = differences(11, 150, 60, is_utf8)
    few = differences(14, 300, 40, is_utf8, (1, 1), (2, 6))
    print(f"{compared + few[0]} pretokens compared, {certain} pairs of bytes merge")
    assert compared == 9000 and few[0] == 12_000 and certain > 300
    assert differ == few[1] == 0


def without(name):
    """Return a mutant of the builder that leaves one test of the certificate out."""

    def spoil(merges, first, last):
        if name == "product":
            least, calls = premerge.least_ranks, []

            def blind(places, ranks, size):  # the first two calls are for products
                calls.append(size)
                found = least(places, ranks, size)
                return np.full(size, NO_RANK, np.int64) if len(calls) <= 2 else found

            premerge.least_ranks = blind
            try:
                right(merges, first, last)
            finally:
                premerge.least_ranks = least
            return
        right(merges, first, last)
        rank, before, after = (merges.edges >> u64(EDGE_BITS * k) & NONE for k in range(3))
        if name == "before":
            before[:] = NONE
        elif name == "after":
            after[:] = NONE
        elif name == "sides":
            before, after = after, before
        merges.edges[:] = rank | before << u64(EDGE_BITS) | after << u64(2 * EDGE_BITS)

    right = premerge.certify
    return spoil


@pytest.mark.parametrize("name", ["before", "after", "sides", "product"])
def test_each_test_of_the_certificate_is_needed(name, monkeypatch):
    monkeypatch.setattr(compile_module, "certify", without(name))
    compared, differ, _ = differences(12, 150, 40, False)
    compared_more, differ_more, _ = differences(13, 100, 40, True)
    print(f"without {name}: {differ + differ_more} of {compared + compared_more} differ")
    assert differ + differ_more > 0


PARTS = ["before", "after", "taken_left", "taken_right"]


def hide(monkeypatch, blind):
    """Let the builder of characters not see one of its tables."""
    right = premerge.certain_parts

    def spoil(merges, *tests):
        hidden = [
            np.full_like(test, NO_RANK) if name == blind else test
            for name, test in zip(PARTS, tests, strict=True)
        ]
        return right(merges, *hidden)

    monkeypatch.setattr(premerge, "certain_parts", spoil)


@pytest.mark.parametrize("blind", [None, "before", "after", "taken_right"])
def test_each_test_of_the_characters_is_needed(blind, monkeypatch):
    hide(monkeypatch, blind)
    alphabet = ["一", "丁", "万", "乁", "耀"]  # the last has two equal bytes
    compared, differ, _ = differences(21, 400, 40, True, (1, 3), (2, 16), alphabet)
    print(f"without {blind}: {differ} of {compared} differ")
    assert compared == 16_000 and (differ == 0) == (blind is None)


def test_a_character_is_not_certain_where_another_merge_takes_its_first_bytes(monkeypatch):
    first, last = "一".encode()[:2], "一".encode()[2:]
    merges = ((first[:1], first[1:]), (last, first), (first, last))
    tokens = [*BYTES, first, last + first, first + last]
    model = BpeModel({token: i for i, token in enumerate(tokens)}, merges)
    spec = TokenizerSpec(model=model, pre_tokenizers=(ByteLevel(False, False),))
    code, text = ord("一"), "一一".encode()
    tokenizer = Tokenizer(spec, build_tables(spec))
    assert symbols_of(tokenizer, code) == [256, 128]
    assert tokenizer.encode(text).tolist() == list(merge_pretoken(model, text)) == [256, 257, 128]

    right = premerge.certify

    def spoil(merges, first, last):
        right(merges, first, last)
        merges.characters[code] = 256 + 2  # the third merge alone

    monkeypatch.setattr(compile_module, "certify", spoil)
    assert Tokenizer(spec, build_tables(spec)).encode(text).tolist() == [258, 258]


@pytest.mark.parametrize("blind", [None, "taken_left"])
def test_a_character_is_not_certain_where_another_merge_takes_its_last_bytes(blind, monkeypatch):
    hide(monkeypatch, blind)
    a, last, first = b"\xe4", "一".encode()[1:], "あ".encode()[:2]
    merges = ((last[:1], last[1:]), (first[:1], first[1:]), (last, first), (a, last))
    tokens = [*BYTES, last, first, last + first, a + last]
    model = BpeModel({token: i for i, token in enumerate(tokens)}, merges)
    spec = TokenizerSpec(model=model, pre_tokenizers=(ByteLevel(False, False),))
    tokenizer, text = Tokenizer(spec, build_tables(spec)), "一あ".encode()
    assert symbols_of(tokenizer, ord("一")) == ([256 + 3] if blind else [0xE4, 256])
    right = list(merge_pretoken(model, text))
    assert right == [0xE4, 258, 0x82]
    assert (tokenizer.encode(text).tolist() == right) == (blind is None)


def symbols_of(tokenizer, code):
    packed = int(tokenizer._encoder.tables.merges.characters[code])
    parts = [packed >> SYMBOL_BITS * k & (1 << SYMBOL_BITS) - 1 for k in range(3)]
    return [part for part in parts if part]


def test_gpt2_has_many_certain_characters(gpt2):
    whole = sum(len(symbols_of(gpt2, code)) == 1 for code in range(0x800, 0x10000))
    apart = sum(len(symbols_of(gpt2, code)) == 3 for code in range(0x800, 0x10000))
    before = gpt2._encoder.tables.merges.edges >> u64(EDGE_BITS) & NONE
    assert whole > 50 and apart > 10_000
    assert int((before < NONE).sum()) > 1000


def test_the_filter_lets_few_through_in_vain(gpt2):
    merges = gpt2._encoder.tables.merges
    bits = np.unpackbits(merges.filter.view(np.uint8))
    assert 1 / 20 < bits.mean() <= 1 / 8
    assert bits.sum() <= len(gpt2.merges)


def test_symbols_of_every_character_are_its_bytes(gpt2):
    """Whatever is certain, it is of the bytes of the character and in their order."""
    texts, ids = gpt2._encoder.tables.vocabulary, gpt2._encoder.tables.merges.ids
    starts = texts.starts
    for code in range(0x800, 0x10000):
        found = b""
        for symbol in symbols_of(gpt2, code):
            token = int(ids[symbol])
            found += texts.bytes[starts[token] : starts[token + 1]].tobytes()
        assert found == chr(code).encode("utf-8", "surrogatepass"), code
