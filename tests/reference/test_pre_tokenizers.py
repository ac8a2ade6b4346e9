"""Chains of pre-tokenizers against Hugging Face's."""

from __future__ import annotations

import random

import pytest

from numbatok.errors import UnsupportedTokenizer
from numbatok.reference import chain
from numbatok.reference.atoms import characters, join, split_atoms
from numbatok.reference.chain import arrange, cut, run_chain
from numbatok.spec import (
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    PreTokenizer,
    Punctuation,
    Split,
    UnicodeScripts,
    WhitespaceSplit,
    WhitespaceWords,
)
from tests.reference.comparing import assert_equal, differences
from tests.reference.library_oracles import library_strings, pre_tokenizer

BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
PATTERNS = [
    r"\s+",
    r"\p{N}{1,3}",
    r"\d",
    r"'s|[a-z]+",
    r" ?\p{L}+",
    r"\s+$",
    r"(?=A)",
    r"a*",
    r"\b",
]
PATTERNS += [r"[一-龥]+", r"\s?\p{P}+", r"[\r\n]", r"(?:\r?\n)+(?!\r?\n)", r"\p{Lu}|\p{M}", r"\b"]
PATTERNS += [r"Ġ", r"Ġ?[a-zĀ-Ń]+", r"[0-9][0-9][0-9]"]
LITERALS = ["a", "  ", "é", "", "ab", ".", "Ġ", "\n", r"\s+"]
CHARACTERS = [*"ab1 .\n\r\tAé中カ_'s½²—", "\u0301", "  ", "ー", "α", "\u00a0", "\u200d", "Ⅷ", "123"]
CHARACTERS += ["\U00011de0", "\u2e43", "\u166d", "\u0378"]


def random_step(chance: random.Random) -> PreTokenizer:
    behavior = chance.choice(BEHAVIORS)
    return chance.choice(
        [
            Split(chance.choice(PATTERNS), True, behavior, chance.random() < 0.3),
            Split(chance.choice(PATTERNS), True, "isolated"),
            Split(chance.choice(LITERALS), False, behavior, chance.random() < 0.3),
            Digits(chance.random() < 0.5),
            Punctuation(behavior),
            WhitespaceWords(),
            WhitespaceSplit(),
            CharDelimiterSplit(chance.choice("a é_")),
            FixedLength(chance.randint(1, 4)),
            UnicodeScripts(),
        ]
    )


def random_cases(seed: int, count: int):
    """Return (steps, library, text), with a ByteLevel step somewhere in most chains."""
    chance = random.Random(seed)
    cases = []
    for _ in range(count):
        steps = [random_step(chance) for _ in range(chance.randint(0, 3))]
        if chance.random() < 0.7:
            byte_level = ByteLevel(chance.random() < 0.3, chance.random() < 0.5)
            steps.insert(chance.randint(0, len(steps)), byte_level)
        library = pre_tokenizer(steps)
        for _ in range(8):
            text = "".join(chance.choices(CHARACTERS, k=chance.randint(1, 10)))
            cases.append((steps, library, text))
    return cases


def by_reference(case):
    steps, _, text = case
    pretokens = [characters(text)]
    for step in steps:
        parts = [part for whole in pretokens for part in cut(step, "tokenizers", whole)]
        pretokens = [part for part in parts if part]
    return ["".join(chr(atom.code) for atom in pretoken) for pretoken in pretokens]


def by_library(case):
    return library_strings(case[1], case[2])


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("seed", "count"), [(1, 700), pytest.param(2, 10_000, marks=pytest.mark.slow)]
)
def test_random_chains_equal_the_library(seed, count):
    assert_equal("chains", random_cases(seed, count), by_library, by_reference)


@pytest.mark.oracle
def test_comparison_sees_a_wrong_behavior(monkeypatch):
    def swapped(pretoken, parts, behavior):
        other = {"merged_with_next": "merged_with_previous"}.get(behavior, behavior)
        return arrange(pretoken, parts, other)

    monkeypatch.setattr(chain, "arrange", swapped)
    _, lines = differences(random_cases(1, 300), by_library, by_reference)
    assert lines


def cut_bytes(steps, text, invalid="byte-alphabet"):
    pretokens = run_chain(steps, "tokenizers", split_atoms(text, invalid))
    return [join(pretoken) for pretoken in pretokens]


def test_byte_level_before_digits_cuts_inside_a_character():
    before = [ByteLevel(False, use_regex=True), Digits(True)]
    after = [Digits(True), ByteLevel(False, use_regex=True)]
    text = "²³ Ÿ 1"
    assert cut_bytes(before, text) == [
        b"\xc2",
        b"\xb2",
        b"\xc2",
        b"\xb3",
        " Ÿ".encode(),
        b" ",
        b"1",
    ]
    assert cut_bytes(after, text) == ["²".encode(), "³".encode(), " Ÿ".encode(), b" ", b"1"]
    assert cut_bytes([ByteLevel(False, use_regex=False), Digits(False)], "½") == [b"\xc2", b"\xbd"]


def test_a_literal_is_no_regex():
    last = ByteLevel(False, use_regex=False)
    assert cut_bytes([Split(r"\s+", False), last], "a b") == [b"a b"]
    assert cut_bytes([Split(r"\s+", True), last], "a b") == [b"a", b" ", b"b"]


def test_a_prefix_space_comes_before_every_pretoken():
    steps = [Digits(True), ByteLevel(True, use_regex=True)]
    assert cut_bytes(steps, "a1 b") == [b" a", b" 1", b" b"]
    assert cut_bytes(steps, "") == []


def test_stray_bytes_in_every_step():
    last = ByteLevel(False, use_regex=False)
    text = b"a\xb2\xa1\xe9 \xff"  # stand-ins: ² ¡ é ÿ
    assert cut_bytes([Digits(True), last], text) == [b"a", b"\xb2", b"\xa1\xe9 \xff"]
    assert cut_bytes([Punctuation(), last], text) == [b"a\xb2", b"\xa1", b"\xe9 \xff"]
    assert cut_bytes([CharDelimiterSplit("é"), last], text) == [text]
    assert cut_bytes([Split("¡", False), last], text) == [text]
    assert cut_bytes([FixedLength(2), last], text) == [b"a\xb2", b"\xa1\xe9", b" \xff"]
    assert cut_bytes([WhitespaceSplit(), last], text) == [b"a\xb2\xa1\xe9", b"\xff"]
    assert cut_bytes([Digits(True), last], text, "punct") == [text]
    assert cut_bytes([Punctuation(), last], b"a\xe9b", "punct") == [b"a", b"\xe9", b"b"]
    assert cut_bytes([last, Digits(True)], b"a\xb2", "punct") == [b"a", b"\xb2"]


def test_tiktoken_drops_what_does_not_match():
    atoms = split_atoms("ab12cd")
    steps = [Split(r"[a-z]+", True)]
    assert [join(p) for p in run_chain(steps, "tiktoken", atoms)] == [b"ab", b"cd"]
    steps.append(ByteLevel(False, use_regex=False))
    assert [join(p) for p in run_chain(steps, "tokenizers", atoms)] == [b"ab", b"12", b"cd"]


def test_a_chain_without_byte_level_is_refused():
    with pytest.raises(UnsupportedTokenizer, match="without a ByteLevel step"):
        run_chain([Digits(True)], "tokenizers", characters("a"))
