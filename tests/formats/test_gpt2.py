import hashlib
import json
import re
import zlib
from pathlib import Path

import pytest
from published_files import vocab_bytes

from numbatok.errors import InvalidTokenizerFile
from numbatok.formats import gpt2
from numbatok.formats.byte_alphabet import BYTE_BY_CHARACTER, to_bytes, to_spelling
from numbatok.spec import ByteLevel

README = Path(__file__).resolve().parents[2] / "data" / "README.md"


def test_byte_alphabet_is_a_bijection_with_its_known_corners():
    assert len(BYTE_BY_CHARACTER) == 256
    assert [to_spelling(bytes([b])) for b in (0, 0x20, 0x21, 0x7F, 0xA0, 0xAD, 0xFF)] == list(
        "ĀĠ!ġłŃÿ"
    )
    every = bytes(range(256))
    assert to_bytes(to_spelling(every)) == every
    assert to_bytes("a b") is None
    assert to_bytes("｜") is None
    assert to_bytes("") == b""


def test_data_file_is_the_one_in_the_readme():
    digest = hashlib.sha256(gpt2.DATA_FILE.read_bytes()).hexdigest()
    assert digest in re.findall(r"[0-9a-f]{64}", README.read_text())
    assert gpt2.DATA_FILE.stat().st_size < 200_000


def test_embedded_gpt2_holds_the_published_merges_and_ids():
    spec = gpt2.read_gpt2()
    published = json.loads(vocab_bytes("gpt2", "encoder.json"))
    lines = vocab_bytes("gpt2", "vocab.bpe").decode().split("\n")[1:-1]
    ours = {to_spelling(token): number for token, number in spec.model.tokens.items()}
    assert ours == published
    assert spec.model.merges is not None
    assert [f"{to_spelling(a)} {to_spelling(b)}" for a, b in spec.model.merges] == lines
    print(f"{len(published)} ids and {len(lines)} merges equal")
    assert (len(published), len(lines)) == (50257, 50000)


def test_embedded_gpt2_pipeline():
    spec = gpt2.read_gpt2()
    assert spec.pre_tokenizers == (ByteLevel(add_prefix_space=False, use_regex=True),)
    assert [(t.content, t.id, t.special) for t in spec.added_tokens] == [
        ("<|endoftext|>", 50256, True)
    ]
    assert (spec.name, spec.template, spec.engine) == ("gpt2", None, "tokenizers")


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
