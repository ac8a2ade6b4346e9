"""The patterns that kernels know: the entries of their families, parameters, classes, cuts.

A class is a set of bits, named in kernels/scan; the bits here are the same, and a test holds them
together, so that recognizing a pattern does not import Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numbatok.spec import PreTokenizer
from numbatok.tables import CUT_COMMAS, CUT_WIDE_WORDS, CUT_WORDS

Classes = NDArray[np.uint8]

LETTER, NUMBER, WHITE, NEWLINE, OTHER, UPPER, LOWER, IDEOGRAPH = (1 << bit for bit in range(8))

BLOOM_STOPS = ".,!?…。，、।۔،"


@dataclass(frozen=True)
class Pattern:
    """A pattern that kernels know.

    scan, pretoken_end   names of its two entries
    class_of_points      makes the class of every code point, uint8[0x110000]
    class_of_byte        gives an ill-formed byte's class from the class of its character in the
                         byte alphabet
    punctuation          the class of an ill-formed byte that counts as punctuation
    parameters           Scan.parameters: how it differs from others of its family
    cuts                 where a text may be cut without changing a pretoken, as in `cuts`
    chain                the pre-tokenizers that the automaton is made of; None for a family
    engine               that of TokenizerSpec, for the chain
    """

    name: str
    scan: str
    pretoken_end: str
    class_of_points: Callable[[], Classes]
    punctuation: int = OTHER
    parameters: tuple[int, ...] = ()
    cuts: int = CUT_WORDS | CUT_COMMAS | CUT_WIDE_WORDS
    chain: tuple[PreTokenizer, ...] | None = None
    engine: str = "tokenizers"


def base_classes(letters: tuple[str, ...] = ("L",), numbers: str = "N") -> Classes:
    """Return LETTER, NUMBER, WHITE, WHITE | NEWLINE or OTHER of every code point."""
    from numbatok import unicode

    classes = np.full(unicode.CODE_POINTS, OTHER, np.uint8)
    for name in letters:
        classes[unicode.category(name)] = LETTER
    classes[unicode.category(numbers)] = NUMBER
    classes[unicode.white_space()] = WHITE
    classes[[0x0A, 0x0D]] |= NEWLINE
    return classes


def marked_classes() -> Classes:
    """Return the same, marks being letters (Qwen 3.5)."""
    return base_classes(("L", "M"))


def gpt2_classes() -> Classes:
    """Return the same without line ends, which are white space like any other to GPT-2."""
    classes = base_classes()
    classes[[0x0A, 0x0D]] = WHITE
    return classes


def digit_classes() -> Classes:
    """Return GPT-2's classes, the numbers being those of the Digits step."""
    from numbatok import unicode

    classes = gpt2_classes()
    classes[unicode.numeric_characters()] = NUMBER
    return classes


def no_classes() -> Classes:
    """Return one class for every code point: the automaton has classes of its own."""
    return np.zeros(0x110000, np.uint8)


def automaton(chain: tuple[PreTokenizer, ...], engine: str) -> Pattern:
    """Return the pattern that runs pre-tokenizers of no family, compiled, on an engine's terms."""
    return Pattern(
        "automaton", "scan_automaton", "pretoken_end_automaton", no_classes, 0,
        cuts=0, chain=chain, engine=engine,
    )  # fmt: skip


def cl100k(
    name: str,
    classes: Callable[[], Classes] = base_classes,
    *,
    most_digits: int = 3,
    newline_tail: bool = True,
    number_stops: bool = False,
    line_cuts: bool = False,
    whole_at_end: bool = False,
) -> Pattern:
    """Return a pattern of the cl100k family; kernels/scan/cl100k.py says what the parameters do."""
    stops = NUMBER if number_stops else 0
    parameters = (most_digits, int(newline_tail), stops, int(line_cuts), int(whole_at_end))
    return Pattern(name, "scan_cl100k", "pretoken_end_cl100k", classes, parameters=parameters)


def cased_classes() -> Classes:
    """Return the base classes with UPPER and LOWER, both for what has no case, and for marks."""
    from numbatok import unicode

    classes = base_classes()
    for name in ("Lu", "Lt", "Lm", "Lo", "M"):
        classes[unicode.category(name)] |= UPPER
    for name in ("Ll", "Lm", "Lo", "M"):
        classes[unicode.category(name)] |= LOWER
    return classes


def han_classes() -> Classes:
    """Return the same, Han characters being IDEOGRAPH instead of UPPER and LOWER (Kimi)."""
    from numbatok import unicode

    classes, han = cased_classes(), unicode.han()
    classes[han] = classes[han] & ~np.uint8(UPPER | LOWER) | IDEOGRAPH
    return classes


def o200k(
    name: str,
    classes: Callable[[], Classes] = cased_classes,
    *,
    most_digits: int = 3,
    slash_tail: bool = True,
    suffix: bool = True,
) -> Pattern:
    """Return a pattern of the o200k family; kernels/scan/o200k.py says what the parameters do."""
    parameters = (most_digits, int(slash_tail), int(suffix), int(classes is han_classes))
    return Pattern(name, "scan_o200k", "pretoken_end_o200k", classes, parameters=parameters)


def deepseek_v3_classes() -> Classes:
    """Return the classes of DeepSeek v3: marks are letters, OTHER is P and S, gaps are 0.

    Chinese and kana have IDEOGRAPH besides.
    """
    from numbatok import unicode

    classes = base_classes(("L", "M"))
    named = unicode.category("P") | unicode.category("S")
    classes[(classes == OTHER) & ~named] = 0
    classes[0x4E00:0x9FA6] |= IDEOGRAPH
    classes[0x3040:0x3100] |= IDEOGRAPH
    return classes


def bloom_classes() -> Classes:
    """Return LETTER for what a word of bloom may contain, OTHER for the rest, both with WHITE."""
    from numbatok import unicode

    classes = np.full(unicode.CODE_POINTS, LETTER, np.uint8)
    classes[[ord(stop) for stop in "(|)" + BLOOM_STOPS]] = OTHER
    classes[unicode.white_space()] = OTHER | WHITE
    return classes


PATTERNS = {
    pattern.name: pattern
    for pattern in (
        Pattern("gpt2", "scan_gpt2", "pretoken_end_gpt2", gpt2_classes, parameters=(0,)),
        Pattern("digits_gpt2", "scan_gpt2", "pretoken_end_gpt2", digit_classes, parameters=(1,)),
        cl100k("cl100k", whole_at_end=True),
        cl100k("llama3"),
        cl100k("qwen2", most_digits=1),
        cl100k("qwen3.5", marked_classes, most_digits=1),
        cl100k("zeta", most_digits=1, newline_tail=False),
        cl100k("minicpm5", number_stops=True),
        cl100k("laguna", most_digits=1, line_cuts=True),
        o200k("o200k"),
        o200k("nemo", most_digits=1, suffix=False),
        o200k("kimi", han_classes, slash_tail=False),
        Pattern("deepseek_v3", "scan_deepseek_v3", "pretoken_end_deepseek_v3", deepseek_v3_classes),
        Pattern("bloom", "scan_bloom", "pretoken_end_bloom", bloom_classes, punctuation=LETTER),
    )
}
