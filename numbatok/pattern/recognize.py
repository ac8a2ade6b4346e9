r"""Pre-tokenizers -> the pattern that they mean, by their exact strings.

Several spellings mean the same: the Hub and tiktoken write a pattern differently, and one that
leaves nothing unmatched gives the same pretokens whether its matches are isolated or everything
else is removed.
"""

from __future__ import annotations

from functools import cache

from numbatok.pattern.families import PATTERNS, Pattern, automaton
from numbatok.pattern_names import (
    BLOOM,
    CL100K,
    DEEPSEEK_V3,
    GPT2,
    KIMI,
    LLAMA3,
    MINICPM5,
    NEMO,
    O200K,
    QWEN2,
    QWEN3_5,
    R50K,
    ZETA,
)
from numbatok.spec import ByteLevel, Digits, PreTokenizer, Split, TokenizerSpec

Chain = tuple[PreTokenizer, ...]

# The same patterns as R50K, LLAMA3 and QWEN2, as older versions of tiktoken and LLaDA spell them.
R50K_GREEDY = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
POSSESSIVE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
LLADA = POSSESSIVE.replace("{1,3}", "")
NUMBERS_OF_THREE = Split(r"\p{N}{1,3}", is_regex=True)
BEFORE_LINE_ENDS = Split(r"(?:\r?\n)+(?!\r?\n)", True, "merged_with_next")

# Patterns that leave nothing unmatched, the same in both engines.
WHOLE = {
    GPT2: "gpt2",
    R50K: "gpt2",
    R50K_GREEDY: "gpt2",
    LLAMA3: "llama3",
    POSSESSIVE: "llama3",
    QWEN2: "qwen2",
    LLADA: "qwen2",
    QWEN3_5: "qwen3.5",
    ZETA: "zeta",
    O200K: "o200k",
    NEMO: "nemo",
    KIMI: "kimi",
}


def recognize(spec: TokenizerSpec) -> Pattern:
    """Return the pattern of a tokenizer; what is not supported is refused when it is compiled."""
    name = known_pattern(spec.pre_tokenizers, spec.engine)
    return PATTERNS[name] if name is not None else automaton(spec.pre_tokenizers, spec.engine)


def known_pattern(steps: Chain, engine: str) -> str | None:
    """Return the name of the pattern that pre-tokenizers mean to an engine, None if unknown."""
    chain = tuple(
        ByteLevel(step.add_prefix_space, step.use_regex) if isinstance(step, ByteLevel) else step
        for step in steps
    )
    if chain[-1:] == (ByteLevel(False, use_regex=False),):
        chain = chain[:-1]
    return _chains(engine).get(chain)


@cache
def _chains(engine: str) -> dict[Chain, str]:
    """Return pattern names by chain, without the last ByteLevel(use_regex=False)."""
    chains: dict[Chain, str] = {}
    for pattern, name in WHOLE.items():
        chains[(Split(pattern, is_regex=True),)] = name
        chains[(Split(pattern, is_regex=True, invert=True),)] = name
        chains[(Split(pattern, True, "removed", invert=True),)] = name
    if engine == "tiktoken":
        # Oniguruma would read its \p{N}{1,3}+ as any number of digits.
        chains[(Split(CL100K, is_regex=True),)] = "cl100k"
        return chains
    with_regex = ByteLevel(False, use_regex=True)
    chains[(with_regex,)] = "gpt2"
    chains[(Digits(individual=True), with_regex)] = "digits_gpt2"
    chains[(Split(BLOOM, is_regex=True),)] = "bloom"
    chains[(NUMBERS_OF_THREE, Split(MINICPM5, is_regex=True))] = "minicpm5"
    chains[(BEFORE_LINE_ENDS, Split(QWEN2, is_regex=True))] = "laguna"
    chains[tuple(Split(pattern, is_regex=True) for pattern in DEEPSEEK_V3)] = "deepseek_v3"
    return chains
