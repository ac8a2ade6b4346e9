"""Texts that hurt: one character per class and flag, the cases named by others, seeded fuzz."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

# One character for each combination of what some pattern family looks at.
LETTERS = "aslreSZ\u017fǅʰ中カé"  # contraction letters, both cases, long s, title, modifier, other
OTHERS = "\u0301" + "1½〇⺀\U00011de0"  # mark; digits, of Han too; Han symbol; digit of Unicode 17
WHITE = " \t\n\r\u00a0\u2028"
SYMBOLS = "!'/_$(.・\u0378\x1f\u200d\u3040\ue000"  # P, Pc, S; unassigned, control, format, private
REPRESENTATIVES = LETTERS + OTHERS + WHITE + SYMBOLS

NASTY = [
    # white space: what is given back, what is a line end, what is none
    *(
        "a  b",
        "x  ",
        "\ta",
        "\n\nA",
        "\t\t1",
        "a  1",
        "a  中",
        " カ",
        "a\n  ",
        "\r\n\r\na",
        "\r\r\na",
    ),
    *(" \n x", "\n\r\n x", "a\x85\x85b", "a\u3000\u3000b", "a\x1c\x1db", "a\u180e\u180eb"),
    *("a\u200b\ufeffb", "a\x1fb", "ju\x16", "\x00\x00a"),
    # contractions
    *("'\u017fx", "it'sx", "they'r", "'llama", "1's", "don't", "don'ts", "I'LL'VE", "'tis", "''s"),
    *("'sé", "'S", "'Ll", "'\u017f", "a'\u017f"),
    # cases
    *("\u0301A!", "中AB!", "中ABa", "A中B", "aǅ", "Aǅb", "ABCdEF", "A々", "!!\u0301"),
    # punctuation and line ends
    *("!\n//\n/x", "/*\r\n//\n", "foo();\r\n\r\n\tbar", "!hello", "!!hello", "«a", "a(b|c)[d]"),
    *("x.y,z", "…a", "a . b"),
    # Chinese, Japanese, emoji
    *(" 中文", "、中", "!中", "!・", "・\n", "〇〆々", "\u3040カ", "カ\u3040", "!⺀", "⺀!"),
    *("❤\ufe0fa", "👨\u200d👩\u200d👧", "a \U0001fae8"),
    # numbers
    *("1〇", "〇1", "1½Ⅷx", "2023", "650841823", "²³ Ÿ 1", "\U00011f50\U00010d40"),
    # Unicode 16.0 and 17.0
    *("a\U00010d50b", "a\U00011db0b", "a\ua7cbb", "a\ua7ceb", "a\U0002ebf0b", "a\U000323b0b"),
    "Ġ",
]


def all_strings(alphabet: str, longest: int) -> Iterator[str]:
    """Yield every string of 1 to `longest` characters."""
    for length in range(1, longest + 1):
        yield from map("".join, product(alphabet, repeat=length))


def random_strings(seed: int, count: int, alphabet: str, longest: int) -> Iterator[str]:
    """Yield seeded random strings of 1 to `longest` characters."""
    chance = random.Random(seed)
    for _ in range(count):
        yield "".join(chance.choice(alphabet) for _ in range(chance.randint(1, longest)))


BYTES = [char.encode() for char in "asZ \n'1!中\u0301カ/"] + [
    b"\xc3",
    b"\xe2\x82",
    b"\x89",
    b"\xb2",
    b"\xb1",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xf0\x9f",
    b"\xe0",
    b"\xaa",
    b"\xaf",
    b"\xf7",
]
"""Parts of byte strings: characters, truncated and impossible sequences of every kind."""


def random_bytes(seed: int, count: int, most_parts: int) -> Iterator[bytes]:
    """Yield seeded random byte strings made of BYTES."""
    chance = random.Random(seed)
    for _ in range(count):
        yield b"".join(chance.choice(BYTES) for _ in range(chance.randint(0, most_parts)))
