"""Merges that stand before the merges of their parts, compared with merging by definition."""

from __future__ import annotations

import random
import time

import pytest

import numbatok
from numbatok import compile, reference
from numbatok.errors import UnsupportedTokenizer
from numbatok.spec import BpeModel, ByteLevel, TokenizerSpec
from numbatok.tokenizer import _from_spec

BYTES = {bytes([byte]): byte for byte in range(256)}
WHOLE = (ByteLevel(add_prefix_space=False, use_regex=False),)


def spec_of(model: BpeModel) -> TokenizerSpec:
    engine = "tiktoken" if model.merges is None else "tokenizers"
    return TokenizerSpec(model, pre_tokenizers=WHOLE, engine=engine)


def random_model(rng: random.Random, of_ranks: bool) -> BpeModel:
    """Return merges in any order, each token's splits among them, or ranks in any order."""
    alphabet = "abc"[: rng.randint(1, 3)]
    words = {"".join(rng.choices(alphabet, k=rng.randint(2, 9))).encode() for _ in range(40)}
    ids = rng.sample(range(256, 300), min(len(words), 44))
    tokens = BYTES | dict(zip(sorted(words), ids, strict=False))
    if of_ranks:
        return BpeModel(tokens, None, ignore_merges=True)
    splits = [(word[:k], word[k:]) for word in words for k in range(1, len(word))]
    merges = [pair for pair in splits if tokens.keys() >= set(pair)]
    rng.shuffle(merges)
    return BpeModel(tokens, tuple(merges), ignore_merges=rng.random() < 0.3)


def differences(of_ranks: bool, count: int) -> tuple[int, int]:
    """Return how many texts were compared with the reference, and how many differ."""
    rng, compared, differing = random.Random(31), 0, 0
    for _ in range(count):
        spec = spec_of(random_model(rng, of_ranks))
        texts = ["".join(rng.choices("aabbcd", k=rng.randint(0, 30))) for _ in range(40)]
        texts += ["a" * 150, "abc" * 40]
        found = _from_spec(spec).encode_batch(texts).to_list()
        pairs = zip(found, (reference.encode(spec, text) for text in texts), strict=True)
        differing += sum(ours != expected for ours, expected in pairs)
        compared += len(texts)
    return compared, differing


@pytest.mark.parametrize("of_ranks", [False, True])
def test_any_order_equals_the_definition(of_ranks):
    compared, differing = differences(of_ranks, 150)
    print(f"{compared} texts of 150 tokenizers compared")
    assert compared > 6_000
    assert differing == 0


def test_without_late_merges_texts_differ(monkeypatch):
    monkeypatch.setattr(compile, "learn_late", lambda *_: None)
    assert differences(False, 10)[1] > 20


def test_published_files_that_need_it(vocab_file):
    """81 merges of llama3 stand before the merges of their parts; `.:.:` is one of them."""
    for file in ("tokenizer.json", "tokenizer.model"):
        tokenizer = numbatok.load(vocab_file("llama3", file))
        learned = compile.build_tables(tokenizer._vocabulary.full_spec()).merges.ids[256:-2]
        assert (learned != 0).sum() == 127_156


def test_long_tokens_in_no_order_are_refused_quickly():
    run = b"a" * 20_000
    tokens = BYTES | {run * 2: 256, run: 257, b"aa": 258}
    tokens |= {b"a" * n: 300 + n for n in range(3, 200)}
    started = time.process_time()
    with pytest.raises(UnsupportedTokenizer, match="squared bytes of tokens"):
        _from_spec(spec_of(BpeModel(tokens, None)))
    assert time.process_time() - started < 30  # 0.3 s on an idle core; it would take hours
