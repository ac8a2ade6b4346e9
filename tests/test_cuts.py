"""Certified cuts: the pretokens of the parts are those of the whole, for every family."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

import numpy as np
import pytest

from numbatok.compile import NO_AUTOMATON
from numbatok.cuts import can_cut, cut_kinds, cut_points, find_cut
from numbatok.pattern import PATTERNS, recognize
from numbatok.spec import AddedToken, BpeModel, Split, TokenizerSpec
from numbatok.tables import (
    CUT_COMMAS,
    CUT_WIDE_WORDS,
    CUT_WORDS,
    PLAIN,
    RECOGNIZE,
    SAFE_CUTS,
)
from tests.kernels.scan.scan_cutter import Cutter
from tests.kernels.scan.scan_oracles import rule_ends
from tests.reference.hard_texts import BYTES, REPRESENTATIVES

ALL = pytest.mark.parametrize("name", PATTERNS)
KINDS = {"words": CUT_WORDS, "commas": CUT_COMMAS, "wide words": CUT_WIDE_WORDS}
# What cuts are made of, often: letters and spaces, and what their neighbors may be.
PARTS = [b" "] * 8 + [char.encode() for char in "aZs中名が한йюéक１्،。、，.!'/\n\t1"]
PARTS += [char.encode() for char in REPRESENTATIVES] + BYTES
PARTS += [" б".encode(), " क".encode(), "名，".encode(), b"a b", b"\xd0", b"\xea", b"\xc3"]


def texts(seed: int, count: int) -> list[bytes]:
    chance = random.Random(seed)
    return [b"".join(chance.choices(PARTS, k=chance.randint(3, 14))) for _ in range(count)]


def all_cuts(text: bytes, kinds: int) -> list[int]:
    """Return every safe cut of a text."""
    array, found, pos = np.frombuffer(text, np.uint8), [], 0
    while pos < len(text):
        pos = find_cut(array, pos, len(text), kinds)
        if pos < len(text):
            found.append(pos)
        pos += 1
    return found


def ends_of_parts(name: str, text: bytes, cuts: list[int]) -> list[int]:
    """Return where pretokens end if the parts between cuts are texts of their own."""
    bounds = [0, *cuts, len(text)]
    parts = [text[start:end] for start, end in pairwise(bounds)]
    places = accumulate(map(len, parts), initial=0)
    return [
        place + end
        for place, part in zip(places, parts, strict=False)
        for end in rule_ends(name, part)
    ]


@ALL
@pytest.mark.parametrize("kind", KINDS)
def test_parts_have_the_pretokens_of_the_whole(name, kind):
    count = 0
    kinds = PATTERNS[name].cuts & KINDS[kind]
    for text in texts(1, 4_000):
        cuts = all_cuts(text, kinds)
        count += len(cuts)
        if cuts:
            assert ends_of_parts(name, text, cuts) == rule_ends(name, text), (text, cuts)
    print(f"{name}: {count} cuts at {kind}")
    assert count > 200


@ALL
@pytest.mark.slow
def test_many_parts_have_the_pretokens_of_the_whole(name):
    count, cutter = 0, Cutter(PATTERNS[name])
    for text in texts(2, 50_000):
        cuts = all_cuts(text, PATTERNS[name].cuts)
        count += len(cuts)
        if cuts:
            bounds = [0, *cuts, len(text)]
            parts = [text[start:end] for start, end in pairwise(bounds)]
            places = accumulate(map(len, parts), initial=0)
            found = [
                place + end
                for place, part in zip(places, parts, strict=False)
                for end in cutter.by_masks(part)
            ]
            assert found == cutter.by_masks(text), (text, cuts)
    print(f"{name}: {count} cuts")
    assert count > 15_000


@pytest.mark.parametrize("name", ["gpt2", "llama3", "o200k", "bloom"])
def test_an_unsafe_cut_is_seen(name):
    """Each is at the start of a pretoken."""
    text, cut = {"gpt2": (b"\n\nA", 2), "bloom": (b". , a", 1)}.get(name, (b"\n \nA", 1))
    assert ends_of_parts(name, text, [cut]) != rule_ends(name, text)


def test_where_a_cut_is():
    cases = {
        "ab cd": 2, "ab  cd": 6, "a1 cd": 5, "ab c": 2, "中名，の": 6, "中名、": 6, "中名。x": 6,
        "ので、か": 12, "語，": 3, "дом бар": 6, "1 бар": 1, "! é": 1, "\u3000 é": 6, "\n é": 4,
        "\u00a0 б": 5, "р б": 2, "日 한": 3, "！ क": 3,
    }  # fmt: skip
    every = CUT_WORDS | CUT_COMMAS | CUT_WIDE_WORDS
    for text, expected in cases.items():
        padded = np.frombuffer(f"...{text}..".encode(), np.uint8)
        found = find_cut(padded, 3, len(padded), every) - 3
        assert min(found, len(text.encode())) == expected, (text, found)


def token(content: str, **flags: bool) -> AddedToken:
    return AddedToken(content, 1, **flags)


@pytest.mark.parametrize(
    "added, allowed",
    [
        (token("<s>"), True),
        (token("a b"), False),
        (token("a "), False),  # "a b" is cut before the space
        (token("a\u0434 "), False),
        (token(" b"), True),  # the cut is where it starts
        (token("名，"), False),
        (token("名"), True),
        (token("! д"), False),
        (token("<s>", lstrip=True), False),
        (token("<s>", rstrip=True), False),
        (token("<s>", single_word=True), False),
    ],
)
def test_no_added_token_may_reach_over_a_cut(added, allowed):
    assert can_cut([added], np.array([RECOGNIZE], np.uint8)) == allowed
    assert can_cut([added], np.array([PLAIN], np.uint8))


def test_kinds_of_families_and_of_automata():
    assert cut_kinds(PATTERNS["llama3"], NO_AUTOMATON) == 7
    spec = TokenizerSpec(BpeModel({}, ()), pre_tokenizers=(Split("x", True),))
    for shown in (0, CUT_WORDS, CUT_COMMAS, CUT_WORDS | CUT_COMMAS):
        shape = np.zeros(32, np.int64)
        shape[SAFE_CUTS] = shown
        assert cut_kinds(recognize(spec), NO_AUTOMATON._replace(shape=shape)) == shown


def test_points_are_cuts_in_large_documents_only():
    text = np.frombuffer(b"word " * 5_000 + b"x" * 5_000, np.uint8)
    cuts = cut_points(text, np.array([25_000, 30_000]), 5, CUT_WORDS)

    assert len(cuts) == 4
    assert all(text[cut - 1] != ord(" ") and text[cut] == ord(" ") for cut in cuts)
    assert cut_points(text, np.arange(1, 30_001), 5, CUT_WORDS) == []
