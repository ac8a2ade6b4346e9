"""Kept columns: what is written depends on the values alone, and groups do not grow with them."""

import datetime
import decimal
import itertools

import numpy as np
import pytest

from numbatok.errors import InvalidSource, InvalidValue
from numbatok.files import blocks, encode_files, row_sinks
from numbatok.files.kept import joined, row_bytes, written_schema
from tests.files.file_rows import ids_of, pa, pq, some_texts


def columns(n):
    """Return a column of each kind, with nulls."""
    rng = np.random.default_rng(n)
    words = [None if i % 5 == 2 else "wörd" * int(rng.integers(0, 9)) for i in range(n)]
    numbers = [None if i % 7 == 3 else i for i in range(n)]
    lists = [None if i % 6 == 1 else words[i : i + i % 4] for i in range(n)]
    day = datetime.date(2026, 1, 1)
    return pa.table(
        {
            "string": words,
            "large": pa.array(words, pa.large_string()),
            "view": pa.array(words, pa.string_view()),
            "binary": pa.array([w and w.encode() for w in words], pa.binary_view()),
            "coded": pa.array(words).dictionary_encode(),
            "narrow": pa.DictionaryArray.from_arrays(
                pa.array([i % 3 for i in range(n)], pa.int8()), ["a", "bb", None]
            ),
            "number": numbers,
            "truth": [None if i % 4 == 3 else i % 2 == 0 for i in range(n)],
            "list": lists,
            "fixed": pa.array([[i, i + 1] for i in range(n)], pa.list_(pa.int16(), 2)),
            "struct": [{"a": w, "b": i} for i, w in enumerate(words)],
            "map": pa.array(
                [[("k", i)] * (i % 3) for i in range(n)], pa.map_(pa.string(), pa.int64())
            ),
            "day": [day] * n,
            "decimal": [decimal.Decimal(i) for i in range(n)],
            "nothing": pa.nulls(n),
        }
    )


def test_columns_are_the_same_whatever_the_batches(tmp_path):
    table = columns(200)
    schema = written_schema(table.schema, table.schema.names)
    contents, n = [], 0
    for cuts in ([0, 200], [0, 1, 2, 77, 150, 200], list(range(0, 201, 8))):
        parts = [table.slice(a, b - a).cast(schema) for a, b in itertools.pairwise(cuts)]
        if len(cuts) > 2:  # other dictionaries and other buffers for each
            parts = [pa.Table.from_pylist(part.to_pylist(), schema) for part in parts]
        whole = pa.Table.from_arrays(joined(parts), schema=schema)
        whole.validate(full=True)
        assert whole.to_pylist() == table.to_pylist()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, schema) as writer:
            writer.write_table(whole)
        contents.append(sink.getvalue().to_pybytes())
        n += whole.num_columns
    assert contents[0] == contents[1] == contents[2]
    assert n == 3 * 15


def test_bytes_of_rows_depend_on_the_values():
    table = columns(100)
    sizes = row_bytes(table)
    assert (
        sizes.tolist()
        == np.concatenate([row_bytes(table.slice(i, 3)) for i in range(0, 100, 3)]).tolist()
    )
    for name in ("string", "large", "view", "binary", "coded"):
        expected = [len((w or "").encode()) for w in table["string"].to_pylist()]
        assert row_bytes(table.select([name])).tolist() == expected
    lists = [sum(len((w or "").encode()) for w in row or []) for row in table["list"].to_pylist()]
    assert row_bytes(table.select(["list"])).tolist() == lists
    assert row_bytes(table.select(["fixed"])).tolist() == [4] * 100
    assert row_bytes(table.select(["map"])).tolist() == [9 * (i % 3) for i in range(100)]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_groups_end_where_much_is_kept(gpt2, tmp_path, monkeypatch, form):
    monkeypatch.setattr(row_sinks, "GROUP_KEPT_BYTES", 5_000)
    texts = some_texts(400, seed=2)
    kept = ["x" * (i % 50) for i in range(400)]
    pq.write_table(pa.table({"text": texts, "k": kept}), tmp_path / "in.parquet")
    sizes = []
    for block_bytes in (400, 5_000, 1 << 22):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", block_bytes)
        out = tmp_path / f"{block_bytes}.{form}"
        encode_files(tmp_path / "in.parquet", out, gpt2, special="plain", keep="k")
        table = pq.read_table(out) if form == "parquet" else pa.ipc.open_file(out).read_all()
        assert table["ids"].to_pylist() == ids_of(gpt2, texts)
        assert table["k"].to_pylist() == kept
        if form == "parquet":
            assert pq.ParquetFile(out).num_row_groups > 1
        else:
            assert table["k"].num_chunks > 1
        sizes.append(out.read_bytes())
    assert sizes[0] == sizes[1] == sizes[2]


def test_blocks_are_small_where_much_is_kept():
    kept = pa.table({"k": ["x" * 1000] * 10})
    small = [
        blocks.Block(np.zeros(10, np.uint8), np.arange(1, 11), None, kept, blocks.Position(), (), 0)
    ] * 1000
    for block in blocks.merged(small):
        assert block.kept.nbytes < blocks.BLOCK_BYTES * 1.1


def test_the_next_file_may_have_nulls_where_the_first_has_none(gpt2, tmp_path):
    field = pa.field("k", pa.int64(), nullable=False)
    schema = pa.schema([("text", pa.string()), field])
    pq.write_table(pa.table([["a"], [1]], schema=schema), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["b", "c"], "k": [None, 2]}), tmp_path / "b.parquet")
    out = tmp_path / "out.parquet"
    encode_files([tmp_path / "a.parquet", tmp_path / "b.parquet"], out, gpt2, keep="k")
    assert pq.read_table(out)["k"].to_pylist() == [1, None, 2]


def test_columns_of_one_name_are_refused(gpt2, tmp_path):
    table = pa.table([["a"], ["b"], [1], [2]], names=["text", "text", "k", "k"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InvalidSource, match="has 2 columns 'text'"):
        encode_files(tmp_path / "a.parquet", tmp_path / "o.parquet", gpt2)
    pq.write_table(table.select([0, 2, 3]), tmp_path / "b.parquet")
    with pytest.raises(InvalidSource, match="has 2 columns 'k'"):
        encode_files(tmp_path / "b.parquet", tmp_path / "o.parquet", gpt2, keep=["k"])
    with pytest.raises(InvalidValue, match="'k' more than once"):
        encode_files(tmp_path / "b.parquet", tmp_path / "o.parquet", gpt2, keep=["k", "k"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]
