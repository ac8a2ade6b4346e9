"""Every pattern: masks == scalar twin == the rules of the reference == the libraries' regexes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

import pytest

from numbatok.pattern import PATTERNS
from numbatok.pattern.families import LETTER
from tests.kernels.scan.scan_cutter import Cutter
from tests.kernels.scan.scan_oracles import regex_ends, rule_ends
from tests.reference.comparing import assert_equal, differences
from tests.reference.hard_texts import NASTY, REPRESENTATIVES, all_strings, random_bytes

ALL = pytest.mark.parametrize("name", PATTERNS)
SPELLED = "'slS\u017f/! \n\r"  # characters that a rule names
SAMPLE = 1_000
CODE_POINTS = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
CONTEXTS = ("{0}", "x{0}y", "{0}{0}", " {0}", "{0} ", "  {0}a", "1{0}", "'{0}", "'{0}x", "!{0}")
CONTEXTS += ("\n{0}\n", "{0}  x", "a{0}\u0301")


@cache
def cutter(name: str, invalid: str = "byte-alphabet") -> Cutter:
    return Cutter(PATTERNS[name], invalid)


@cache
def representatives(name: str) -> str:
    """Return one character for each class of the pattern and for each that its rules name."""
    classes = PATTERNS[name].class_of_points()
    found: dict[object, str] = {}
    for char in REPRESENTATIVES + "，":
        named = char if char in SPELLED else ""
        found.setdefault((classes[ord(char)], named, char.isascii()), char)
    return "".join(found.values())


def sample(name: str, length: int, count: int) -> Iterator[str]:
    chance = random.Random(f"{name} {length}")
    yield from ("".join(chance.choices(representatives(name), k=length)) for _ in range(count))


def long_texts(name: str, count: int) -> Iterator[str]:
    """Yield texts of several blocks: few kinds of characters, and runs of them."""
    chance = random.Random(f"{name} long")
    for _ in range(count):
        chars = chance.sample(REPRESENTATIVES, chance.randint(2, 6))
        parts = chance.choices(chars, k=chance.randint(1, 60))
        yield "".join(part * chance.choice((1, 1, 1, 2, 3, 40)) for part in parts)


def compare_kernels(what: str, name: str, texts: Iterable[str]) -> int:
    """Compare masks, twin and rules on every text."""
    cut = cutter(name)
    return assert_equal(
        f"{name}: masks and twin against the rules, {what}",
        [text.encode() for text in texts],
        lambda text: [rule_ends(name, text)] * 2,
        lambda text: [cut.by_masks(text), cut.by_twin(text)],
    )


def compare_library(what: str, name: str, texts: list[str]) -> int:
    """Compare masks and the library's regex on every text."""
    cut = cutter(name)
    expected = dict(zip(texts, regex_ends(name, texts), strict=True))
    return assert_equal(
        f"{name}: masks against the regex, {what}",
        texts,
        expected.__getitem__,
        lambda text: cut.by_masks(text.encode()),
    )


@ALL
def test_every_string_of_three(name):
    chars = representatives(name)
    count = compare_kernels("up to three", name, ["", *all_strings(chars, 3)])
    assert count == sum(len(chars) ** length for length in range(4))
    compare_kernels("four", name, sample(name, 4, SAMPLE))


@ALL
@pytest.mark.oracle
def test_strings_against_the_regex(name):
    texts = [*all_strings(representatives(name), 2), *sample(name, 3, SAMPLE)]
    compare_library("short", name, [*texts, *sample(name, 4, SAMPLE), *NASTY])


@ALL
@pytest.mark.oracle
@pytest.mark.slow
def test_every_string_of_four(name):
    texts = ["", *all_strings(representatives(name), 4)]
    compare_kernels("up to four", name, texts)
    short = 3 if name == "cl100k" else 4  # tiktoken takes a vocabulary of all parts
    compare_library("up to four", name, [text for text in texts if len(text) <= short])


@ALL
def test_long_texts(name):
    compare_kernels("long", name, [*long_texts(name, 250), *NASTY])


@ALL
@pytest.mark.oracle
@pytest.mark.slow
def test_many_long_texts(name):
    texts = list(long_texts(name, 20_000))
    compare_kernels("long", name, texts)
    if name != "cl100k":
        compare_library("long", name, texts)


@ALL
def test_runs_across_every_edge_of_a_block(name):
    compare_kernels("runs across edges", name, edge_texts(name))


def edge_texts(name: str) -> Iterator[str]:
    """Yield runs of every class over the end of the first block, before and after others."""
    chance = random.Random(f"{name} edges")
    chars = representatives(name)
    for char in chars:
        for before in range(58, 66):
            for length in (1, 2, 3, 4, 7, 66, 130):
                lead, tail = chance.choices(chars, k=2)
                yield "a" * before + lead + char * length + tail + "x"


@ALL
def test_characters_in_contexts(name):
    compare_kernels("characters in contexts", name, context_texts(CODE_POINTS[::1301]))


def context_texts(points: Iterable[int]) -> Iterator[str]:
    for point in points:
        yield "x\n".join(context.format(chr(point)) for context in CONTEXTS)


@ALL
@pytest.mark.oracle
@pytest.mark.slow
def test_every_character_in_contexts(name):
    texts = context_texts(CODE_POINTS)
    if name == "cl100k":
        assert compare_kernels("every character", name, texts) == len(CODE_POINTS)
    else:
        assert compare_library("every character", name, list(texts)) == len(CODE_POINTS)


@ALL
@pytest.mark.parametrize("invalid", ["byte-alphabet", "punct"])
def test_any_bytes(name, invalid):
    cut = cutter(name, invalid)
    chance = random.Random(f"{name} {invalid}")
    noise = [bytes(chance.choices(range(256), k=chance.randint(1, 90))) for _ in range(200)]
    assert_equal(
        f"{name}: masks and twin against the rules, {invalid}",
        [*random_bytes(1, 500, 9), *random_bytes(2, 100, 90), *noise],
        lambda text: [rule_ends(name, text, invalid)] * 2,
        lambda text: [cut.by_masks(text), cut.by_twin(text)],
    )


# --- a planted fault for each comparison: a parameter of another pattern --------------------------

FAULTS = {
    "gpt2": (1,),
    "digits_gpt2": (0,),
    "cl100k": (3, 1, 0, 0, 0),
    "llama3": (3, 1, 0, 0, 1),
    "qwen2": (3, 1, 0, 0, 0),
    "qwen3.5": (1, 0, 0, 0, 0),
    "zeta": (1, 1, 0, 0, 0),
    "minicpm5": (3, 1, 0, 0, 0),
    "laguna": (1, 1, 0, 0, 0),
    "o200k": (3, 0, 1, 0),
    "nemo": (1, 1, 1, 0),
    "kimi": (1, 0, 1, 1),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_parameter_is_seen(name):
    wrong = Cutter(replace(PATTERNS[name], parameters=FAULTS[name]))
    texts = [text.encode() for text in all_strings(representatives(name), 3)]
    for ends in (wrong.by_masks, wrong.by_twin):
        _, lines = differences(texts, lambda text: rule_ends(name, text), ends)
        assert lines
        assert FAULTS[name] != PATTERNS[name].parameters


@pytest.mark.parametrize("name", ["deepseek_v3", "bloom", "llama3"])
@pytest.mark.oracle
def test_a_wrong_class_is_seen(name):
    pattern = PATTERNS[name]

    def with_a_fault():
        classes = pattern.class_of_points()
        classes[0x0301] ^= LETTER
        return classes

    wrong = Cutter(replace(pattern, class_of_points=with_a_fault))
    texts = ["a\u0301", "ab"]
    expected = dict(zip(texts, regex_ends(name, texts), strict=True))
    _, lines = differences(texts, expected.__getitem__, lambda text: wrong.by_masks(text.encode()))
    assert len(lines) == 1
