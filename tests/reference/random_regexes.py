"""Random regexes of the supported syntax, and some beyond it."""

from __future__ import annotations

import random

CHARACTERS = [*"abcsAB1 !éK中", r"\n", "."]
CLASSES = [
    r"\s",
    r"\d",
    r"\w",
    r"\h",
    r"\p{L}",
    r"\p{N}",
    r"\p{P}",
    r"\p{Lu}",
    r"\p{Ll}",
    r"\p{Han}",
]
COMPLEMENTS = [r"\S", r"\D", r"\W", r"\P{L}", r"\p{^N}"]
PLACES = [r"\b", r"\B", "^", "$", r"\A", r"\z", r"\Z"]
GROUPS = ["(?:", "(", "(?>", "(?i:", "(?-i:"]
LOOKS = ["(?=", "(?!"]
COUNTS = ["*", "+", "?", "{2}", "{1,2}", "{2,}", "{,2}", "{0,3}"]

TEXT = "abcsAB1 \n!é中ſKßSk\u0301²"
"""Characters of the texts that the regexes are tried on."""


class RandomRegexes:
    """Makes one regex after the other."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def regex(self, depth: int = 0) -> str:
        """Return one to three alternatives."""
        return "|".join(self._concat(depth) for _ in range(self.chance.choice([1, 1, 1, 2, 3])))

    def text(self, longest: int) -> str:
        """Return a text of 1 to `longest` characters."""
        return "".join(self.chance.choices(TEXT, k=self.chance.randint(1, longest)))

    def _concat(self, depth: int) -> str:
        terms = self.chance.choice([1, 1, 2, 2, 3])
        return "".join(self._term(depth) + self._quantifier() for _ in range(terms))

    def _term(self, depth: int) -> str:
        kinds = ["one", "class", "bracket", "place", "group", "look"]
        (kind,) = self.chance.choices(kinds, [40, 20, 12, 3, 15, 10])
        if kind == "class":
            return self.chance.choice(CLASSES + COMPLEMENTS)
        if kind == "bracket":
            return self._bracket(0)
        if kind == "place":
            return self.chance.choice(PLACES)
        if kind == "one" or depth > 2:
            return self.chance.choice(CHARACTERS)
        opening = self.chance.choice(GROUPS if kind == "group" else LOOKS)
        return opening + self.regex(depth + 1) + ")"

    def _bracket(self, depth: int) -> str:
        members = [self._member(depth) for _ in range(self.chance.randint(1, 3))]
        return "[" + self.chance.choice(["", "", "^"]) + "".join(members) + "]"

    def _member(self, depth: int) -> str:
        kinds = ["one", "range", "class", "bracket", "&&", "-"]
        (kind,) = self.chance.choices(kinds, [35, 15, 30, 10, 5, 5])
        if kind == "range":
            return self.chance.choice(["a-c", "A-Z", "0-9", "一-龥", "à-ü"])
        if kind == "class":
            return self.chance.choice(CLASSES + COMPLEMENTS)
        if kind == "bracket" and depth < 2:
            return self._bracket(depth + 1)
        return kind if kind in ("&&", "-") else self.chance.choice("abcsAB1 !é中")

    def _quantifier(self) -> str:
        if self.chance.random() < 0.55:
            return ""
        return self.chance.choice(COUNTS) + self.chance.choice(["", "", "", "?", "+"])
