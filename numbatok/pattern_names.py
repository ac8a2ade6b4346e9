r"""The named patterns: what `pattern=` of a rank file and of training may say instead of a regex.

A name stands for a chain of pre-tokenizers and for the regex engine that its strings are written
for: the rank files' (tiktoken) or the tokenizer.json files' (tokenizers). The strings are those of
the published tokenizers, character by character, so that they are recognized as families.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Literal

from numbatok.errors import InvalidValue
from numbatok.spec import ByteLevel, Digits, PreTokenizer, Split

Engine = Literal["tokenizers", "tiktoken"]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN3_5 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
ZETA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}"
    r"| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
)
MINICPM5 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}+")
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
NEMO = O200K.replace(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")
KIMI = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
    "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
)


@dataclass(frozen=True)
class NamedPattern:
    """A chain of pre-tokenizers, the last one ByteLevel, and the engine of its regexes."""

    steps: tuple[PreTokenizer, ...]
    engine: Engine


def one_regex(pattern: str) -> NamedPattern:
    """Return the pattern of a rank file: one regex, whose matches are the pretokens."""
    return NamedPattern((Split(pattern, is_regex=True), ByteLevel(False, False)), "tiktoken")


def _chain(*steps: PreTokenizer) -> NamedPattern:
    return NamedPattern((*steps, ByteLevel(False, False)), "tokenizers")


PATTERNS: dict[str, NamedPattern] = {
    "gpt2": one_regex(GPT2),
    "r50k": one_regex(R50K),
    "cl100k": one_regex(CL100K),
    "llama3": one_regex(LLAMA3),
    "qwen2": one_regex(QWEN2),
    "qwen3.5": one_regex(QWEN3_5),
    "o200k": one_regex(O200K),
    "nemo": one_regex(NEMO),
    "tekken": one_regex(NEMO),
    "kimi": one_regex(KIMI),
    "deepseek_v3": _chain(*(Split(part, is_regex=True) for part in DEEPSEEK_V3)),
    "digits_gpt2": NamedPattern((Digits(True), ByteLevel(False, True)), "tokenizers"),
    "zeta": _chain(Split(ZETA, is_regex=True)),
    "minicpm5": _chain(Split(r"\p{N}{1,3}", is_regex=True), Split(MINICPM5, is_regex=True)),
    "laguna": _chain(
        Split(r"(?:\r?\n)+(?!\r?\n)", True, "merged_with_next"), Split(QWEN2, is_regex=True)
    ),
    "bloom": _chain(Split(BLOOM, is_regex=True)),
}


def named_pattern(pattern: str) -> NamedPattern:
    """Return the pattern of a name, or the one that a regex states.

    Raises:
        InvalidValue: the string looks like a name (no character that a regex would be for) and is
            none; the message lists the names.
    """
    if pattern in PATTERNS:
        return PATTERNS[pattern]
    if not re.fullmatch(r"[\w.\-]*", pattern):
        return one_regex(pattern)
    close = difflib.get_close_matches(pattern, PATTERNS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InvalidValue(
        f"pattern={pattern!r} is no known name.{hint} "
        f"Pass a regex or one of: {', '.join(sorted(PATTERNS))}."
    )
