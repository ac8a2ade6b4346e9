"""Compiled regexes and chains cut as Oniguruma, tiktoken's engine and tokenizers do."""

from __future__ import annotations

import random

import pytest

from numbatok.errors import NumbatokError
from numbatok.regex import compose, split
from numbatok.spec import ByteLevel, Split
from tests.reference.comparing import assert_equal, differences
from tests.reference.library_oracles import (
    library_strings,
    pre_tokenizer,
    spelled,
    tiktoken_pieces,
)
from tests.reference.random_regexes import RandomRegexes
from tests.regex.chains import BEHAVIORS, BYTES, PUBLISHED, RandomChains
from tests.regex.running import Runner

pytestmark = pytest.mark.oracle


def library_of(steps):
    """Return the library's pre-tokenizer, or None if it refuses a pattern."""
    try:
        return pre_tokenizer(steps)
    except Exception:  # the library raises nothing more exact
        return None


def runner_of(steps, refused, engine="tokenizers"):
    """Return the compiled chain; a refusal is counted by its reason."""
    try:
        return Runner(steps, engine)
    except NumbatokError as error:
        reason = str(error).split(" is not supported")[0][:70]
        refused[reason] = refused.get(reason, 0) + 1
        return None


def chains_with_texts(chains, text_of, n_texts):
    """Return (steps, library, runner, text) for every chain that both sides take."""
    cases, refused, n_taken = [], {}, 0
    for steps in chains:
        library = library_of(steps)
        runner = None if library is None else runner_of(steps, refused)
        if runner is not None:
            n_taken += 1
            cases += [(steps, library, runner, text_of()) for _ in range(n_texts)]
    print(f"{n_taken} chains, {sum(refused.values())} refused: {refused}")
    return cases, n_taken, sum(refused.values())


def expected(case):
    return library_strings(case[1], case[3])


def found(case):
    return [spelled(pretoken) for pretoken in case[2].pretokens(case[3])]


def random_splits(seed, count):
    """Yield chains of one random regex."""
    made, chance = RandomRegexes(seed), random.Random(seed)
    for _ in range(count):
        yield [Split(made.regex(), True, chance.choice(BEHAVIORS), chance.random() < 0.3), BYTES]


@pytest.mark.parametrize(
    ("seed", "count"), [(1, 350), pytest.param(2, 20_000, marks=pytest.mark.slow)]
)
def test_random_regexes_cut_as_oniguruma_does(seed, count):
    made = RandomRegexes(seed + 1000)
    cases, taken, refused = chains_with_texts(
        random_splits(seed, count), lambda: made.text(9), n_texts=8
    )
    assert refused < taken / 4
    assert_equal("random regexes", cases, expected, found)


@pytest.mark.parametrize(
    ("seed", "count"), [(3, 150), pytest.param(4, 10_000, marks=pytest.mark.slow)]
)
def test_random_chains_cut_as_tokenizers_does(seed, count):
    made = RandomChains(seed)
    chains = (made.chain() for _ in range(count))
    cases, taken, refused = chains_with_texts(chains, made.text, n_texts=8)
    assert refused < taken / 4
    assert_equal("random chains", cases, expected, found)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_chains_cut_random_texts_as_tokenizers_does(name):
    made = RandomChains(5)
    cases, taken, _ = chains_with_texts([PUBLISHED[name]], lambda: made.text(30), n_texts=150)
    assert taken == 1
    assert_equal(name, cases, expected, found)


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("text", ["en", "cjk", "multilingual", "code", "web"])
def test_published_chains_cut_real_texts_as_tokenizers_does(name, text, corpus):
    lines = corpus(text)[:12_000].decode(errors="ignore").splitlines(keepends=True)
    cases, _, _ = chains_with_texts([PUBLISHED[name]], iter(lines).__next__, n_texts=len(lines))
    assert_equal(f"{name}, {text}", cases, expected, found)


@pytest.mark.parametrize(
    ("seed", "count"), [(6, 120), pytest.param(7, 8_000, marks=pytest.mark.slow)]
)
def test_random_regexes_cut_as_tiktoken_does(seed, count):
    """Where a pattern leaves text unmatched, tiktoken drops it; an empty match makes it panic."""
    made, cases, refused = RandomRegexes(seed), [], {}
    for _ in range(count):
        pattern = made.regex()
        runner = runner_of([Split(pattern, True)], refused, "tiktoken")
        if runner is None or runner.chain.machine.empties.any() or matches_empty(runner):
            continue
        texts = [made.text(9) for _ in range(6)]
        try:
            pieces = tiktoken_pieces(pattern, texts)
        except ValueError:  # what the crate regex cannot compile
            continue
        cases += [(pattern, runner, *case) for case in zip(texts, pieces, strict=True)]
    assert_equal(
        "random patterns in tiktoken", cases, lambda case: case[3],
        lambda case: [pretoken.decode() for pretoken in case[1].pretokens(case[2])],
    )  # fmt: skip


def matches_empty(runner):
    """Tell whether a regex has an empty match anywhere."""
    from numbatok.regex.machine import CUT_AT_EMPTY_MATCH

    return (runner.chain.machine.cuts == CUT_AT_EMPTY_MATCH).any()


# --- planted faults: the comparisons above must see them ------------------------------------------


def lines_of_differences(chains, made):
    cases, _, _ = chains_with_texts(chains, made.text, n_texts=8)
    return differences(cases, expected, found)[1]


def test_comparison_sees_a_wrong_behavior(monkeypatch):
    cutting = split.cutting_of("merged_with_next", invert=False)
    monkeypatch.setattr("numbatok.regex.steps.cutting_of", lambda behavior, invert: cutting)
    assert lines_of_differences(random_splits(1, 60), RandomChains(1))


def test_comparison_sees_a_second_step_that_looks_over_the_cuts_of_the_first(monkeypatch):
    def without_ends(first, of_first, of_second, classes):
        return of_second[first.after[:, first.pairs[of_first, classes]]]

    monkeypatch.setattr(compose, "seen_by_second", without_ends)
    made = RandomChains(3)
    assert lines_of_differences([made.chain() for _ in range(100)], made)


def test_comparison_sees_case_read_exactly(monkeypatch):
    monkeypatch.setattr("numbatok.regex.points.widened", lambda cursor, mask, start: mask)
    steps = [Split("(?i:k|é)", True), ByteLevel(False, use_regex=False)]
    made = RandomChains(4)
    assert lines_of_differences([steps] * 20, made)
