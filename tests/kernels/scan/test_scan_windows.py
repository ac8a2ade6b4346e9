"""A window may end anywhere: every start but the last is final, whatever follows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

import pytest

from numbatok.pattern import PATTERNS
from tests.kernels.scan.scan_cutter import SEGMENT, Cutter
from tests.reference.comparing import assert_equal, differences
from tests.reference.hard_texts import NASTY, REPRESENTATIVES

ALL = pytest.mark.parametrize("name", PATTERNS)

# What is undecided at the end of a window for longest: white space that may yet have a line end,
# capitals after a letter without case, runs of every kind, a tail of line ends and slashes.
ENDLESS = (
    "a\n" + " " * 200 + "\nb",
    "a\n" + " " * 200 + "b",
    "a\n" + "\u3000" * 70 + "b",
    "a\r\n\t" * 20 + " " * 90 + "x",
    "a" + "\n \n" * 50 + "  b",
    "中" + "A" * 200 + "!",
    "中" + "A" * 200 + "b",
    "中" + "Ａ" * 60 + "中!",
    "!\n" + "/\n" * 70 + "/x",
    "!" * 150 + "\u0301" * 40 + "a",
    "1" * 200 + "x",
    "1" * 60 + "３" * 40 + "x",
    "\x00" * 150 + "é",
    "⺀" * 50 + "!" + "⺀" * 30 + "中" * 30 + "〇" * 30,
    "it's" * 50,
    "カ・" * 40 + "\u3040" * 40 + "カ",
    "\r" * 100 + "\n" + "\r\n" * 40 + "a",
    "x" + " " * 190,
    "x\n" + " " * 190,
    "\n" * 190,
)


def texts(name: str, count: int) -> Iterator[bytes]:
    """Yield texts of 90 to some 300 bytes."""
    chance = random.Random(f"{name} windows")
    yield from (text.encode() for text in ENDLESS)
    yield b"\n".join(text.encode() for text in NASTY)
    for _ in range(count):
        chars = chance.sample(REPRESENTATIVES, chance.randint(2, 7))
        parts = chance.choices(chars, k=chance.randint(20, 60))
        text = "".join(part * chance.choice((1, 1, 2, 3, 20)) for part in parts)
        yield text.encode()[:300].ljust(90, b"x")


def is_final(cut: Cutter, text: bytes, size: int, goes_on: bool, true_starts: list[int]) -> bool:
    """Tell whether a scan of text[:size] gives the true starts up to its last one."""
    found = cut.scan(text, size, goes_on)
    return found == true_starts[: len(found)]


@ALL
def test_every_start_is_final_wherever_the_window_ends(name):
    cut = Cutter(PATTERNS[name])
    count = 0
    for text in texts(name, 30):
        true_starts = [0, *cut.by_twin(text)[:-1]]
        for size in range(1, len(text)):
            count += 1
            assert is_final(cut, text, size, True, true_starts), (text, size)
    print(f"{name}: {count} windows")
    assert count > 5_000


@ALL
def test_windows_of_any_size_give_the_pretokens_of_the_whole(name):
    whole = Cutter(PATTERNS[name])
    for segment in (80, 97, 128, 160):
        cut = Cutter(PATTERNS[name], segment=segment)
        assert_equal(
            f"{name}: windows of {segment} bytes", texts(name, 60), whole.by_twin, cut.by_masks
        )


@ALL
def test_texts_longer_than_a_window(name):
    """Real windows: pretokens over their ends, and pretokens longer than them."""
    cut = Cutter(PATTERNS[name])
    chance = random.Random(f"{name} long windows")
    long = []
    for filler in ("ab c", "中文，", " \n", "Ab中", "12", "!/\n", "\u0301x"):
        for shift in range(6):
            text = filler * (SEGMENT // len(filler.encode()) + 40)
            long.append(("a" * shift + text + chance.choice(ENDLESS)).encode())
    assert_equal(f"{name}: long texts", long, cut.by_twin, cut.by_masks)


@pytest.mark.parametrize("name", ["cl100k", "llama3", "o200k", "deepseek_v3"])
def test_a_window_that_pretends_to_be_the_end_is_seen(name):
    cut = Cutter(PATTERNS[name])
    wrong = 0
    for text in texts(name, 30):
        true_starts = [0, *cut.by_twin(text)[:-1]]
        wrong += sum(
            not is_final(cut, text, size, False, true_starts) for size in range(1, len(text))
        )
    assert wrong > 0


@ALL
def test_documents_side_by_side_in_one_window(name):
    """A scan starts anywhere in the window and appends to the starts before it."""
    cut = Cutter(PATTERNS[name])
    documents = [text[:200] for text in texts(name, 10)]
    places = [0, *accumulate(len(document) for document in documents)]
    expected, found = [], []
    for place, document in zip(places, documents, strict=False):
        expected += [place, *(place + end for end in cut.by_twin(document)[:-1])]
        found += cut.scan_at(document, place, len(found))
    assert found == expected


def test_comparison_of_windows_sees_a_fault():
    cut = Cutter(PATTERNS["llama3"])
    _, lines = differences(
        texts("llama3", 5), cut.by_twin, lambda text: [*cut.by_masks(text)[:-2], len(text)]
    )
    assert lines
