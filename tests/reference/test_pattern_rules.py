"""The rules of each pattern family against the regexes that they stand for."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from numbatok.pattern_names import PATTERNS
from numbatok.reference.atoms import characters, join, split_atoms
from numbatok.reference.chain import cut
from numbatok.reference.families import FAMILIES, Family, isolated
from numbatok.reference.patterns import pretokenize_family, pretokenize_gpt2, recognize
from numbatok.reference.rules import white_before_text, white_run
from numbatok.spec import ByteLevel
from tests.reference.comparing import assert_equal, differences
from tests.reference.hard_texts import (
    NASTY,
    REPRESENTATIVES,
    all_strings,
    random_bytes,
    random_strings,
)
from tests.reference.library_oracles import library_ends, pre_tokenizer, tiktoken_pieces

pytestmark = pytest.mark.oracle

HUB = [
    pytest.param(name, chain, id=f"{name}-{number}")
    for name, family in FAMILIES.items()
    for number, chain in enumerate(family.hub)
]
TIKTOKEN = [
    pytest.param(name, pattern, id=f"{name}-{number}")
    for name, family in FAMILIES.items()
    for number, pattern in enumerate(family.tiktoken)
]
SAMPLE = 1_500


def sample_texts(seed: int) -> list[str]:
    """Return every string of 1 or 2 representatives, a sample of longer ones, the nasty cases."""
    chance = random.Random(seed)
    threes = ["".join(chance.choices(REPRESENTATIVES, k=3)) for _ in range(SAMPLE)]
    fours = ["".join(chance.choices(REPRESENTATIVES, k=4)) for _ in range(SAMPLE)]
    longer = random_strings(seed + 1, SAMPLE // 2, REPRESENTATIVES, 14)
    return [*all_strings(REPRESENTATIVES, 2), *threes, *fours, *longer, *NASTY]


def rule_ends(family: Family, text: str) -> list[int]:
    return pretokenize_family(family, characters(text))


def pieces(text, ends):
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(("name", "chain"), HUB)
def test_rules_equal_the_library(name, chain):
    library = pre_tokenizer(chain)
    assert_equal(
        f"{name} against tokenizers",
        sample_texts(1),
        lambda text: library_ends(library, text),
        lambda text: rule_ends(FAMILIES[name], text),
    )


@pytest.mark.parametrize(("name", "pattern"), TIKTOKEN)
def test_rules_equal_tiktoken(name, pattern):
    texts = sample_texts(2)
    expected = dict(zip(texts, tiktoken_pieces(pattern, texts), strict=True))
    assert_equal(
        f"{name} against tiktoken",
        texts,
        expected.__getitem__,
        lambda text: pieces(text, rule_ends(FAMILIES[name], text)),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chain"), HUB)
def test_rules_equal_the_library_on_all_strings_of_four(name, chain):
    library = pre_tokenizer(chain)
    count = assert_equal(
        f"{name} against tokenizers, exhaustively",
        all_strings(REPRESENTATIVES, 4),
        lambda text: library_ends(library, text),
        lambda text: rule_ends(FAMILIES[name], text),
    )
    assert count == sum(len(REPRESENTATIVES) ** length for length in (1, 2, 3, 4))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), TIKTOKEN)
def test_rules_equal_tiktoken_on_all_strings_of_three(name, pattern):
    texts = list(all_strings(REPRESENTATIVES, 3))
    expected = dict(zip(texts, tiktoken_pieces(pattern, texts), strict=True))
    assert_equal(
        f"{name} against tiktoken, exhaustively",
        texts,
        expected.__getitem__,
        lambda text: pieces(text, rule_ends(FAMILIES[name], text)),
    )


def regex_pretokens(chain, engine, atoms):
    """Return what the chain's regexes make of atoms, step by step."""
    pretokens = [atoms] if atoms else []
    for step in chain:
        pretokens = [part for whole in pretokens for part in cut(step, engine, whole) if part]
    return [join(pretoken) for pretoken in pretokens]


def rule_pretokens(name, atoms):
    ends = pretokenize_family(FAMILIES[name], atoms)
    return [join(part) for part in pieces(atoms, ends)]


@pytest.mark.parametrize("invalid", ["byte-alphabet", "punct"])
@pytest.mark.parametrize("name", FAMILIES)
def test_rules_equal_the_regexes_on_any_bytes(name, invalid):
    family = FAMILIES[name]
    chains = [(chain, "tokenizers") for chain in family.hub]
    chains += [(isolated(pattern), "tiktoken") for pattern in family.tiktoken]
    for seed, (chain, engine) in enumerate(chains):
        assert_equal(
            f"{name} on bytes",
            [split_atoms(data, invalid) for data in random_bytes(seed, 300, 9)],
            lambda atoms, chain=chain, engine=engine: regex_pretokens(chain, engine, atoms),
            lambda atoms: rule_pretokens(name, atoms),
        )


def without(family: Family, rule) -> Family:
    return replace(family, rules=tuple(kept for kept in family.rules if kept is not rule))


@pytest.mark.parametrize("name", ["gpt2", "o200k", "deepseek_v3"])
def test_comparison_sees_a_missing_rule(name):
    library = pre_tokenizer(FAMILIES[name].hub[0])
    broken = without(FAMILIES[name], white_before_text)
    _, lines = differences(
        sample_texts(1),
        lambda text: library_ends(library, text),
        lambda text: rule_ends(broken, text),
    )
    assert lines


def chain_of(family: Family):
    """Return a chain that the library can run; kimi's pattern means the same in both engines."""
    return family.hub[0] if family.hub else isolated(family.tiktoken[0])


@pytest.mark.parametrize("name", sorted(FAMILIES.keys() - {"cl100k"}))
def test_every_rule_matters(name):
    """Without a rule a family differs from the library somewhere.

    Only the last rule can go: what it takes would be left over, and become the same pretoken. The
    family cl100k is left out because `$` means something else to Oniguruma.
    """
    texts = [*sample_texts(3), *random_strings(4, 3_000, REPRESENTATIVES, 8)]
    library = pre_tokenizer(chain_of(FAMILIES[name]))
    for number, rule in enumerate(FAMILIES[name].rules):
        if rule is not white_run:
            broken = without(FAMILIES[name], rule)
            differ = any(library_ends(library, t) != rule_ends(broken, t) for t in texts)
            assert differ, f"{name}: rule {number} can go and nothing changes"


def test_gpt2_by_its_own_name():
    atoms = split_atoms(b"it's \xe0@yp")
    assert pretokenize_gpt2(atoms) == pretokenize_family(FAMILIES["gpt2"], atoms)


def test_every_named_pattern_is_a_family():
    for name, pattern in PATTERNS.items():
        family = {"r50k": "gpt2", "tekken": "nemo"}.get(name, name)
        assert recognize(pattern.steps, pattern.engine) == family


def test_another_pattern_is_no_family():
    (split,) = FAMILIES["llama3"].hub[0]
    assert recognize((split, ByteLevel(False, False)), "tokenizers") == "llama3"
    assert recognize((split, ByteLevel(False, False, trim_offsets=False)), "tokenizers") == "llama3"
    assert recognize((split, ByteLevel(True, False)), "tokenizers") is None
    assert recognize((split, ByteLevel(False, True)), "tokenizers") is None
    assert recognize((replace(split, behavior="removed"),), "tokenizers") is None
    assert recognize((replace(split, pattern=split.pattern + "?"),), "tokenizers") is None
