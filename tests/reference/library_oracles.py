"""The libraries as oracles: pre-tokenizers of `tokenizers`, patterns of `tiktoken`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tiktoken
from tokenizers import Regex, pre_tokenizers

from numbatok.reference.atoms import byte_alphabet
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

MOST_ATOMS = 40
"""Longest text of which all parts become tokens."""


def pre_tokenizer(steps: Sequence[PreTokenizer]) -> Any:
    """Return the library's pre-tokenizer for a chain."""
    return pre_tokenizers.Sequence([_step(step) for step in steps])


def _step(step: PreTokenizer) -> Any:
    if isinstance(step, Split):
        pattern = Regex(step.pattern) if step.is_regex else step.pattern
        return pre_tokenizers.Split(pattern, step.behavior, step.invert)
    if isinstance(step, ByteLevel):
        return pre_tokenizers.ByteLevel(step.add_prefix_space, True, step.use_regex)
    if isinstance(step, Digits):
        return pre_tokenizers.Digits(step.individual)
    if isinstance(step, Punctuation):
        return pre_tokenizers.Punctuation(step.behavior)
    if isinstance(step, CharDelimiterSplit):
        return pre_tokenizers.CharDelimiterSplit(step.delimiter)
    if isinstance(step, FixedLength):
        return pre_tokenizers.FixedLength(step.length)
    plain = {
        WhitespaceWords: pre_tokenizers.Whitespace,
        WhitespaceSplit: pre_tokenizers.WhitespaceSplit,
        UnicodeScripts: pre_tokenizers.UnicodeScripts,
    }
    return plain[type(step)]()


def library_ends(chain: Any, text: str) -> list[int]:
    """Return the end of each pretoken in characters, for a chain that drops and adds nothing."""
    return [offsets[1] for _, offsets in chain.pre_tokenize_str(text)]


def library_strings(chain: Any, text: str) -> list[str]:
    """Return the pretokens as the library spells them."""
    return [string for string, _ in chain.pre_tokenize_str(text)]


def tiktoken_pieces(pattern: str, texts: Sequence[str]) -> list[list[str]]:
    """Return the pieces that tiktoken cuts each text into.

    Every part of every text is a token of a vocabulary made for them, and a piece that is a token
    has its id: so ids are pieces.
    """
    ranks = {bytes([byte]): byte for byte in range(256)}
    for text in texts:
        assert len(text) <= MOST_ATOMS
        for start in range(len(text)):
            for end in range(start + 1, len(text) + 1):
                ranks.setdefault(text[start:end].encode(), len(ranks))
    encoding = tiktoken.Encoding("parts", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    parts = {number: part for part, number in ranks.items()}
    return [[parts[i].decode() for i in encoding.encode_ordinary(text)] for text in texts]


def spelled(token: bytes) -> str:
    """Return the string of the byte alphabet that stands for some bytes."""
    return "".join(chr(byte_alphabet()[byte]) for byte in token)
