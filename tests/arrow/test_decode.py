"""Columns of ids back to text."""

import pytest

from numbatok.errors import InvalidType, InvalidValue, UnknownIdError
from tests.arrow.test_encode import TEXTS, pa


def test_decode_gives_the_text_back(gpt2):
    texts = [*TEXTS, "<|endoftext|>"] * 3
    ids = gpt2.encode_arrow(pa.array(texts), "recognize")
    text = gpt2.decode_arrow(ids)
    assert text.type == pa.large_string()
    text.validate(full=True)
    assert text.to_pylist() == texts
    assert gpt2.decode_arrow(ids[5:17]).to_pylist() == texts[5:17]
    skipped = gpt2.decode_arrow(ids, skip_special=True).to_pylist()
    assert skipped == ["" if text == "<|endoftext|>" else text for text in texts]
    kinds = [pa.list_(pa.int64()), pa.large_list(pa.uint16()), pa.list_view(pa.int32())]
    for kind in kinds:
        chunked = pa.chunked_array([ids[:7].to_pylist(), ids[7:].to_pylist()], kind)
        decoded = gpt2.decode_arrow(chunked)
        assert decoded.to_pylist() == texts
        assert decoded.num_chunks == 2
    pairs = pa.array([[72, 72], None], pa.list_(pa.int32(), 2))
    assert gpt2.decode_arrow(pairs).to_pylist() == [gpt2.decode([72, 72]), None]
    assert gpt2.decode_arrow(pa.nulls(2)).to_pylist() == [None, None]


def test_decode_in_blocks(gpt2, monkeypatch):
    monkeypatch.setattr("numbatok.arrow.decode.BLOCK_IDS", 5)
    texts = [*TEXTS, "a long row of more ids than a block"] * 4
    assert gpt2.decode_arrow(gpt2.encode_arrow(pa.array(texts))).to_pylist() == texts


def test_decode_replaces_what_is_not_utf8_within_its_row(gpt2):
    rows = [gpt2.encode(b"\xe6\x97").tolist(), gpt2.encode(b"\xa5x").tolist(), [72]] * 50
    decoded = gpt2.decode_arrow(pa.array(rows, pa.list_(pa.uint32()))).to_pylist()
    assert decoded == [gpt2.decode(row) for row in rows]


def test_decode_errors_name_the_row(gpt2):
    chunked = pa.chunked_array([[[1, 2], None], [[3], [4, 50257]]])
    with pytest.raises(UnknownIdError, match=r"id 50257 at position 1 of row 3 is unknown"):
        gpt2.decode_arrow(chunked)
    with pytest.raises(UnknownIdError, match=r"id -1 at position 0 of row 1"):
        gpt2.decode_arrow(pa.array([[1], [-1]]))
    with pytest.raises(InvalidValue, match="row 1 has a null among its ids"):
        gpt2.decode_arrow(pa.array([[1], [2, None]]))
    with pytest.raises(InvalidType, match="type string; lists of integers are needed"):
        gpt2.decode_arrow(pa.array(["a"]))
    with pytest.raises(InvalidType, match="lists of integers are needed"):
        gpt2.decode_arrow(pa.array([[1.5]]))
