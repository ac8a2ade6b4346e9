"""The UTF-8 of long texts from their code units: what CPython makes, and nothing is kept."""

from __future__ import annotations

import ctypes
import random
import sys

import numpy as np
import pytest

from numbatok import built_in, utf8
from numbatok.errors import InvalidUtf8
from numbatok.native import function, interpreted

pytestmark = pytest.mark.skipif(
    interpreted() or built_in.str_layout() is None, reason="a str is laid out otherwise here"
)

ALPHABETS = [
    "abc xyz\n",
    "abcé ñü",
    "aé€漢字 b",
    "a€😀漢é ",
    "漢字",
    "éñ",
    "😀",
    "Привет мир ",
    "\0é",
]


@pytest.fixture(autouse=True)
def short_texts_too(monkeypatch):
    monkeypatch.setattr(utf8, "LONG", 1)
    monkeypatch.setattr(utf8, "_last", (0, 0))


def texts(n):
    rng = random.Random(n)
    for _ in range(n):
        yield "".join(rng.choices(rng.choice(ALPHABETS), k=rng.randrange(1, 200)))


def differences(made):
    """Return how many texts were compared, and those whose UTF-8 is not that of CPython."""
    compared, wrong = 0, []
    for text in made:
        compared += 1
        if utf8.to_array(text).tobytes() != text.encode():
            wrong.append(text)
    return compared, wrong


def test_texts_of_every_width():
    compared, wrong = differences(texts(3000))
    print(f"{compared} texts compared")
    assert compared == 3000 and not wrong


def test_every_character():
    codes = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    blocks = ("".join(map(chr, codes[i : i + 67])) for i in range(0, len(codes), 67))
    compared, wrong = differences(blocks)
    print(f"{compared} blocks of characters compared")
    assert compared > 16_000 and not wrong


def test_the_comparison_sees_a_wrong_byte(monkeypatch):
    right = utf8._made

    def spoiled(text):
        array = right(text)
        if array is not None:
            array[-1] ^= 1
        return array

    monkeypatch.setattr(utf8, "_made", spoiled)
    assert len(differences(texts(100))[1]) > 50


@pytest.mark.parametrize("at", range(0, 70, 3))
@pytest.mark.parametrize("alphabet", ["a", "é", "漢", "😀"])
def test_lone_surrogates_anywhere(at, alphabet):
    text = alphabet * at + "\udc80" + alphabet * (69 - at)
    assert utf8.to_array(text).tobytes() == text.replace("\udc80", "\ufffd").encode()
    with pytest.raises(InvalidUtf8, match="surrogate"):
        utf8.to_array(text, "error")


def test_nothing_is_kept_until_the_same_text_comes_again():
    text = "漢字" * 50_000
    size = sys.getsizeof(text)
    for _ in range(2):
        assert utf8.to_array(text).tobytes() == text.encode()
    assert sys.getsizeof(text) > size  # CPython made it the second time
    text, other = "字漢" * 50_000, "é" * 50_000
    for _ in range(3):
        utf8.to_array(text), utf8.to_array(other)
    assert sys.getsizeof(text) == size


def test_no_more_is_written_than_there_is_room_for():
    write_utf8 = function("write_utf8")
    layout = built_in.str_layout()
    for character, width, most in (("é", 1, 2), ("漢", 2, 3), ("😀", 4, 4)):
        for n in (1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200):
            text = n * character
            room = np.full(most * n + 2 * 64, 0xAA, np.uint8)
            size = write_utf8(id(text) + layout.units, n, width, room.ctypes.data)
            assert size == most * n and (room[size + 64 :] == 0xAA).all()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="every str is compact from 3.12 on")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_str_that_has_its_units_elsewhere(gpt2):
    python = ctypes.pythonapi
    python.PyUnicode_FromUnicode.restype = ctypes.py_object
    python.PyUnicode_FromUnicode.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t]
    python.PyUnicode_AsUnicode.restype = ctypes.c_void_p
    python.PyUnicode_AsUnicode.argtypes = [ctypes.py_object]
    for content in ("日本 é" * 30, "日本 é" * 9000):
        old = python.PyUnicode_FromUnicode(None, len(content))
        units = ctypes.create_unicode_buffer(content)
        size = ctypes.sizeof(ctypes.c_wchar) * len(content)
        ctypes.memmove(python.PyUnicode_AsUnicode(old), units, size)
        assert old == content  # which completes it, its units in memory of their own
        state = built_in.word(id(old) + built_in.FLAGS) >> built_in.str_layout().width_shift
        assert not state & built_in.COMPACT and not built_in.word(
            id(old) + built_in.str_layout().kept
        )
        for _ in range(3):
            assert gpt2.encode(old).tolist() == gpt2.encode(content.encode()).tolist()
