"""Normalizers against Hugging Face's, on every character and on mark storms."""

from __future__ import annotations

import random

import pytest
from tokenizers import Regex, normalizers

from numbatok.reference import compose
from numbatok.reference.atoms import characters, join, split_atoms
from numbatok.reference.normalizers import apply, normalize
from numbatok.reference.properties import category
from numbatok.spec import (
    Lowercase,
    Normalizer,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from tests.reference.comparing import assert_equal, differences

STEPS = {
    "NFC": (UnicodeForm("NFC"), normalizers.NFC()),
    "NFD": (UnicodeForm("NFD"), normalizers.NFD()),
    "NFKC": (UnicodeForm("NFKC"), normalizers.NFKC()),
    "NFKD": (UnicodeForm("NFKD"), normalizers.NFKD()),
    "Lowercase": (Lowercase(), normalizers.Lowercase()),
    "StripAccents": (StripAccents(), normalizers.StripAccents()),
    "Strip": (Strip(True, True), normalizers.Strip()),
}
SCALARS = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
SPECIAL = [*range(0x250), 0x1100, 0x1161, 0x11A7, 0x11A8, 0x11C2, 0xAC00, 0xAC01, 0xD7A3, 0x1D160]
SPECIAL += [0x344, 0x390, 0xFDFA, 0x958, 0xF71, 0xF72, 0xF74, 0x9BE, 0x9C7, 0x897, 0x1AC1, 0x1112]


def normalized(step: Normalizer, text: str) -> str:
    return join(apply(step, characters(text))).decode()


def storms(seed: int, count: int):
    """Yield strings of marks and of characters that decompose, compose or reorder."""
    chance = random.Random(seed)
    marks = [code for code in SCALARS if category(code)[0] == "M"]
    for _ in range(count):
        length = chance.randint(1, 7)
        yield "".join(chr(chance.choice(chance.choice([marks, SPECIAL]))) for _ in range(length))


@pytest.mark.oracle
@pytest.mark.parametrize("name", STEPS)
def test_steps_equal_the_library(name):
    step, library = STEPS[name]
    singles = [f"e{chr(code)}\u0316x" for code in random.Random(3).sample(SCALARS, 3_000)]
    assert_equal(
        name,
        [
            *singles,
            *storms(4, 3_000),
            "",
            "  ",
            "\u0130\u03a3A\u03a3 \u1e9e",
            "e\u0301x\u1100\u1161",
        ],
        library.normalize_str,
        lambda text: normalized(step, text),
    )


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_steps_equal_the_library_on_every_character(name):
    step, library = STEPS[name]
    assert_equal(
        f"{name} of every character",
        (f"e{chr(code)}\u0316x" for code in SCALARS),
        library.normalize_str,
        lambda text: normalized(step, text),
    )


@pytest.mark.oracle
def test_comparison_sees_a_composition_that_is_blocked(monkeypatch):
    monkeypatch.setattr(compose, "_is_blocked", lambda between, code: False)
    step, library = STEPS["NFC"]
    _, lines = differences(
        storms(4, 3_000), library.normalize_str, lambda text: normalized(step, text)
    )
    assert lines


REPLACEMENTS = [
    ("a*", True, "-"),
    ("^", True, "-"),
    ("$", True, "-"),
    ("", False, "-"),
    ("aa", False, "b"),
    (r"\s+", True, " "),
    ("(?=b)", True, "x"),
    ("a", False, ""),
    (r"(a)(b)", True, r"\1$1"),
    (" ", False, "▁"),
    (".", True, ""),
    ("", True, "x"),
    (r"\p{M}|é", True, "\u0301"),
]
TEXTS = ["", "baab", "ab\ncd\n", "ab", "aaaaa", "a  b\t\n", "abab", " a b", "e\u0301é", "\n\n"]


@pytest.mark.oracle
def test_replace_equals_the_library():
    cases = [(*replacement, text) for replacement in REPLACEMENTS for text in TEXTS]

    def by_library(case):
        pattern, is_regex, content, text = case
        library = normalizers.Replace(Regex(pattern) if is_regex else pattern, content)
        return library.normalize_str(text)

    assert_equal("Replace", cases, by_library, lambda case: normalized(Replace(*case[:3]), case[3]))


@pytest.mark.oracle
def test_sequences_equal_the_library():
    steps = [*STEPS.values(), (Prepend("▁"), normalizers.Prepend("▁"))]
    steps += [(Replace(" ", False, "e\u0301"), normalizers.Replace(" ", "e\u0301"))]
    chance = random.Random(5)
    cases = []
    for text in [*storms(6, 1_500), *TEXTS]:
        cases.append((chance.sample(steps, chance.randint(0, 4)), f"{text} A "))
    assert_equal(
        "Sequence",
        cases,
        lambda case: normalizers.Sequence([library for _, library in case[0]]).normalize_str(
            case[1]
        ),
        lambda case: join(normalize([step for step, _ in case[0]], characters(case[1]))).decode(),
    )


def test_an_empty_text_stays_empty():
    assert (
        normalize([Strip(True, True), Prepend("x"), Replace("", False, "y")], characters(" ")) == []
    )


@pytest.mark.parametrize("invalid", ["byte-alphabet", "punct"])
def test_stray_bytes_pass_and_block(invalid):
    atoms = split_atoms(b"e\xcc\xcc\x81 \xc3\x89\xe9\x85", invalid)
    texts = {
        UnicodeForm("NFC"): b"e\xcc\xcc\x81 \xc3\x89\xe9\x85",
        UnicodeForm("NFD"): b"e\xcc\xcc\x81 E\xcc\x81\xe9\x85",
        Lowercase(): b"e\xcc\xcc\x81 \xc3\xa9\xe9\x85",
        StripAccents(): b"e\xcc \xc3\x89\xe9\x85",
        Strip(True, True): b"e\xcc\xcc\x81 \xc3\x89\xe9\x85",
        Replace("é", False, "x"): b"e\xcc\xcc\x81 \xc3\x89\xe9\x85",
        Replace(".", True, "x"): b"xxxxxxx",
    }
    for step, expected in texts.items():
        assert join(apply(step, atoms)) == expected, step
