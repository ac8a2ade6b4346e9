"""Cuts between threads are allowed only for chains whose tables show that they change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from numbatok.cuts import IN_ALL, find_cut
from numbatok.errors import NumbatokError
from numbatok.pattern_names import GPT2, KIMI, LLAMA3, MINICPM5, NEMO, O200K, QWEN2, QWEN3_5, R50K
from numbatok.regex import automaton
from numbatok.spec import Split
from numbatok.tables import CUT_WORDS, SAFE_CUTS
from tests.reference.comparing import assert_equal, differences
from tests.regex.chains import BYTES, PUBLISHED, RandomChains
from tests.regex.running import Runner

FAMILIES = [GPT2, R50K, LLAMA3, QWEN2, QWEN3_5, O200K, NEMO, MINICPM5]
PIECES = ["a", "Z ", " b", " ", "'s", "1", "\n", ". ", "中", "，", "。", "カ", "、", "é", "  x"]


def cut_cases(seed, n_chains):
    """Return (runner, text, cut) for chains that allow cuts, and how many do and do not."""
    made, cases, allowed, others = RandomChains(seed), [], 0, 0
    chains = [*PUBLISHED.values(), *(made.chain(3) for _ in range(n_chains))]
    for steps in chains:
        try:
            runner = Runner(steps)
        except NumbatokError:
            continue
        kinds = int(runner.automaton.shape[SAFE_CUTS])
        allowed, others = allowed + (kinds == IN_ALL), others + (kinds == 0)
        for _ in range(20):
            text = "".join(made.chance.choices(PIECES, k=12)).encode()
            cut = find_cut(np.frombuffer(text, np.uint8), 3, len(text), kinds)
            if cut < len(text):
                cases.append((runner, text, cut))
    print(f"{allowed} chains allow all cuts, {others} none")
    return cases


def in_one(case):
    return case[0].pretokens(case[1])


def in_two(case):
    runner, text, cut = case
    return runner.pretokens(text[:cut]) + runner.pretokens(text[cut:])


def test_a_cut_changes_nothing_where_it_is_allowed():
    assert_equal("cuts", cut_cases(1, 150), in_one, in_two)


def test_comparison_sees_cuts_that_are_not_safe(monkeypatch):
    monkeypatch.setattr(automaton, "safe_cuts", lambda laid, kinds, joint: too_many(laid))
    assert differences(cut_cases(1, 150), in_one, in_two)[1]


def too_many(laid):
    return IN_ALL if len(laid.back) < 8 else 0  # a wrong rule that holds for many


@pytest.mark.parametrize("pattern", FAMILIES)
def test_the_cuts_are_safe_for_the_families_that_have_kernels_of_their_own(pattern):
    runner = Runner([Split(pattern, True), BYTES])
    assert runner.automaton.shape[SAFE_CUTS] == IN_ALL


def test_the_cuts_are_safe_for_kimi():
    runner = Runner([Split(KIMI, True)], "tiktoken")
    assert runner.automaton.shape[SAFE_CUTS] == IN_ALL


@pytest.mark.parametrize(
    "steps",
    [
        [Split(" ", False, "merged_with_previous"), BYTES],
        [Split(r"\w+ \w+", True), BYTES],
        [Split(r"^.", True), BYTES],
        [Split(r"(?=.*z)[a ]+|.", True), BYTES],
        [BYTES],
    ],
)
def test_chains_that_see_over_a_cut_allow_none(steps):
    assert Runner(steps).automaton.shape[SAFE_CUTS] & CUT_WORDS == 0
