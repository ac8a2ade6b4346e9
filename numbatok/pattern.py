"""Which kernels cut the text: those of a family, recognized by its exact strings, or the automaton.

Pre-tokenizers that are no family are compiled (`numbatok.regex`) when tables are built of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numbatok.spec import ByteLevel, PreTokenizer, Split, TokenizerSpec

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
    chain                the pre-tokenizers that the automaton is made of; None for a family
    engine               that of TokenizerSpec, for the chain
    """

    name: str
    scan: str
    pretoken_end: str
    class_of_points: Callable[[], NDArray[np.uint8]]
    punctuation: int
    chain: tuple[PreTokenizer, ...] | None = None
    engine: str = "tokenizers"


def gpt2_classes() -> NDArray[np.uint8]:
    """Return OTHER, LETTER, DIGIT or WHITE (0 to 3) of every code point."""
    from numbatok import unicode

    classes = np.zeros(0x110000, np.uint8)
    classes[unicode.category("L")] = 1
    classes[unicode.category("N")] = 2
    classes[unicode.white_space()] = 3
    return classes


def no_classes() -> NDArray[np.uint8]:
    """Return one class for every code point: the automaton has classes of its own."""
    return np.zeros(0x110000, np.uint8)


GPT2 = Pattern("gpt2", "scan_gpt2", "pretoken_end_gpt2", gpt2_classes, 0)


def recognize(spec: TokenizerSpec) -> Pattern:
    """Return the pattern of a tokenizer; what is not supported is refused when it is compiled."""
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
    return Pattern(
        "automaton", "scan_automaton", "pretoken_end_automaton", no_classes, 0,
        spec.pre_tokenizers, spec.engine,
    )  # fmt: skip
