"""Dictionary columns that have null among their values."""

import pytest

from numbatok.errors import SpecialTokenError

pa = pytest.importorskip("pyarrow", reason="columns need pyarrow")


def coded(indices, values, index_type=None, value_type=None, **options):
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, index_type or pa.int32()),
        pa.array(values, value_type or pa.string()),
        **options,
    )


FIRST = ([0, 1, None, 2, 0, 3], [None, "Hello world", "it's", None])
SECOND = ([3, 2, 1, None, 0], ["it's", None, "", "日本語"])
NO_NULL = ([1, 0, None], ["x", "Hello world"])
ONLY_NULL = ([0, None, 1], [None, None])


@pytest.mark.parametrize("value_type", [pa.string(), pa.large_binary(), pa.string_view()])
@pytest.mark.parametrize("index_type", [pa.int8(), pa.uint8(), pa.int64()])
@pytest.mark.parametrize(
    "parts",
    [(FIRST,), (FIRST, FIRST), (FIRST, SECOND, NO_NULL), (NO_NULL, FIRST), (ONLY_NULL, ONLY_NULL)],
)
def test_null_among_the_values(gpt2, parts, index_type, value_type):
    chunks = []
    for indices, values in parts:
        if value_type == pa.large_binary():
            values = [None if value is None else value.encode() for value in values]
        chunks.append(coded(indices, values, index_type, value_type))
    columns = [pa.chunked_array(chunks), pa.chunked_array([c[1:] for c in chunks]), chunks[0]]
    for column in columns:
        texts = column.to_pylist()
        for template in (False, True):
            ids = gpt2.encode_arrow(column, template=template)
            ids.validate(full=True)
            plain = gpt2.encode_arrow(pa.array(texts, pa.large_binary()), template=template)
            assert ids.to_pylist() == plain.to_pylist()
            assert len(ids) == len(column)
        counts = gpt2.count_arrow(column)
        assert counts.type == pa.int64()
        assert (
            counts.to_pylist() == gpt2.count_arrow(pa.array(texts, pa.large_binary())).to_pylist()
        )
    assert gpt2.encode_arrow(columns[0]).num_chunks == len(parts)


def test_chunks_of_an_ordered_dictionary(gpt2):
    chunks = [coded(*FIRST, ordered=True), coded(*NO_NULL, ordered=True)]
    column = pa.chunked_array(chunks)
    ids = gpt2.encode_arrow(column)
    assert ids.to_pylist() == gpt2.encode_arrow(column.cast(pa.string())).to_pylist()


def test_errors_count_the_rows_of_the_column(gpt2):
    values = [None, "a", "<|endoftext|>"]
    column = pa.chunked_array([coded([0, 1], values), coded([0, 2, 2], values)])
    with pytest.raises(SpecialTokenError, match=r"row 3 contains .*2 of 5 rows contain it"):
        gpt2.encode_arrow(column)
