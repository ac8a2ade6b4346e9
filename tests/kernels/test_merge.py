"""The merge kernels equal the merge by definition, on vocabularies of every kind."""

from __future__ import annotations

import random

import pytest

from numbatok.compile import build_tables
from numbatok.reference import merge_pretoken
from numbatok.spec import BpeModel, ByteLevel, TokenizerSpec
from numbatok.tokenizer import Tokenizer

BYTES = [bytes([byte]) for byte in range(256)]
# around one key of 15 bytes, one mask of 64, and what the heap takes
LENGTHS = [1, 2, 3, 4, 5, 8, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 300]


def tokenizer_of(model: BpeModel) -> Tokenizer:
    spec = TokenizerSpec(model=model, pre_tokenizers=(ByteLevel(False, True),))
    return Tokenizer(spec, build_tables(spec))


def random_model(
    rng: random.Random, n_merges: int, in_order: bool, parts=None, longest=20, **options
) -> BpeModel:
    """Return a vocabulary over some letters or bytes, whose merges may come in any order."""
    letters = parts or [letter.encode() for letter in rng.sample("abcdef", rng.randint(1, 5))]
    tokens, merges = dict.fromkeys(BYTES), {}
    pool = list(letters)
    for _ in range(n_merges):
        left, right = rng.choice(pool), rng.choice(pool)
        if len(left + right) <= longest:
            merges.setdefault((left, right))
            if left + right not in tokens:
                tokens[left + right] = None
                pool.append(left + right)
    order = list(merges)
    if not in_order:
        rng.shuffle(order)
    numbers = list(range(len(tokens)))
    rng.shuffle(numbers)
    return BpeModel(dict(zip(tokens, numbers, strict=True)), tuple(order), **options)


@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "any order"])
@pytest.mark.parametrize("ignore_merges", [False, True], ids=["merging", "whole first"])
def test_random_vocabularies_equal_the_definition(in_order, ignore_merges, record_property):
    rng, compared = random.Random(7), 0
    for _ in range(60):
        model = random_model(rng, rng.randint(0, 40), in_order, ignore_merges=ignore_merges)
        tokenizer = tokenizer_of(model)
        for length in LENGTHS:
            pretoken = "".join(rng.choices("abcdef"[: rng.randint(1, 6)], k=length)).encode()
            assert list(merge_pretoken(model, pretoken)) == tokenizer.encode(pretoken).tolist()
            compared += 1
    record_property("compared", compared)
    print(f"{compared} pretokens compared")
    assert compared == 60 * len(LENGTHS)


def test_rank_files_equal_the_definition():
    rng, compared = random.Random(8), 0
    for _ in range(60):
        tokens = {token: i for i, token in enumerate(BYTES)}
        pool = [letter.encode() for letter in "abcd"]
        for _ in range(rng.randint(0, 40)):
            token = rng.choice(pool) + rng.choice(pool)
            if token not in tokens:
                tokens[token] = len(tokens)
                pool.append(token)
        model = BpeModel(tokens, None, ignore_merges=True)
        tokenizer = tokenizer_of(model)
        for length in LENGTHS:
            pretoken = "".join(rng.choices("abcd", k=length)).encode()
            assert list(merge_pretoken(model, pretoken)) == tokenizer.encode(pretoken).tolist()
            compared += 1
    print(f"{compared} pretokens compared")
    assert compared == 60 * len(LENGTHS)


def test_a_wrong_rank_is_caught():
    model = BpeModel(
        {**{token: i for i, token in enumerate(BYTES)}, b"ab": 256, b"bc": 257},
        ((b"a", b"b"), (b"b", b"c")),
    )
    swapped = BpeModel(model.tokens, model.merges[::-1])
    assert list(merge_pretoken(model, b"abc")) != tokenizer_of(swapped).encode("abc").tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("aaa", ["aa", "a"]), ("aaaa", ["aa", "aa"]), ("aaaaa", ["aa", "aa", "a"])],
)
def test_overlapping_repeats_merge_leftmost(text, expected):
    model = BpeModel({**{t: i for i, t in enumerate(BYTES)}, b"aa": 256}, ((b"a", b"a"),))
    tokenizer = tokenizer_of(model)
    assert [tokenizer.id_to_token(i) for i in tokenizer.encode(text)] == expected


def test_bytes_without_a_token_are_dropped_or_unknown():
    tokens = {token: i for i, token in enumerate(BYTES) if token != b"x"}
    merges = ((b"a", b"b"),)
    tokens[b"ab"] = 256
    drop = tokenizer_of(BpeModel(tokens, merges))
    assert drop.encode("axb" * 9).tolist() == [256] * 9
    assert drop.encode("xxx").tolist() == []
    unknown = BpeModel(tokens, merges, opaque={"<unk>": 300}, unk="<unk>")
    assert tokenizer_of(unknown).encode("axxb").tolist() == [97, 300, 300, 98]
    fused = BpeModel(tokens, merges, opaque={"<unk>": 300}, unk="<unk>", fuse_unk=True)
    assert tokenizer_of(fused).encode("axxb").tolist() == [97, 300, 98]
