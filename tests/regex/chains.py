"""Chains of pre-tokenizers: published ones that are no family, and random ones."""

from __future__ import annotations

import random

from numbatok.pattern_names import O200K, QWEN2
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
from tests.reference.random_regexes import RandomRegexes

BYTES, GPT2_BYTES = ByteLevel(False, use_regex=False), ByteLevel(False, use_regex=True)
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
PATTERNS = [
    *(r"\s+", r"\p{N}{1,3}", r"\d", r"'s|[a-z]+", r" ?\p{L}+", r"\s+$", r"(?=A)", r"a*", r"\b"),
    *(r"[一-龥]+", r"\s?\p{P}+", r"[\r\n]", r"(?:\r?\n)+(?!\r?\n)", r"\p{Lu}|\p{M}", r"\B"),
    *(r"Ġ", r"Ġ?[a-zĀ-Ń]+", r"[0-9][0-9][0-9]", r"(?<=a)b|^", r"(?>a|ab)c", r"[[:punct:]]++"),
]
LITERALS = ["a", "  ", "é", "", "ab", ".", "Ġ", "\n", r"\s+"]
CHARACTERS = [*"ab1 .\n\r\tAé中カ_'s½²—", "\u0301", "  ", "ー", "α", "\u00a0", "\u200d", "Ⅷ", "123"]
CHARACTERS += ["\U00011de0", "\u2e43", "\u166d", "\u0378", "c", "😀"]


def regex(pattern: str, behavior: str = "isolated", invert: bool = False) -> Split:
    return Split(pattern, True, behavior, invert)


CJK = "[一-龥ࠀ-一가-퟿]+"
WORDS_OF_LAGUNA = regex(r"(?:\r?\n)+(?!\r?\n)", "merged_with_next")
PUBLISHED: dict[str, list[PreTokenizer]] = {
    "deepseek-coder": [
        *(regex("[\r\n]"), regex(r"\s?\p{L}+"), regex(r"\s?\p{P}+"), regex(CJK)),
        *(Digits(individual=True), BYTES),
    ],
    "deepseek-llm": [
        regex("[\r\n]"),
        regex(r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ϿА-ҁҊ-ԯԱ-Ֆ]+"),
        regex(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"),
        regex(r"\s+$"),
        regex(CJK),
        *(Digits(individual=True), BYTES),
    ],
    "bloom": [regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), BYTES],
    "falcon": [
        *(Punctuation("contiguous"), GPT2_BYTES, Digits(individual=False)),
        regex("[0-9][0-9][0-9]"),
    ],
    "zeta": [
        regex(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}"
            r"| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        BYTES,
    ],
    "llada": [
        regex(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}"
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
        ),
        BYTES,
    ],
    "grouped digits": [regex(r"\d{1,3}(?=(?:\d{3})*\b)"), regex(O200K), BYTES],
    "cjk first": [regex("[一-龥ぁ-ゟァ-ヿ]+"), regex(QWEN2), BYTES],
    "laguna": [WORDS_OF_LAGUNA, regex(QWEN2), BYTES],
    "digits in threes": [regex(r"\p{N}{1,3}"), regex(QWEN2.replace(r"\p{N}", r"\p{N}+")), BYTES],
    "exaone": [regex(r"\d"), regex(r"[^\S\r\n]{2,}", "merged_with_next"), GPT2_BYTES],
    "words only": [WhitespaceSplit(), Punctuation("isolated"), BYTES],
    "words and marks": [WhitespaceWords(), BYTES],
    "spaces go left": [Split(" ", False, "merged_with_previous"), BYTES],
    "scripts": [UnicodeScripts(), GPT2_BYTES],
    "whole": [BYTES],
}


class RandomChains:
    """Makes one chain after the other, each with a ByteLevel step somewhere."""

    def __init__(self, seed: int) -> None:
        self.chance, self.regexes = random.Random(seed), RandomRegexes(seed)

    def chain(self, longest: int = 4) -> list[PreTokenizer]:
        steps = [self._step() for _ in range(self.chance.randint(0, longest))]
        byte_level = ByteLevel(False, use_regex=self.chance.random() < 0.5)
        steps.insert(self.chance.randint(0, len(steps)), byte_level)
        return steps

    def text(self, longest: int = 10) -> str:
        if self.chance.random() < 0.5:
            return self.regexes.text(longest)
        return "".join(self.chance.choices(CHARACTERS, k=self.chance.randint(1, longest)))

    def data(self, longest: int = 12) -> bytes:
        """Return bytes of every kind, most of them not UTF-8."""
        pieces = [self.text(3).encode() for _ in range(2)]
        pieces += [bytes([self.chance.choice([0x80, 0xA9, 0xB2, 0xC3, 0xE2, 0xE9, 0xF0, 0xFF])])
                   for _ in range(self.chance.randint(1, longest - 8))]  # fmt: skip
        self.chance.shuffle(pieces)
        return b"".join(pieces)

    def _step(self) -> PreTokenizer:
        chance = self.chance
        behavior, invert = chance.choice(BEHAVIORS), chance.random() < 0.3
        kinds = ["random", "regex", "literal", "digits", "punctuation", "words", "space",
                 "delimiter", "length", "scripts"]  # fmt: skip
        (kind,) = chance.choices(kinds, [25, 25, 8, 8, 8, 5, 5, 5, 5, 3])
        match kind:
            case "random":
                return Split(self.regexes.regex(), True, behavior, invert)
            case "regex":
                return Split(chance.choice(PATTERNS), True, behavior, invert)
            case "literal":
                return Split(chance.choice(LITERALS), False, behavior, invert)
            case "digits":
                return Digits(chance.random() < 0.5)
            case "punctuation":
                return Punctuation(behavior)
            case "words":
                return WhitespaceWords()
            case "space":
                return WhitespaceSplit()
            case "delimiter":
                return CharDelimiterSplit(chance.choice("a é_"))
            case "length":
                return FixedLength(chance.randint(1, 4))
        return UnicodeScripts()
