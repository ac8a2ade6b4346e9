"""The merge loop against the reference trainer, in all tie modes."""

from __future__ import annotations

import random

import pytest

from numbatok.errors import TrainingError
from numbatok.reference.train import train
from numbatok.training import merging
from numbatok.training.merging import Merger, Rules, Start
from numbatok.training.pretokens import make_pretokens
from numbatok.training.ties import alphabet
from tests.training.small_corpora import N_CORPORA, count, small_corpus

TIES = ("huggingface", "bytes", "minbpe")


def learn(counts, n_merges, ties="huggingface", *, shuffled=None, decide=None, **rules):
    """Return what the merge loop learns; `shuffled` is a seed for another order of the words."""
    words = list(counts.items())
    firsts = list(range(len(words)))
    if shuffled is not None:
        random.Random(shuffled).shuffle(firsts)
    pretokens = make_pretokens(
        [words[k][0] for k in firsts], [words[k][1] for k in firsts], [1000 * k for k in firsts]
    )
    asked = () if decide is None else None
    chosen = Rules(by_place=ties == "minbpe", asked=asked, decide=decide, **rules)
    merger = Merger(pretokens, n_merges, Start(alphabet(ties)), chosen)
    for _ in merger.run():
        pass
    return merger.merges()


@pytest.mark.parametrize("ties", TIES)
def test_equals_the_reference(ties):
    compared = n_merges = 0
    for seed in range(N_CORPORA):
        counts = count(small_corpus(seed))
        wanted = train(counts, 60, ties=ties)
        assert learn(counts, 60, ties) == wanted, f"seed {seed}"
        assert learn(counts, 60, ties, shuffled=seed) == wanted, f"seed {seed}, other order"
        compared += 2
        n_merges += len(wanted)
    print(f"{ties}: {compared} runs, {n_merges} merges compared")
    assert compared >= 400 and n_merges > 5000


@pytest.mark.parametrize("ties", TIES)
def test_every_recount_leads_to_the_same_merges(ties, monkeypatch):
    """With one pair above the threshold there is a recount for almost every merge."""
    monkeypatch.setattr(merging, "WANTED_PAIRS", 1)
    monkeypatch.setattr(merging, "CELLS_A_CALL", 7)
    monkeypatch.setattr(merging, "WORK_A_CALL", 3)
    for seed in range(0, N_CORPORA, 5):
        counts = count(small_corpus(seed))
        assert learn(counts, 60, ties) == train(counts, 60, ties=ties), f"seed {seed}"


def test_comparison_catches_a_wrong_tie():
    """A planted fault: the bytes in another order."""
    differing = 0
    for seed in range(30):
        counts = count(small_corpus(seed))
        differing += learn(counts, 60, "bytes") != train(counts, 60, ties="huggingface")
    assert differing > 5


@pytest.mark.parametrize("ties", TIES)
def test_limits_and_weights(ties):
    chosen = random.Random(5)
    for seed in range(0, N_CORPORA, 7):
        counts = {
            word: number * chosen.choice((1, 7, (1 << 33) + 1, 1 << 40))
            for word, number in count(small_corpus(seed)).items()
        }
        for options in (
            {},
            {"min_frequency": 3 << 33},
            {"max_token_bytes": 1},
            {"max_token_bytes": 2},
            {"max_token_bytes": 3, "min_frequency": 2},
        ):
            wanted = train(counts, 50, ties=ties, **options)
            assert learn(counts, 50, ties, **options) == wanted, f"seed {seed} {options}"


@pytest.mark.parametrize("ties", TIES)
def test_vetoes(ties):
    def is_wanted(left, right):
        return (left + right)[-1] % 3 != 0 and len(left + right) < 6

    n_vetoed = 0
    for seed in range(0, N_CORPORA, 7):
        counts = count(small_corpus(seed))
        asked = []

        def veto(left, right, asked=asked):
            asked.append((left, right))
            return not is_wanted(left, right)

        wanted = train(counts, 50, ties=ties, veto=veto)
        assert learn(counts, 50, ties, decide=is_wanted) == wanted, f"seed {seed}"
        n_vetoed += len(asked) - len(wanted)
    assert n_vetoed > 100


def test_pair_that_only_shrinks_is_merged():
    counts = {b"abc": 6, b"abd": 6, b"bc": 4}
    merges = [(b"a", b"b"), (b"ab", b"c"), (b"ab", b"d"), (b"b", b"c")]
    for ties in TIES:
        assert learn(counts, 10, ties) == merges


@pytest.mark.parametrize("ties", TIES)
def test_long_runs_and_one_giant_pretoken(ties):
    chosen = random.Random(1)
    for word in (b"a" * 3000, b"ab" * 700, b"aab" * 500, bytes(chosen.choices(b"abcd", k=3000))):
        counts = {word: 1, b"aaaaa": 2, b"ba": 3}
        assert learn(counts, 40, ties) == train(counts, 40, ties=ties), word[:10]


def test_nothing_to_merge():
    assert learn({}, 5) == []
    assert learn({b"a": 5, b"b": 1}, 5) == []
    assert learn({b"ab": 5}, 0) == []


def test_counts_whose_sum_does_not_fit():
    with pytest.raises(TrainingError, match=r"more than 2\^62; divide the counts"):
        learn({b"ab" * 50: 1 << 60}, 5)
