"""Texts to compare on: real ones, all short ones, every character, random ones, added tokens."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain, islice, product

from tests.conftest import unpacked
from tests.reference.hard_texts import NASTY, REPRESENTATIVES

CORPORA = ("en", "code", "multilingual", "cjk", "web", "bible")
FEW_ATOMS = "aslSſǅʰ中カé\u03011² \n\r\t\u00a0!'/_"
ALL_ATOMS = REPRESENTATIVES
BLOCK = 5_000  # characters of a corpus in one text, cut at the next line end

# what stands before and after a character, and how often it stands there
CONTEXTS = (
    ("", 1, ""), ("a", 1, ""), ("", 1, "a"), ("A", 1, "b"), (" ", 1, ""), ("  ", 1, " x"),
    ("1", 1, "1"), ("!", 1, "!"), ("\n", 1, "\n"), ("'", 1, "'s"), ("", 2, "S"), ("中", 3, " "),
)  # fmt: skip

NEIGHBORS = [
    *(
        "",
        " ",
        "  ",
        "\n",
        "\t",
        " \n ",
        "\u00a0",
        "\u3000",
        "\u200b",
        "\u0085",
        "a",
        "B",
        "é",
        "ſ",
    ),
    *("1", "٣", "_", "'", "!", "中", "\u0301", "<", "|", ">", "word", "'s"),
]
WORDS = [
    *("the", " and", "'ll", "'re", "'ve", "'LL", "'s", "ing", "naïve", "foo();", "\r\n", "\n\n"),
    *(
        "  ",
        "    ",
        "\t\t",
        " \n",
        "2023",
        "12345",
        " 1,000.5",
        "中文字",
        "カタカナ",
        "한국어",
        "ไทย",
    ),
    *(
        "हिन्दी",
        "العربية",
        "👨\u200d👩\u200d👧",
        "❤\ufe0f",
        "e\u0301",
        "\u1100\u1161",
        "İ",
        "ß",
        "ﬁ",
    ),
    *("ſ", "ǅ", "//", "/*", "==", "___", "---", "http://a.b/c?d=e", "<|", "|>", "</s>", "\x00"),
    "\x16",
]
BLOCKS = [(0x80, 0x300), (0x300, 0x370), (0x900, 0xE80), (0x1100, 0x1200), (0x1E00, 0x2200),
          (0x2E80, 0x3400), (0xA640, 0xA800), (0xAC00, 0xD7A4), (0xF900, 0x10000),
          (0x10000, 0x12000), (0x1F300, 0x1FB00), (0x20000, 0x20100), (0x80, 0xD800),
          (0xE000, 0x110000)]  # fmt: skip


def corpus_texts(size: int | None) -> Iterator[str]:
    """Yield texts of real corpora: all of them, or `size` bytes of each, from five places."""
    for name in CORPORA:
        data = unpacked(f"corpora/{name}.txt").read_bytes()
        if size is None:
            yield from blocks_of(data.decode("utf-8"))
            continue
        for fifth in range(5):
            start = fifth * len(data) // 5
            yield from blocks_of(data[start : start + size // 5].decode("utf-8", "ignore"))


def blocks_of(text: str) -> Iterator[str]:
    """Cut a text after the first line end behind every BLOCK characters."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + BLOCK) + 1 or len(text)
        yield text[start:end]
        start = end


def short_strings(atoms: str, longest: int) -> Iterator[str]:
    """Yield every string of at most `longest` atoms, and known hard ones."""
    yield from NASTY
    for length in range(longest + 1):
        yield from map("".join, product(atoms, repeat=length))


def scalars(step: int, first: int) -> Iterator[str]:
    """Yield every step-th Unicode scalar in every context, beginning with `first`."""
    for point in chain(range(first, 0xD800, step), range(0xE000 + first, 0x110000, step)):
        for before, times, after in CONTEXTS:
            yield before + chr(point) * times + after


def fuzz(seed: int, count: int, added: Sequence[str], tokens: Sequence[str]) -> Iterator[str]:
    """Yield random texts of words, runs, tokens, added tokens and any characters."""
    rng = random.Random(seed)
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(1, 14)):
            kind = rng.random()
            if kind < 0.35:
                parts.append(rng.choice(WORDS))
            elif kind < 0.55:
                parts.append(rng.choice(ALL_ATOMS))
            elif kind < 0.65:
                parts.append(rng.choice(ALL_ATOMS) * rng.randint(2, 40))
            elif kind < 0.8:
                parts.append(chr(rng.randrange(*rng.choice(BLOCKS))))
            elif kind < 0.95 or not added:
                parts.append(rng.choice(tokens))
            else:
                parts.append(rng.choice(added))
        yield "".join(parts)


def glued(seed: int, count: int, added: Sequence[str]) -> Iterator[str]:
    """Yield added tokens beside everything: white space, words, each other, parts of each other."""
    rng = random.Random(seed)
    some = list(added) if len(added) <= count // 20 else rng.sample(list(added), count // 20)
    texts = chain(
        (b + t + a for t in some for b, a in [("", ""), *_neighbors(rng, 12)]),
        (t + u for t in some for u in rng.sample(some, min(3, len(some)))),
        (t[:-1] + t + t[1:] for t in some),
        (t.swapcase() + t for t in some),
        iter(lambda: _random_glue(rng, added), None),
    )
    return islice(texts, count)


def _neighbors(rng: random.Random, count: int) -> list[tuple[str, str]]:
    return [(rng.choice(NEIGHBORS), rng.choice(NEIGHBORS)) for _ in range(count)]


def _random_glue(rng: random.Random, added: Sequence[str]) -> str:
    """Return a few added tokens, whole or cut, between neighbors."""
    parts = []
    for _ in range(rng.randint(1, 5)):
        token = rng.choice(added)
        if rng.random() < 0.3:
            token = token[: rng.randint(1, len(token))]
        elif rng.random() < 0.1:
            token = token[rng.randrange(len(token)) :]
        parts += [rng.choice(NEIGHBORS), token]
    return "".join([*parts, rng.choice(NEIGHBORS)])


def broken_bytes(seed: int, count: int, added: Sequence[str]) -> Iterator[bytes]:
    """Yield bytes of all kinds: text, cut characters, impossible sequences, added tokens."""
    rng = random.Random(seed)
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(1, 8)):
            kind = rng.random()
            if kind < 0.4:
                parts.append(rng.choice(WORDS).encode())
            elif kind < 0.6:
                parts.append(rng.randbytes(rng.randint(1, 4)))
            elif kind < 0.9 or not added:
                data = (rng.choice(WORDS) + chr(rng.randrange(*rng.choice(BLOCKS)))).encode()
                parts.append(data[: rng.randint(1, len(data))])
            else:
                parts.append(rng.choice(added).encode())
        yield b"".join(parts)
