"""The one merge of each token of a rank file, against the published ones and by brute force."""

import json
import random
import time
from itertools import pairwise

import pytest

from numbatok.formats.byte_alphabet import to_spelling
from numbatok.formats.canonical import canonical_merges, canonical_split, last_merge
from numbatok.formats.gpt2 import read_gpt2
from numbatok.formats.ranks import read_ranks
from numbatok.spec import BpeModel
from tests.formats.merging import Merger


def test_gpt2s_merges_follow_from_its_ranks(vocab_file):
    path = vocab_file("gpt2", "r50k_base.tiktoken")
    merges = canonical_merges(read_ranks(path.read_bytes(), "r"))
    assert tuple(merges) == read_gpt2().model.merges


@pytest.mark.parametrize(
    "name", ["cl100k_base", pytest.param("o200k_base", marks=pytest.mark.slow)]
)
def test_merges_equal_those_of_the_published_tokenizer_json(name, vocab_file):
    ranks = read_ranks(vocab_file(name, f"{name}.tiktoken").read_bytes(), "r")
    ours = [f"{to_spelling(a)} {to_spelling(b)}" for a, b in canonical_merges(ranks)]
    theirs = json.loads(vocab_file(name, "tokenizer.json").read_bytes())["model"]["merges"]
    print(f"{len(ours)} merges")
    assert ours == theirs


def random_ranks(rng, alphabet=b"abc"):
    """A rank file of random strings, so that most orders and overlaps occur."""
    tokens = {bytes([byte]) for byte in alphabet}
    while len(tokens) < rng.randrange(6, 30):
        tokens.add(bytes(rng.choices(alphabet, k=rng.randrange(2, 7))))
    numbers = rng.sample(range(100), len(tokens))
    return dict(zip(sorted(tokens), numbers, strict=True))


def models(ranks):
    """A rank file as it is, and as its merges; whole tokens are not looked up in either."""
    merges = tuple(canonical_merges(ranks))
    return Merger(BpeModel(ranks, None)), Merger(BpeModel(ranks, merges))


def test_merges_give_what_ranks_give():
    rng = random.Random(11)
    compared = unreachable = 0
    for _ in range(300):
        ranks = random_ranks(rng)
        by_rank, by_merge = models(ranks)
        unreachable += sum(len(t) > 1 and not last_merge(t, ranks) for t in ranks)
        for _ in range(60):
            text = bytes(rng.choices(b"abc", k=rng.randrange(1, 16)))
            assert by_rank.encode(text) == by_merge.encode(text), (ranks, text)
            compared += 1
    print(f"{compared} texts equal, {unreachable} tokens that merging never makes")
    assert compared == 18_000
    assert unreachable > 100


def test_comparison_sees_a_merge_that_is_left_out():
    rng = random.Random(5)
    differences = 0
    for _ in range(100):
        ranks = random_ranks(rng)
        by_rank, by_merge = models(ranks)
        if not by_merge.rank_of:
            continue
        by_merge.rank_of.pop(rng.choice(list(by_merge.rank_of)))
        texts = [bytes(rng.choices(b"abc", k=10)) for _ in range(60)]
        differences += any(by_rank.encode(text) != by_merge.encode(text) for text in texts)
    assert differences > 20


def test_last_merge_equals_merging_by_definition():
    rng = random.Random(13)
    compared = 0
    for _ in range(300):
        ranks = random_ranks(rng)
        for token in ranks:
            assert last_merge(token, ranks) == naive_last_merge(token, ranks), (ranks, token)
            compared += 1
    assert compared > 3000


def naive_last_merge(token, ranks):
    symbols = [bytes([byte]) for byte in token]
    while len(symbols) > 1:
        ranked = [
            (ranks[a + b], place)
            for place, (a, b) in enumerate(pairwise(symbols))
            if a + b in ranks
        ]
        if not ranked:
            return 0
        _, place = min(ranked)
        if len(symbols) == 2:
            return len(symbols[0])
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
    return 0


def test_long_tokens_take_no_quadratic_time():
    """Sixteen times the bytes may take at most 64 times as long; quadratic time is 256."""
    byte_ranks = {bytes([byte]): byte for byte in range(256)}
    seconds = []
    for size in (10_000, 160_000):
        ranks = {**byte_ranks, b"aa": 256, b"aaaa": 257, b"a" * size: 258}
        best = 99.0
        for _ in range(3):
            start = time.process_time()
            assert canonical_split(b"a" * size, ranks) == 0
            best = min(best, time.process_time() - start)
        seconds.append(best)
    print(f"{seconds[1] / seconds[0]:.1f} times as long")
    assert seconds[1] < 64 * seconds[0]
