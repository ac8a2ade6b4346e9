"""The merge by definition against Hugging Face's BPE and tiktoken, on random small models."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
import tiktoken
from tokenizers import models

from numbatok.errors import InvalidTokenizerFile
from numbatok.reference import merge
from numbatok.reference.merge import bytes_of_string, id_of_string, merge_pretoken
from numbatok.spec import BpeModel
from tests.reference.comparing import assert_equal, differences
from tests.reference.library_oracles import spelled

BYTES = b"abc \xc3\xa9"
UNKNOWNS = (None, "<unk>", "é", "u")
FALLBACKS = ["61", "62", "63", "C4", "A0", "C3", "83", "C2", "A9"]
REFUSED = "refused"


@dataclass
class Case:
    """A model, the library's twin of it, and a pretoken."""

    model: BpeModel
    library: Any
    pretoken: bytes


def random_model(chance: random.Random) -> BpeModel:
    """Return a model that may lack bytes, and may have an unknown token and byte fallback."""
    tokens = {bytes([byte]): 0 for byte in BYTES if chance.random() < 0.85}
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(chance.randint(0, 14) if tokens else 0):
        pair = (chance.choice(list(tokens)), chance.choice(list(tokens)))
        if pair not in merges and len(pair[0] + pair[1]) <= 6:
            tokens.setdefault(pair[0] + pair[1], 0)
            merges.append(pair)
    chance.shuffle(merges)
    unk = chance.choice(UNKNOWNS)
    if unk is not None and chance.random() < 0.95:
        tokens.setdefault(bytes_of_string(unk), 0)
        if unk == "<unk>" and b"a" in tokens and chance.random() < 0.3:
            tokens[b"<unk>a"] = 0
            merges.insert(chance.randint(0, len(merges)), (b"<unk>", b"a"))
    byte_fallback = chance.random() < 0.4
    if byte_fallback:
        tokens.update({f"<0x{h}>".encode(): 0 for h in FALLBACKS if chance.random() < 0.8})
    ids = chance.sample(range(2 * len(tokens) + 1), len(tokens))
    return BpeModel(
        tokens=dict(zip(tokens, ids, strict=True)),
        merges=tuple(merges),
        ignore_merges=chance.random() < 0.4,
        unk=unk,
        fuse_unk=chance.random() < 0.5,
        byte_fallback=byte_fallback,
    )


def library_twin(model: BpeModel) -> Any:
    return models.BPE(
        vocab={spelled(token): number for token, number in model.tokens.items()},
        merges=[(spelled(left), spelled(right)) for left, right in model.merges or ()],
        unk_token=model.unk,
        fuse_unk=model.fuse_unk,
        byte_fallback=model.byte_fallback,
        ignore_merges=model.ignore_merges,
    )


def random_cases(seed: int, count: int) -> list[Case]:
    chance = random.Random(seed)
    cases = []
    for _ in range(count):
        model = random_model(chance)
        library = library_twin(model)
        for _ in range(8):
            pretoken = bytes(chance.choices(BYTES, k=chance.randint(1, 9)))
            cases.append(Case(model, library, pretoken))
    return cases


def by_library(case: Case):
    try:
        return [token.id for token in case.library.tokenize(spelled(case.pretoken))]
    except Exception:  # the unknown token is not in the vocabulary
        return REFUSED


def by_reference(case: Case):
    try:
        return merge_pretoken(case.model, case.pretoken)
    except InvalidTokenizerFile:
        return REFUSED


@pytest.mark.oracle
def test_random_models_equal_hugging_face():
    cases = random_cases(1, 1_500)
    assert_equal("merges of random models", cases, by_library, by_reference)
    outcomes = [by_reference(case) for case in cases]
    assert REFUSED in outcomes and [] in outcomes


@pytest.mark.oracle
def test_comparison_sees_the_rightmost_of_equal_ranks(monkeypatch):
    def rightmost(symbols):
        return reversed(list(pairwise(symbols)))

    monkeypatch.setattr(merge, "pairwise", rightmost)
    _, lines = differences(random_cases(1, 300), by_library, by_reference)
    assert lines


def random_ranks(chance: random.Random) -> dict[bytes, int]:
    """Return ranks with gaps, tokens in no order of length."""
    tokens = {bytes([byte]) for byte in range(256)}
    tokens |= {bytes(chance.choices(b"abcd", k=chance.randint(2, 5))) for _ in range(40)}
    ranks = iter(sorted(chance.sample(range(600), len(tokens))))
    singles = sorted(token for token in tokens if len(token) == 1)
    longer = sorted(token for token in tokens if len(token) > 1)
    chance.shuffle(longer)
    return {token: next(ranks) for token in [*singles, *longer]}


@pytest.mark.oracle
def test_random_rank_files_equal_tiktoken():
    chance = random.Random(2)
    cases = []
    for _ in range(200):
        ranks = random_ranks(chance)
        encoding = tiktoken.Encoding(
            "random", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={}
        )
        model = BpeModel(ranks, None)
        for length in (1, 2, 3, 5, 8, 13, 21, 130):
            cases.append((model, encoding, bytes(chance.choices(b"abcd", k=length))))
    assert_equal(
        "merges of random rank files",
        cases,
        lambda case: case[1].encode_ordinary(case[2].decode()),
        lambda case: merge_pretoken(case[0], case[2]),
    )


A, X = b"a", b"aa"


@pytest.mark.parametrize(
    ("text", "ids"), [("a", [0]), ("aa", [1]), ("aaa", [1, 0]), ("aaaa", [1, 1]), ("", [])]
)
def test_overlapping_repeats(text, ids):
    assert merge_pretoken(BpeModel({A: 0, X: 1}, ((A, A),)), text.encode()) == ids


def test_two_merges_with_one_product():
    s = [b" " * length for length in range(5)]
    tokens = {s[length]: length - 1 for length in (1, 2, 3, 4)}
    merges = ((s[1], s[1]), (s[2], s[2]), (s[2], s[1]), (s[1], s[3]))
    assert merge_pretoken(BpeModel(tokens, merges), b" " * 7) == [3, 2]


def test_a_token_that_does_not_encode_to_itself():
    tokens = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"abc": 5}
    merges = ((b"b", b"c"), (b"ab", b"c"))
    assert merge_pretoken(BpeModel(tokens, merges), b"abc") == [0, 4]
    assert merge_pretoken(BpeModel(tokens, merges, ignore_merges=True), b"abc") == [5]
    assert merge_pretoken(BpeModel(tokens, None), b"abc") == [5]


def test_unknown_and_fused_unknown():
    tokens = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"<unk>": 5}
    merges = ((b"b", b"c"),)
    assert merge_pretoken(BpeModel(tokens, merges, unk="<unk>"), b"axybcx") == [0, 5, 5, 3, 5]
    fused = BpeModel(tokens, merges, unk="<unk>", fuse_unk=True)
    assert merge_pretoken(fused, b"axybcx") == [0, 5, 3, 5]
    assert merge_pretoken(BpeModel(tokens, merges), b"axybcx") == [0, 3]


def test_a_rank_file_without_a_byte():
    """Reading one refuses it, unless UTF-8 never has the byte."""
    assert merge_pretoken(BpeModel({b"a": 0, b"aa": 1}, None), b"a\xffa") == [1]


def test_strings_in_and_outside_of_the_byte_alphabet():
    model = BpeModel({b" a": 1, b"\xe9": 2}, (), {"｜": 3, "": 4})
    strings = {"Ġa": 1, "é": 2, "｜": 3, " a": None, "": None, "Ġ": None}
    assert {string: id_of_string(model, string) for string in strings} == strings
    assert bytes_of_string("Ġa") == b" a" and bytes_of_string(" a") is None


def test_a_changed_model_has_its_own_rules():
    for number in range(20):
        model = BpeModel({b"a": 0, b"b": 1, b"ab": 2 + number}, ((b"a", b"b"),))
        assert merge_pretoken(model, b"ab") == [2 + number]
