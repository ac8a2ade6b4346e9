"""Decoding gives the bytes back, whole or in a stream; wrong ids are named."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import numbatok
from numbatok.errors import InvalidType, UnknownIdError
from tests.formats.documents import BYTE_LEVEL, added, document, read


def test_bytes_come_back(gpt2):
    rng, compared = random.Random(11), 0
    for _ in range(2_000):
        data = bytes(rng.choices(range(256), k=rng.randint(0, 60)))
        assert gpt2.decode_bytes(gpt2.encode(data, "plain")) == data
        compared += 1
    assert compared == 2_000


def test_a_stream_is_the_text_at_once(gpt2):
    rng = random.Random(12)
    for _ in range(500):
        ids = [rng.randrange(gpt2.vocab_size) for _ in range(rng.randint(0, 40))]
        stream = gpt2.decode_stream()
        assert "".join([stream.push(i) for i in ids]) + stream.flush() == gpt2.decode(ids)


def test_a_stream_holds_an_incomplete_character(gpt2):
    stream = gpt2.decode_stream()
    ids = gpt2.encode("⭢").tolist()
    assert [stream.push(i) for i in ids] == ["", "", "⭢"]
    assert stream.push(ids[0]) == ""
    assert stream.flush() == "\ufffd"
    assert stream.flush() == ""


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda ids: np.array(ids, np.int64), iter])
def test_ids_of_any_integer_kind(gpt2, kind):
    assert gpt2.decode(kind([15496, 995])) == "Hello world"


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([0, 50257], UnknownIdError, "id 50257 at position 1 is unknown: ids go from 0 to 50256"),
        ([0, -1], UnknownIdError, "id -1 at position 1"),
        ([1 << 40], UnknownIdError, "id 1099511627776 at position 0"),
        ([1.5], InvalidType, "float64"),
        (["a"], InvalidType, "integers are needed"),
        ("abc", InvalidType, "integers are needed"),
        (None, InvalidType, "None"),
        ([[1, 2]], InvalidType, "decode_batch"),
        ([1, None], InvalidType, "position 1 is None"),
    ],
)
def test_wrong_ids_are_named(gpt2, ids, error, message):
    with pytest.raises(error, match=message):
        gpt2.decode(ids)
    with pytest.raises(error):
        gpt2.decode_batch([[1], ids])


def test_a_row_is_named(gpt2):
    with pytest.raises(UnknownIdError, match="of row 2"):
        gpt2.decode_batch([[1], [], [99999]])


def test_special_tokens_are_left_out(gpt2):
    ids = gpt2.encode("a<|endoftext|>b", "recognize")
    assert gpt2.decode(ids, skip_special=True) == "ab"
    assert gpt2.decode(ids) == "a<|endoftext|>b"
    stream = gpt2.decode_stream(skip_special=True)
    assert "".join(stream.push(i) for i in ids) == "ab"


def test_holes_are_unknown(tmp_path):
    import base64

    lines = [f"{base64.b64encode(bytes([b])).decode()} {b}" for b in range(256)]
    path = tmp_path / "holes.tiktoken"
    path.write_text("\n".join(lines))
    tokenizer = numbatok.load(path, pattern="gpt2", special_tokens={"<s>": 300})
    with pytest.raises(UnknownIdError, match="id 299 at position 0 is unknown: it is a hole"):
        tokenizer.decode([299])
    assert tokenizer.decode([300]) == "<s>"
    assert tokenizer.vocab_size == 301


def test_an_added_token_of_the_byte_alphabet_decodes_as_hugging_face_does():
    tokenizers = pytest.importorskip("tokenizers")
    import dataclasses

    from numbatok.compile import build_tables
    from numbatok.formats.gpt2 import read_gpt2
    from numbatok.spec import AddedToken
    from numbatok.tokenizer import Tokenizer

    spec = read_gpt2()
    added = (*spec.added_tokens, AddedToken("é", 50257), AddedToken("中", 50258))
    spec = dataclasses.replace(spec, added_tokens=added)
    tokenizer = Tokenizer(spec, build_tables(spec))
    decoder = tokenizers.decoders.ByteLevel()
    for ids, tokens in (([50257], ["é"]), ([50258, 64], ["中", "a"])):
        assert tokenizer.decode(ids) == decoder.decode(tokens)
        assert tokenizer.decode_bytes(ids) == "".join(tokens).encode()


# as tokenizers 0.23.3 reads them: HELLO is searched in lower case and is then no special token,
# and what is spelled in the byte alphabet is bytes
READ = {
    258: ("hello a", "hello a"),
    259: ("\ufffd1", "\ufffd1"),
    260: ("</s>", ""),
    261: ("\ufffda", "\ufffda"),
}


@pytest.fixture(scope="module")
def renamed():
    tokens = [
        added("HELLO a", 258, normalized=True, special=True),
        added("õ1", 259),
        added("</s>", 260, special=True),
        added("éA", 261, normalized=True),
    ]
    return document(normalizer={"type": "Lowercase"}, added_tokens=tokens)


def test_added_tokens_are_read_as_the_library_reads_them(renamed):
    tokenizer = numbatok.tokenizer._from_spec(read(renamed))
    for i, (kept, skipped) in READ.items():
        assert (tokenizer.decode([i]), tokenizer.decode([i], True)) == (kept, skipped)
        stream = tokenizer.decode_stream()
        assert stream.push(i) + stream.flush() == kept
    assert tokenizer.decode_bytes([258, 259]) == "HELLO aõ1".encode()
    library = pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(renamed))
    ids = [97, *READ, 98]
    for skip in (False, True):
        assert library.decode(ids, skip_special_tokens=skip) == tokenizer.decode(ids, skip)


def test_a_column_is_decoded_as_rows_are(renamed):
    pa = pytest.importorskip("pyarrow")
    fuse_first = renamed | {"decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}]}}
    for value in (renamed, fuse_first, renamed | {"decoder": None}):
        tokenizer = numbatok.tokenizer._from_spec(read(value))
        column = pa.array([[97, *READ], None, [], [260, 97]])
        for skip in (False, True):
            rows = [
                None if ids is None else tokenizer.decode(ids, skip) for ids in column.to_pylist()
            ]
            assert tokenizer.decode_arrow(column, skip_special=skip).to_pylist() == rows


def test_what_is_fused_first_is_read_at_once():
    """One token that is not spelled in the byte alphabet: then all are their own UTF-8."""
    decoder = {"type": "Sequence", "decoders": [{"type": "Fuse"}, BYTE_LEVEL]}
    value = document(decoder=decoder, added_tokens=[added("</s> ", 258)])
    tokenizer = numbatok.tokenizer._from_spec(read(value))
    library = pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(value))
    ids = library.encode("é\n</s> é").ids
    assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=False)
    assert tokenizer.decode(ids[:2]) == "é" == library.decode(ids[:2], skip_special_tokens=False)
