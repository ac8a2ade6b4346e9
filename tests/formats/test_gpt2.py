import hashlib
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from numbatok.errors import InvalidTokenizerFile
from numbatok.formats import gpt2, load_spec
from numbatok.formats.byte_alphabet import BYTE_BY_CHARACTER, to_bytes, to_spelling

README = Path(__file__).resolve().parents[2] / "data" / "README.md"


def test_byte_alphabet_is_a_bijection_with_its_known_corners():
    assert len(BYTE_BY_CHARACTER) == 256
    corners = bytes([0, 0x20, 0x21, 0x7F, 0xA0, 0xAD, 0xFF])
    assert to_spelling(corners) == "ĀĠ!ġłŃÿ"
    every = bytes(range(256))
    assert to_bytes(to_spelling(every)) == every
    assert to_bytes("a b") is None
    assert to_bytes("｜") is None
    assert to_bytes("") == b""


def test_data_file_is_the_one_in_the_readme():
    digest = hashlib.sha256(gpt2.DATA_FILE.read_bytes()).hexdigest()
    assert digest in re.findall(r"[0-9a-f]{64}", README.read_text(encoding="utf-8"))
    assert gpt2.DATA_FILE.stat().st_size < 200_000


def test_embedded_gpt2_holds_the_published_merges_and_ids(vocab_file):
    spec = gpt2.read_gpt2()
    published = json.loads(vocab_file("gpt2", "encoder.json").read_text(encoding="utf-8"))
    lines = vocab_file("gpt2", "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]
    assert {to_spelling(token): id for token, id in spec.model.tokens.items()} == published
    assert spec.model.merges is not None
    assert [f"{to_spelling(a)} {to_spelling(b)}" for a, b in spec.model.merges] == lines
    print(f"{len(published)} ids and {len(lines)} merges equal")
    assert (len(published), len(lines)) == (50257, 50000)


def test_embedded_gpt2_equals_every_published_form(vocab_file):
    expected = gpt2.read_gpt2()
    for name in ("tokenizer.json", "encoder.json", "vocab.bpe"):
        vocab_file("gpt2", "encoder.json"), vocab_file("gpt2", "vocab.bpe")
        found = load_spec(vocab_file("gpt2", name)).spec
        assert replace(found, name="gpt2") == expected, name


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"", "incomplete"),
        (b"not zlib", "header"),
        (zlib.compress(b"\0" * 4), "4 bytes after unpacking"),
        (zlib.compress(b"\xff" * 200_000), "merge 0 joins a token that does not exist"),
    ],
)
def test_damaged_data_file(data, fact):
    with pytest.raises(InvalidTokenizerFile, match=fact):
        gpt2.unpack_merges(data)
