"""Which pre-tokenizers are recognized as a family, and that they mean what the family does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numbatok import pattern_names as names
from numbatok.formats.locate import load_spec
from numbatok.pattern import PATTERNS, recognize
from numbatok.pattern.recognize import POSSESSIVE, WHOLE, known_pattern
from numbatok.reference import families, patterns
from numbatok.reference.atoms import characters
from numbatok.spec import BpeModel, ByteLevel, Digits, Split, TokenizerSpec
from tests.reference.comparing import assert_equal
from tests.reference.hard_texts import NASTY, REPRESENTATIVES, all_strings
from tests.reference.library_oracles import library_ends, pre_tokenizer, tiktoken_pieces

BYTES = ByteLevel(False, use_regex=False)
MODEL = BpeModel({bytes([byte]): byte for byte in range(256)}, ())


def spec(*steps, engine="tokenizers"):
    return TokenizerSpec(MODEL, pre_tokenizers=steps, engine=engine)


@pytest.mark.parametrize("name", names.PATTERNS)
def test_every_name_is_a_family(name):
    named = names.PATTERNS[name]
    family = {"r50k": "gpt2", "tekken": "nemo"}.get(name, name)

    assert recognize(spec(*named.steps, engine=named.engine)) is PATTERNS[family]


@pytest.mark.parametrize("name", families.FAMILIES)
def test_every_chain_of_the_reference_is_recognized_alike(name):
    family = families.FAMILIES[name]
    for chain in family.hub:
        for steps in (chain, (*chain, BYTES), (*chain, ByteLevel(False, False, True))):
            assert patterns.recognize(steps, "tokenizers") == name
            assert known_pattern(steps, "tokenizers") == name
    for pattern in family.tiktoken:
        assert known_pattern((Split(pattern, True), BYTES), "tiktoken") == name


@pytest.mark.parametrize("pattern", WHOLE)
def test_removing_all_else_is_the_same_as_isolating(pattern):
    for step in (Split(pattern, True), Split(pattern, True, "removed", True)):
        assert recognize(spec(step, BYTES)).name == WHOLE[pattern]


@pytest.mark.parametrize(
    "steps, engine",
    [
        ((Split(names.LLAMA3, True, "removed"), BYTES), "tokenizers"),  # keeps nothing
        ((Split(names.LLAMA3, True, "contiguous"), BYTES), "tokenizers"),
        ((Split(names.LLAMA3, False), BYTES), "tokenizers"),  # a literal string
        ((Split(names.LLAMA3 + " ", True), BYTES), "tokenizers"),
        ((Split(names.LLAMA3, True), ByteLevel(True, False)), "tokenizers"),
        ((Split(names.LLAMA3, True), ByteLevel(False, True)), "tokenizers"),
        ((Split(names.LLAMA3, True), Digits(True), BYTES), "tokenizers"),
        ((Digits(False), ByteLevel(False, True)), "tokenizers"),
        ((ByteLevel(False, True), Digits(True)), "tokenizers"),
        ((ByteLevel(True, True),), "tokenizers"),
        ((Split(names.CL100K, True), BYTES), "tokenizers"),  # {1,3}+ is not possessive there
        ((Split(names.BLOOM, True), BYTES), "tiktoken"),  # drops what is between the matches
        ((BYTES,), "tokenizers"),
        ((), "tokenizers"),
    ],
)
def test_what_is_nearly_a_family_is_none(steps, engine):
    assert known_pattern(steps, engine) is None
    found = recognize(spec(*steps, engine=engine))
    assert (found.name, found.chain, found.engine) == ("automaton", steps, engine)


def short_texts() -> list[str]:
    texts = [*all_strings(REPRESENTATIVES, 2), *NASTY]
    return [*texts, *(first + second for first, second in zip(texts, texts[::-1], strict=True))]


def rule_ends(name: str, text: str) -> list[int]:
    return patterns.pretokenize_family(families.FAMILIES[name], characters(text))


@pytest.mark.oracle
@pytest.mark.parametrize("pattern", WHOLE)
def test_every_spelling_means_its_family_to_tokenizers(pattern):
    for step in (Split(pattern, True), Split(pattern, True, "removed", True)):
        library = pre_tokenizer((step,))
        assert_equal(
            f"{WHOLE[pattern]} against tokenizers",
            short_texts(),
            lambda text: rule_ends(WHOLE[pattern], text),
            lambda text, library=library: library_ends(library, text),
        )


@pytest.mark.oracle
@pytest.mark.parametrize("pattern", [*WHOLE, names.CL100K])
def test_every_spelling_means_its_family_to_tiktoken(pattern):
    texts = [text for text in short_texts() if len(text) < 20]
    name = {**WHOLE, names.CL100K: "cl100k"}[pattern]

    def rule_pieces(text):
        ends = rule_ends(name, text)
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    found = dict(zip(texts, tiktoken_pieces(pattern, texts), strict=True))
    assert_equal(f"{name} against tiktoken", texts, rule_pieces, found.__getitem__)


def test_the_possessive_spelling_of_cl100k_differs_from_that_of_tiktoken_at_the_end():
    assert POSSESSIVE != names.CL100K
    assert PATTERNS["llama3"] == replace(
        PATTERNS["cl100k"], name="llama3", parameters=(3, 1, 0, 0, 0)
    )


@pytest.mark.slow
def test_published_files_are_families(vocab_file):
    expected = {
        "gpt2": "gpt2", "cl100k_base": "llama3", "llama3": "llama3", "glm5": "llama3",
        "qwen2.5": "qwen2", "qwen3.5": "qwen3.5", "o200k_base": "o200k", "gpt-oss": "o200k",
        "minimax-m2": "o200k", "mistral-nemo": "nemo", "deepseek_v3": "deepseek_v3",
        "command-r-plus": "digits_gpt2", "deepseek_coder": "automaton",
    }  # fmt: skip
    for name, family in expected.items():
        spec = load_spec(vocab_file(name, "tokenizer.json")).spec
        assert recognize(spec).name == family, name
