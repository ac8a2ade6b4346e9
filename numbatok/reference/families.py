r"""The pattern families as rule lists, with the pre-tokenizers that each one stands for.

A family bears the name of the tokenizer that introduced it. Several spellings can mean the same:
the Hub and tiktoken write a pattern differently, and a pattern that leaves nothing unmatched gives
the same pretokens whether its matches are isolated or everything else is removed. The spellings are
those of `numbatok.pattern_names`.
"""

from __future__ import annotations

from dataclasses import dataclass

from numbatok import pattern_names as names
from numbatok.reference.atoms import Atom
from numbatok.reference.limits import LimitRule, before_newlines, end_of_text, same_kind
from numbatok.reference.properties import is_numeric
from numbatok.reference.rules import (
    AtomTest,
    Rule,
    ascii_word,
    cased_word,
    contraction,
    han,
    in_categories,
    letter,
    newline,
    not_in_categories,
    number,
    one_of,
    run,
    space,
    white,
    white_at_end,
    white_before_text,
    white_run,
    white_to_newline,
    word_prefix,
)
from numbatok.spec import ByteLevel, Digits, PreTokenizer, Split

Chain = tuple[PreTokenizer, ...]


@dataclass(frozen=True)
class Family:
    """A pattern: its rules, the limit that earlier splits set, and its spellings.

    hub       chains of a tokenizer.json, without the final ByteLevel(use_regex=False)
    tiktoken  patterns of rank files
    """

    rules: tuple[Rule, ...]
    limit: LimitRule = end_of_text
    hub: tuple[Chain, ...] = ()
    tiktoken: tuple[str, ...] = ()


def isolated(pattern: str) -> Chain:
    """Return the chain that cuts around the matches of a pattern."""
    return (Split(pattern, is_regex=True),)


def both_ways(pattern: str) -> tuple[Chain, Chain]:
    """Return the chains for a pattern that leaves nothing unmatched."""
    return isolated(pattern), (Split(pattern, True, "removed", invert=True),)


# --- the cl100k family ---


def gpt2_rules(numbers: Rule) -> tuple[Rule, ...]:
    """Return the rules of GPT-2 with a rule for numbers."""
    return (
        contraction(ignore_case=False),
        run(letter, prefix=space),
        numbers,
        run(not_in_categories("L", "N"), prefix=space),
        white_before_text,
        white_run,
    )


def cl100k_rules(
    most_digits: int | None,
    letters: tuple[str, ...] = ("L",),
    punctuation_tail: AtomTest | None = newline,
    white_rules: tuple[Rule, ...] = (white_to_newline, white_before_text, white_run),
) -> tuple[Rule, ...]:
    """Return the rules of a tokenizer of the cl100k family."""
    return (
        contraction(ignore_case=True),
        run(in_categories(*letters), prefix=word_prefix),
        run(number, most=most_digits),
        run(not_in_categories(*letters, "N"), prefix=space, tail=punctuation_tail),
        *white_rules,
    )


LLADA_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
"""Qwen 2's pattern as LLaDA spells it."""


def bloom_word(atom: Atom) -> bool:
    """Return whether bloom's pattern takes an atom: no white space, stop, bracket or bar."""
    return not white(atom) and not one_of("(|).,!?…。，、।۔،")(atom)


# --- the o200k family ---


def o200k_rules(
    most_digits: int,
    suffix: Rule | None,
    tail: AtomTest,
    excluded: AtomTest | None = None,
) -> tuple[Rule, ...]:
    """Return the rules of a tokenizer of the o200k family."""
    upper = in_categories("Lu", "Lt", "Lm", "Lo", "M")
    lower = in_categories("Ll", "Lm", "Lo", "M")
    if excluded is not None:
        upper, lower = _without(upper, excluded), _without(lower, excluded)
    return (
        *((run(excluded),) if excluded is not None else ()),
        cased_word(upper, lower, suffix),
        run(number, most=most_digits),
        run(not_in_categories("L", "N"), prefix=space, tail=tail),
        white_to_newline,
        white_before_text,
        white_run,
    )


def _without(members: AtomTest, excluded: AtomTest) -> AtomTest:
    return lambda atom: members(atom) and not excluded(atom)


# --- DeepSeek v3 ---


def chinese_or_kana(atom: Atom) -> bool:
    """Return whether an atom is one of DeepSeek's CJK characters."""
    return atom.is_character and (0x4E00 <= atom.code <= 0x9FA5 or 0x3040 <= atom.code <= 0x30FF)


def deepseek_prefix(atom: Atom) -> bool:
    r"""Return whether an atom is `[^\r\n\p{L}\p{P}\p{S}]`."""
    return not newline(atom) and not in_categories("L", "P", "S")(atom)


# --- all of them ---


def rust_numeric(atom: Atom) -> bool:
    """Return whether the Digits step cuts around an atom."""
    return is_numeric(atom.code)


FAMILIES: dict[str, Family] = {
    "gpt2": Family(
        gpt2_rules(run(number, prefix=space)),
        hub=((ByteLevel(False, use_regex=True),), *both_ways(names.GPT2)),
        tiktoken=(names.R50K, names.GPT2),
    ),
    "cl100k": Family(
        cl100k_rules(3, white_rules=(white_at_end, white_to_newline, white_before_text, white_run)),
        tiktoken=(names.CL100K,),
    ),
    "llama3": Family(cl100k_rules(3), hub=both_ways(names.LLAMA3), tiktoken=(names.LLAMA3,)),
    "qwen2": Family(
        cl100k_rules(1),
        hub=(*both_ways(names.QWEN2), *both_ways(LLADA_PATTERN)),
        tiktoken=(names.QWEN2,),
    ),
    "qwen3.5": Family(
        cl100k_rules(1, letters=("L", "M")),
        hub=both_ways(names.QWEN3_5),
        tiktoken=(names.QWEN3_5,),
    ),
    "zeta": Family(cl100k_rules(1, punctuation_tail=None), hub=both_ways(names.ZETA)),
    "minicpm5": Family(
        cl100k_rules(3),
        same_kind(number),
        hub=((Split(r"\p{N}{1,3}", True), Split(names.MINICPM5, True)),),
    ),
    "laguna": Family(
        cl100k_rules(1),
        before_newlines,
        hub=((Split(r"(?:\r?\n)+(?!\r?\n)", True, "merged_with_next"), Split(names.QWEN2, True)),),
    ),
    "bloom": Family((run(bloom_word, prefix=space),), hub=(isolated(names.BLOOM),)),
    "digits_gpt2": Family(
        gpt2_rules(run(rust_numeric, most=1)),
        same_kind(rust_numeric),
        hub=((Digits(individual=True), ByteLevel(False, use_regex=True)),),
    ),
    "o200k": Family(
        o200k_rules(3, contraction(ignore_case=True), one_of("\r\n/")),
        hub=both_ways(names.O200K),
        tiktoken=(names.O200K,),
    ),
    "nemo": Family(
        o200k_rules(1, None, one_of("\r\n/")),
        hub=both_ways(names.NEMO),
        tiktoken=(names.NEMO,),
    ),
    "kimi": Family(
        o200k_rules(3, contraction(ignore_case=True), newline, excluded=han),
        tiktoken=(names.KIMI,),
    ),
    "deepseek_v3": Family(
        (
            run(number, most=3),
            ascii_word,
            run(in_categories("L", "M"), prefix=deepseek_prefix),
            run(in_categories("P", "S"), prefix=space, tail=newline),
            white_to_newline,
            white_before_text,
            white_run,
        ),
        same_kind(number, chinese_or_kana),
        hub=(tuple(Split(part, True) for part in names.DEEPSEEK_V3),),
    ),
}
