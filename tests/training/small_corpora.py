"""Seeded small corpora with many ties: few letters, short words, runs, white space, any Unicode."""

from __future__ import annotations

import random

from numbatok.reference.atoms import join, split_atoms
from numbatok.reference.patterns import pretokenize_gpt2

N_CORPORA = 210
ALPHABETS = ("ab", "abc", "abcdef", "aA1 ", "éàß日本語", "ab'sll", " \n\t ab", "👍🏽a1¼")


def small_corpus(seed: int) -> list[str]:
    """Return a few texts."""
    chosen = random.Random(seed)
    letters = chosen.choice(ALPHABETS)
    words = [
        "".join(chosen.choices(letters, k=chosen.randint(1, 9)))
        for _ in range(chosen.randint(1, 25))
    ]
    if chosen.random() < 0.2:
        words.append(chosen.choice(letters) * chosen.randint(2, 40))
    texts = []
    for _ in range(chosen.randint(1, 4)):
        n_words = chosen.randint(1, 40)
        texts.append(" ".join(chosen.choices(words, k=n_words)))
    return texts


def pretokens(text: str) -> list[bytes]:
    """Return the pretokens of a text by the reference's GPT-2 pattern."""
    atoms = split_atoms(text)
    ends = pretokenize_gpt2(atoms)
    return [join(atoms[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def count(texts: list[str]) -> dict[bytes, int]:
    """Return the counts of distinct pretokens in the order in which they come first."""
    counts: dict[bytes, int] = {}
    for text in texts:
        for pretoken in pretokens(text):
            counts[pretoken] = counts.get(pretoken, 0) + 1
    return counts
