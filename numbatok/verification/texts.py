"""Seeded texts of all kinds: what patterns, merges and special tokens are known to trip over."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product

SEED = 20_261_129

# One character of each class and flag that a pattern can tell apart, and its near misses.
REPRESENTATIVES = (
    *"aZsdé中ǅʰ",  # lower and upper case, title case, modifier, no case
    *"7²Ⅷ",  # decimal digit, other number, letter number
    *" \n\r\t\u00a0\u3000\u200b",  # white space of each kind, and what only looks like it
    *"'’!$_/",  # apostrophes, punctuation, symbols, connector
    "\u0301",  # a mark
    "🙂",
)
SHORT = "aZ7 \n'!\u0301中s"  # of which every string of four is taken too

WORD_LIST = (
    "the The THE don't I'll we've IT'S they’re naïve fiancée straße Ελλάδα Привет мир שלום عربي "
    "हिन्दी ภาษาไทย 日本語 中文 한국어 tiếng Việt İstanbul ſ x² 3.14 1,000,000 0x1F 2026-11-29 v2.0 "
    "foo_bar fooBar FooBAR getHTTPResponse __init__ a.b.c https://example.org/a?b=c&d=%20 "
    "user@example.org 👩‍👩‍👧‍👦 🇺🇳 e\u0301 ﷺ 𝒳 𐍈 \ufeff \u200d \u0000"
)
WORDS = tuple(WORD_LIST.split(" "))
SEPARATORS = (
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "",
    ", ",
    ". ",
    " - ",
    "    ",
    "\u3000",
)
PIECES_OF_CODE = (
    "def f(x):\n    return x+1\n\n", "if (a && b) {\n\t++i;\n}\n", "// comment\r\n",
    "x = [1, 2, 3]\n", "<div class='a'>&nbsp;</div>", '{"key": "value\\n"}',
    "SELECT * FROM t WHERE id=10;\n", "a->b::c",
    "$HOME/.config", "#!/bin/sh\n", "'''doc'''", '"', "'s", "'S", "'ll", "'LL", "'re", "’s", "'ſ",
)  # fmt: skip
RUNS = (" ", "\n", "a", "A", "7", "!", "中", "é", "\u0301", " a", "\r\n", "\t ", "ab", "'s")
ILL_FORMED = (
    b"\xe0@yp", b"\x89\x88\x81\xab", b"\xbd\x9b\x9a\xe9", b"\xb1's", b"\xc3(", b"\xe2\x82",
    b"\xed\xa0\x80", b"\xc0\xaf", b"\xf0\x9f", b"\xff", b"\xf4\x90\x80\x80", b"a\x80b", b" \x85 ",
    b"\xa0", b"\xb2\xb3\xb9", b"\xaa\xb5\xba",
)  # fmt: skip

Text = str | bytes


def sample_texts(
    tokens: Sequence[bytes], special: Sequence[str], with_bytes: bool, rounds: int
) -> Iterator[list[Text]]:
    """Yield groups of texts, a kind at a time; the same for the same tokenizer.

    Args:
        tokens: the bytes of every token.
        special: the added tokens' strings.
        with_bytes: whether texts that are not UTF-8 are wanted too.
        rounds: how many times as many of the random ones.
    """
    yield list(_short_strings())
    makers: dict[str, Callable[[random.Random], Iterator[Text]]] = {
        "words": _sentences,
        "code": _code,
        "characters": _characters,
        "runs": _runs,
        "tokens": lambda chance: _token_pairs(chance, tokens),
        "special tokens": lambda chance: _with_special(chance, special),
    }
    if with_bytes:
        makers["ill-formed bytes"] = _ill_formed
    for number, (name, maker) in product(range(rounds), makers.items()):
        yield list(maker(random.Random(f"{SEED} {name} {number}")))


def _short_strings() -> Iterator[str]:
    """Every string of 0 to 2 representatives, and of 3 and 4 of the few that matter most."""
    for length in range(3):
        yield from map("".join, product(REPRESENTATIVES, repeat=length))
    yield from map("".join, product(SHORT, repeat=3))
    yield from map("".join, product("aZ7 \n'", repeat=4))


def _sentences(chance: random.Random) -> Iterator[str]:
    for _ in range(400):
        count = chance.randrange(1, 30)
        yield "".join(chance.choice(WORDS) + chance.choice(SEPARATORS) for _ in range(count))


def _code(chance: random.Random) -> Iterator[str]:
    for _ in range(300):
        yield "".join(chance.choices((*PIECES_OF_CODE, *SEPARATORS), k=chance.randrange(1, 12)))


def _characters(chance: random.Random) -> Iterator[str]:
    """Scalars of any plane, and of the blocks that text is made of."""
    blocks = [(0, 0x80), (0, 0x250), (0x300, 0x2000), (0x2000, 0x3400), (0x3400, 0xD800)]
    blocks += [(0xE000, 0x1_0000), (0x1_0000, 0x2_0000), (0x1F300, 0x1FB00), (0, 0xD800)]
    for _ in range(1500):
        first, end = chance.choice(blocks)
        yield "".join(chr(chance.randrange(first, end)) for _ in range(chance.randrange(1, 16)))


def _runs(chance: random.Random) -> Iterator[str]:
    for run in RUNS:
        for length in (2, 3, 15, 16, 17, 63, 64, 65, 129):
            yield run * length
            yield chance.choice(WORDS) + run * length + chance.choice(WORDS)


def _token_pairs(chance: random.Random, tokens: Sequence[bytes]) -> Iterator[str]:
    """Tokens alone and in pairs: not every token's text encodes to that token."""
    texts = [
        token.decode(errors="ignore") for token in chance.sample(tokens, min(1500, len(tokens)))
    ]
    yield from texts
    yield from (first + second for first, second in zip(texts, reversed(texts), strict=True))


def _with_special(chance: random.Random, special: Sequence[str]) -> Iterator[str]:
    """Special tokens glued to everything, cut short, and doubled."""
    for content in chance.sample(special, min(60, len(special))):
        for around in ("", " ", "a", "\n", "'s", "7", "中"):
            yield around + content + around
        yield content * 2
        yield content[:-1] + " " + content[1:] + content
        yield chance.choice(WORDS) + content + chance.choice(special) + chance.choice(WORDS)


def _ill_formed(chance: random.Random) -> Iterator[bytes]:
    for data in ILL_FORMED:
        for around in (b"", b" ", b"a", b"'", b"7", b"\n"):
            yield around + data + around
    for first in range(0x80, 0x100):
        yield bytes([first])
        yield b"a" + bytes([first]) + b" b"
    for _ in range(800):
        pieces = [chance.randbytes(chance.randrange(1, 4)), chance.choice(ILL_FORMED)]
        pieces.append(chance.choice(WORDS).encode()[chance.randrange(2) :])
        chance.shuffle(pieces)
        yield b"".join(pieces)
