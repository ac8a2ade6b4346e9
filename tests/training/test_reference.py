"""The reference trainer against tokenizers, rustbpe, bpeasy and minbpe's rule."""

from __future__ import annotations

import pytest

from numbatok.errors import InvalidValue
from numbatok.reference.train import train
from tests.training.other_trainers import bpeasy, huggingface, minbpe, rustbpe
from tests.training.small_corpora import N_CORPORA, count, pretokens, small_corpus

N_MERGES = 40


def products(merges):
    return [left + right for left, right in merges]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("ties", "oracle"),
    [("huggingface", huggingface), ("bytes", rustbpe), ("bytes", bpeasy), ("minbpe", minbpe)],
    ids=["tokenizers", "rustbpe", "bpeasy", "minbpe"],
)
def test_equals_other_trainers(ties, oracle):
    compared = n_merges = 0
    for seed in range(N_CORPORA):
        texts = small_corpus(seed)
        found = train(count(texts), N_MERGES, ties=ties)
        if oracle is minbpe:
            wanted = minbpe([word for text in texts for word in pretokens(text)], N_MERGES)
        else:
            wanted = oracle(texts, N_MERGES)
        if wanted and isinstance(wanted[0], bytes):
            found = products(found)
        assert found == wanted, f"seed {seed}: {texts!r}"
        compared += 1
        n_merges += len(wanted)
    print(f"{oracle.__name__}: {compared} corpora, {n_merges} merges compared")
    assert compared >= 200 and n_merges > 4000


def test_comparison_catches_another_tie():
    """A planted fault: ties by byte value are not Hugging Face's on most corpora."""
    differing = sum(
        train(count(texts), N_MERGES, ties="huggingface")
        != train(count(texts), N_MERGES, ties="bytes")
        for texts in map(small_corpus, range(50))
    )
    print(f"{differing} of 50 corpora tell the modes apart")
    assert differing > 10


def test_first_seen_and_smaller_pair_differ():
    counts = {b"aaabdaaabac": 1}
    assert products(train(counts, 3, ties="huggingface")) == [b"aa", b"ab", b"aaab"]
    assert products(train(counts, 3, ties="bytes")) == [b"aa", b"ab", b"aaab"]
    assert products(train(counts, 3, ties="minbpe")) == [b"aa", b"aaa", b"aaab"]


def test_pair_that_only_shrinks_is_merged():
    counts = {b"abc": 6, b"abd": 6, b"bc": 4}
    merges = [(b"a", b"b"), (b"ab", b"c"), (b"ab", b"d"), (b"b", b"c")]
    for ties in ("huggingface", "bytes", "minbpe"):
        assert train(counts, 10, ties=ties) == merges


def test_counts_above_32_bits():
    counts = {b"ab": 1 << 33, b"bc": (1 << 33) + 1, b"cd": 1 << 50}
    assert products(train(counts, 9)) == [b"cd", b"bc", b"ab"]


def test_limits():
    counts = {b"aaaa": 5, b"bc": 3, b"de": 1}
    assert products(train(counts, 9)) == [b"aa", b"aaaa", b"bc", b"de"]
    assert products(train(counts, 9, min_frequency=2)) == [b"aa", b"aaaa", b"bc"]
    assert products(train(counts, 9, max_token_bytes=2)) == [b"aa", b"bc", b"de"]
    assert products(train(counts, 9, max_token_bytes=1)) == []
    assert products(train(counts, 9, forbidden=[b"aa", b"de"])) == [b"bc"]
    assert products(train(counts, 9, veto=lambda left, right: right == b"c")) == [
        b"aa",
        b"aaaa",
        b"de",
    ]
    assert products(train(counts, 1, start_from=[(b"a", b"a")])) == [b"aaaa"]
    assert train({}, 5) == []
    with pytest.raises(InvalidValue, match=r"ties is 'random'; use one of 'huggingface'"):
        train(counts, 1, ties="random")
