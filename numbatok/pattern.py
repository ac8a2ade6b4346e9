"""Which pattern family cuts the text: recognized from the pre-tokenizers by their exact strings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import UnsupportedTokenizer
from numbatok.spec import ByteLevel, Split, TokenizerSpec

GPT2_PATTERNS = (
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
)


@dataclass(frozen=True)
class Pattern:
    """A pattern that kernels know.

    scan, pretoken_end   names of its two entries
    class_of_points      makes the class of every code point, uint8[0x110000]
    class_of_byte        gives an ill-formed byte's class from the class of its character in the
                         byte alphabet
    punctuation          the class of an ill-formed byte that counts as punctuation
    """

    name: str
    scan: str
    pretoken_end: str
    class_of_points: Callable[[], NDArray[np.uint8]]
    punctuation: int


def gpt2_classes() -> NDArray[np.uint8]:
    """Return OTHER, LETTER, DIGIT or WHITE (0 to 3) of every code point."""
    from numbatok import unicode

    classes = np.zeros(0x110000, np.uint8)
    classes[unicode.category("L")] = 1
    classes[unicode.category("N")] = 2
    classes[unicode.white_space()] = 3
    return classes


GPT2 = Pattern("gpt2", "scan_gpt2", "pretoken_end_gpt2", gpt2_classes, 0)


def recognize(spec: TokenizerSpec) -> Pattern:
    """Return the pattern of a tokenizer.

    Errors: UnsupportedTokenizer, naming what is not known.
    """
    steps = spec.pre_tokenizers
    last = steps[-1] if len(steps) == 2 else None
    if isinstance(last, ByteLevel) and not (last.use_regex or last.add_prefix_space):
        steps = steps[:1]
    if len(steps) == 1:
        step = steps[0]
        if isinstance(step, ByteLevel) and step.use_regex and not step.add_prefix_space:
            return GPT2
        if step in [Split(pattern, is_regex=True) for pattern in GPT2_PATTERNS]:
            return GPT2
    raise UnsupportedTokenizer(f"pre_tokenizer: {spec.pre_tokenizers!r} is not supported")
