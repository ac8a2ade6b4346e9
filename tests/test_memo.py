"""How large the memo of a thread may become."""

import numpy as np
import pytest

import numbatok
from numbatok.memo import FIRST_MEMO, LEAST, grown, largest_memo, memo_sizes


def test_the_usual_memo():
    assert largest_memo() == (1 << 20, 1 << 19)


@pytest.mark.parametrize(("megabytes", "entries"), [(1, LEAST), (24, 1 << 19), (100, 1 << 21)])
def test_a_chosen_memo_takes_no_more_than_that(monkeypatch, megabytes, entries):
    monkeypatch.setenv("NUMBATOK_MEMO_MB", str(megabytes))
    sizes = largest_memo()
    assert sizes.entries == entries
    assert 32 * sum(sizes) <= megabytes << 20


@pytest.mark.parametrize("value", ["0", "-1", "lots", "1.5", "65537", 5_000 * "9"])
def test_another_value_is_named(monkeypatch, value):
    monkeypatch.setenv("NUMBATOK_MEMO_MB", value)
    with pytest.raises(numbatok.InvalidValue, match=r"NUMBATOK_MEMO_MB.*megabytes from 1 to 65536"):
        numbatok.load("gpt2").encode("a")


def test_tables_grow_to_the_limit_and_no_further():
    size = FIRST_MEMO.entries
    for _ in range(20):
        size = grown(size, 1 << 17)
    assert size == 1 << 17


def test_a_smaller_memo_stays_small(monkeypatch):
    text = " ".join(f"word{i * 7919}x" for i in range(120_000))
    expected = numbatok.load("gpt2").encode(text)
    monkeypatch.setenv("NUMBATOK_MEMO_MB", "2")
    tokenizer = numbatok.load("gpt2")
    assert np.array_equal(expected, tokenizer.encode(text))
    states = tokenizer._encoder._states
    assert states
    for state in states:
        assert 32 * sum(memo_sizes(state.memo)) <= 2 << 20
