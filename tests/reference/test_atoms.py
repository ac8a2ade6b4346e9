"""Text of arbitrary bytes as atoms, under each policy."""

from __future__ import annotations

import codecs
import random
from itertools import product

import pytest
from tokenizers import pre_tokenizers

from numbatok.errors import InvalidType, InvalidUtf8, InvalidValue
from numbatok.formats.byte_alphabet import to_spelling
from numbatok.reference.atoms import (
    SEQUENCES,
    byte_alphabet,
    join,
    join_surrogates,
    split_atoms,
)
from tests.reference.comparing import assert_equal, differences

REPRODUCERS = {
    "e0407970": ["e0", "40", "79", "70"],
    "898881ab": ["89", "88", "81", "ab"],
    "bd9b9ae9": ["bd", "9b", "9a", "e9"],
    "b12773": ["b1", "27", "73"],
    "c328": ["c3", "28"],
    "e282": ["e2", "82"],
    "eda080": ["ed", "a0", "80"],
    "c0af": ["c0", "af"],
    "f09f": ["f0", "9f"],
    "ff": ["ff"],
    "f09f9880": ["f09f9880"],
    "e3e382ab": ["e3", "e382ab"],
    "f4908080": ["f4", "90", "80", "80"],
}


@pytest.mark.parametrize(("text", "parts"), REPRODUCERS.items())
def test_minimal_reproducers(text, parts):
    atoms = split_atoms(bytes.fromhex(text))
    assert [atom.data.hex() for atom in atoms] == parts
    assert [atom.is_character for atom in atoms] == [len(p) > 2 or p < "80" for p in parts]


def python_parts(data: bytes) -> list[bytes]:
    """Return the atoms by Python's own decoder, told to go on one byte after each error."""
    ends = []

    def one_byte(error):
        ends.append(error.start)
        return "\ufffe", error.start + 1

    codecs.register_error("one_byte", one_byte)
    text = data.decode("utf-8", errors="one_byte")
    stray = iter([data[start : start + 1] for start in ends])
    return [next(stray) if char == "\ufffe" else char.encode() for char in text]


def byte_strings():
    yield from (bytes(pair) for pair in product(range(256), repeat=2))
    edges = sorted({0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xFF})
    edges += sorted({edge for first, last, _, _ in SEQUENCES[1:] for edge in (first, last)})
    yield from (bytes(three) for three in product(edges, repeat=3))
    chance = random.Random(1)
    for _ in range(20_000):
        yield bytes(chance.choices(edges, k=5))
    for _ in range(10_000):
        yield bytes(chance.choice([chance.randrange(256), 0xE2, 0x82, 0xAC]) for _ in range(9))


def test_atoms_equal_those_of_python_decoder():
    assert_equal(
        "atoms of byte strings",
        byte_strings(),
        python_parts,
        lambda data: [atom.data for atom in split_atoms(data)],
    )


def test_comparison_sees_a_missing_row(monkeypatch):
    monkeypatch.setattr("numbatok.reference.atoms.SEQUENCES", SEQUENCES[:-1])
    count, lines = differences(
        byte_strings(), python_parts, lambda data: [atom.data for atom in split_atoms(data)]
    )
    assert count > 0
    assert "xf4" in lines[0]


def test_replace_is_bytes_decode():
    assert_equal(
        "replaced bytes",
        byte_strings(),
        lambda data: data.decode("utf-8", errors="replace").encode(),
        lambda data: join(split_atoms(data, "replace")),
    )


def test_every_byte_has_the_properties_of_its_character():
    for byte in range(0x80, 0x100):
        (atom,) = split_atoms(bytes([byte]))
        assert atom == (bytes([byte]), byte_alphabet()[byte], False)
        (atom,) = split_atoms(bytes([byte]), "punct")
        assert atom == (bytes([byte]), ord("!"), False)


def test_error_names_byte_and_position():
    with pytest.raises(InvalidUtf8, match="0xE2 at position 3"):
        split_atoms(b"abc\xe2\x82", "error")
    assert join(split_atoms("aé", "error")) == "aé".encode()


def test_byte_alphabet_is_that_of_the_library():
    assert {chr(code) for code in byte_alphabet()} == set(pre_tokenizers.ByteLevel.alphabet())
    assert "".join(map(chr, byte_alphabet())) == to_spelling(bytes(range(256)))
    assert pre_tokenizers.ByteLevel(False).pre_tokenize_str("\x00 é")[0][0] == "".join(
        chr(byte_alphabet()[byte]) for byte in b"\x00"
    )


def test_surrogates_are_joined_or_replaced_as_tiktoken_does():
    def by_utf_16(text):
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    alphabet = ["a", "\ud83d", "\udc4d", "\udbff", "\udfff", "\U0001f44d"]
    texts = ["".join(parts) for length in range(6) for parts in product(alphabet, repeat=length)]
    assert_equal("surrogates", texts, by_utf_16, join_surrogates)
    assert [atom.code for atom in split_atoms("\ud83d\udc4d\ud83d")] == [0x1F44D, 0xFFFD]


def test_other_arguments_are_refused():
    for wrong in (None, 1, ["a"], bytearray(b"a")):
        with pytest.raises(InvalidType, match="expected str or bytes"):
            split_atoms(wrong)
    with pytest.raises(InvalidValue, match="choose one of 'byte-alphabet'"):
        split_atoms("a", "ignore")
