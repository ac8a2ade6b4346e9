"""Pages of ids, read by pyarrow."""

import io

import numpy as np
import pytest

from numbatok.files import id_pages, table_writers
from numbatok.files.id_pages import IdPages, IdRows, Levels
from numbatok.files.settings import Settings
from numbatok.files.table_writers import Contents, open_table, waiting_dtype
from tests.files.file_rows import pa, pq

VOCAB_SIZES = [1, 2, 256, 1 << 16, (1 << 16) + 1, 128_256, (1 << 20) + 1]


def some_rows(rng, n_rows, vocab_size, *, empty=0.2, null=0.2, longest=300):
    """Return rows of ids, some of them empty and some None."""
    rows = []
    for chance in rng.random(n_rows):
        size = 0 if chance < empty else int(rng.integers(1, longest))
        row = rng.integers(0, vocab_size, size).tolist()
        rows.append(None if chance > 1 - null else row)
    return rows


def write(path, groups, vocab_size, compression="snappy", kept=None):
    """Write some row groups; return what the file holds."""
    settings = Settings("parquet", "uint32", compression=compression)
    contents = Contents(kept, "f" * 64, vocab_size)
    writer, n_before = open_table(path, settings, contents), 0
    for rows in groups:
        lengths = [len(row or []) for row in rows]
        ids = np.array([i for row in rows for i in row or []], waiting_dtype(settings, contents))
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        valid = np.array([row is not None for row in rows])
        columns = []
        if kept is not None:
            columns = [pa.array(range(n_before, n_before + len(rows)), pa.int32())]
        writer.write_rows(IdRows(ids, offsets, None if valid.all() else valid), columns)
        n_before += len(rows)
    writer.close()
    file = pq.ParquetFile(path)
    table = file.read()
    table.validate(full=True)
    return file, table


@pytest.mark.parametrize("vocab_size", VOCAB_SIZES)
@pytest.mark.parametrize("page", [8, 64, 1 << 19])
def test_rows_come_back(tmp_path, monkeypatch, vocab_size, page):
    monkeypatch.setattr(id_pages, "PAGE_ENTRIES", page)
    rng = np.random.default_rng(vocab_size + page)
    n_packed = n_plain = 0
    shapes = [(0.2, 0.2), (0, 0), (0, 0.5), (0.5, 0), (1, 0), (0, 1)]
    for number, (empty, null) in enumerate(shapes):
        sizes = (1, 7, 8, 400)
        groups = [some_rows(rng, n, vocab_size, empty=empty, null=null) for n in sizes]
        file, table = write(tmp_path / f"{number}.parquet", groups, vocab_size)
        assert table["ids"].to_pylist() == [row for rows in groups for row in rows]
        assert file.metadata.num_row_groups == len(groups)
        for k in range(len(groups)):
            column = file.metadata.row_group(k).column(0)
            assert column.has_dictionary_page == ("RLE_DICTIONARY" in column.encodings)
            n_packed += column.has_dictionary_page
            n_plain += not column.has_dictionary_page
            assert column.num_values == sum(max(len(row or []), 1) for row in groups[k])
    assert n_plain > 5
    assert n_packed > 5 or vocab_size > 50_000


@pytest.mark.parametrize("vocab_size", [50_257, 128_256, 200_019])
def test_many_ids_of_real_vocabularies(tmp_path, vocab_size):
    rng = np.random.default_rng(vocab_size)
    rows = some_rows(rng, 3_000, vocab_size, longest=500)
    rows.append(rng.integers(0, vocab_size, 600_000).tolist())  # more than a page
    rows[5] = [0, vocab_size - 1]
    file, table = write(tmp_path / "a.parquet", [rows], vocab_size)
    assert table["ids"].to_pylist() == rows
    column = file.metadata.row_group(0).column(0)
    assert column.has_dictionary_page
    n_ids = sum(len(row or []) for row in rows)
    bits = max((vocab_size - 1).bit_length(), 16)
    assert column.total_uncompressed_size < n_ids * (bits + 3.1) / 8 + 4 * vocab_size + 10_000


@pytest.mark.parametrize("compression", ["snappy", "zstd", "lz4", "none"])
def test_the_sizes_in_the_metadata_are_those_of_the_file(tmp_path, compression):
    rng = np.random.default_rng(3)
    groups = [some_rows(rng, 2_000, 300) for _ in range(3)]
    kept = pa.schema([pa.field("number", pa.int32())])
    file, table = write(tmp_path / "a.parquet", groups, 300, compression, kept)
    assert table["ids"].to_pylist() == [row for rows in groups for row in rows]
    assert table["number"].to_pylist() == list(range(6_000))
    names = {"lz4": "LZ4", "none": "UNCOMPRESSED"}
    data, n_ids_bytes = (tmp_path / "a.parquet").read_bytes(), 0
    for k in range(3):
        group = file.metadata.row_group(k)
        columns = [group.column(i) for i in range(2)]
        assert group.total_byte_size == sum(c.total_uncompressed_size for c in columns)
        assert group.num_rows == 2_000
        assert columns[0].is_stats_set
        assert not columns[1].is_stats_set  # those of the null rows would be wrong
        assert columns[1].compression == names.get(compression, compression.upper())
        # the dictionary goes right before the data, and a page begins with its type
        assert columns[1].dictionary_page_offset < columns[1].data_page_offset
        assert data[columns[1].dictionary_page_offset :].startswith(bytes([0x15, 2 << 1]))
        assert data[columns[1].data_page_offset :].startswith(bytes([0x15, 0]))
        n_ids_bytes += columns[1].total_compressed_size
    all_bytes = sum(file.metadata.row_group(k).column(0).total_compressed_size for k in range(3))
    footer = int.from_bytes(data[-8:-4], "little") + 8
    gaps = len(data) - 4 - footer - n_ids_bytes - all_bytes
    assert 0 < gaps < 3 * 150  # the null rows that pyarrow wrote


def test_a_wrong_bit_is_seen(tmp_path, monkeypatch):
    """The comparison fails if a row begins one id late, or an id has another bit."""
    rng = np.random.default_rng(1)
    rows = some_rows(rng, 200, 50, empty=0, null=0)
    assert write(tmp_path / "a.parquet", [rows], 50)[1]["ids"].to_pylist() == rows
    whole = Levels.of

    def late(offsets, *given):
        shifted = offsets.copy()
        shifted[100] += 1
        return whole(shifted, *given)

    monkeypatch.setattr(id_pages.Levels, "of", late)
    assert write(tmp_path / "b.parquet", [rows], 50)[1]["ids"].to_pylist() != rows
    monkeypatch.setattr(id_pages.Levels, "of", whole)
    packed = IdPages._packed

    def wrong(self, ids):
        ids = ids.copy()
        ids[7] ^= 1
        return packed(self, ids)

    monkeypatch.setattr(IdPages, "_packed", wrong)
    assert write(tmp_path / "c.parquet", [rows], 50)[1]["ids"].to_pylist() != rows


def test_what_follows_the_footer_is_the_file(tmp_path):
    """pyarrow's own footer is not in the file: its checksum is computed while it grows."""
    write(tmp_path / "a.parquet", [[[1, 2]], [[3]]], 50_257)
    assert (tmp_path / "a.parquet").read_bytes().count(table_writers.MAGIC) == 2
    footer = (tmp_path / "a.parquet").read_bytes()
    size = int.from_bytes(footer[-8:-4], "little")
    with pytest.raises(ValueError, match="zip"):
        table_writers.with_chunks(footer[-8 - size :], [])


def test_levels():
    offsets = np.array([0, 3, 3, 5, 5])
    valid = np.array([True, False, True, True])
    levels = Levels.of(offsets, valid)
    assert levels.n_entries == 7
    assert np.unpackbits(levels.continued, bitorder="little")[:7].tolist() == [0, 1, 1, 0, 0, 1, 0]
    twos = levels.definition[:, None] >> np.array([0, 2, 4, 6]) & 3
    assert twos.reshape(-1)[:7].tolist() == [2, 2, 2, 0, 2, 2, 1]
    assert Levels.of(np.array([0, 3]), None).continued[0] & 7 == 0b110
    assert Levels.of(np.array([0, 3]), None, goes_on=True).continued[0] & 7 == 0b111


@pytest.mark.parametrize("vocab_size", [300, 128_256])
def test_a_row_that_is_longer_than_a_page_may_be(tmp_path, monkeypatch, vocab_size):
    monkeypatch.setattr(id_pages, "PAGE_ENTRIES", 1000)
    rng = np.random.default_rng(5)
    sizes = [3, 1000, 1001, 999, 1, 700_000, 0, 4000, 2]
    rows = [rng.integers(0, vocab_size, size).tolist() for size in sizes]
    rows[6] = None
    assert write(tmp_path / "a.parquet", [rows], vocab_size)[1]["ids"].to_pylist() == rows
    monkeypatch.setattr(id_pages, "LONGEST_PAGE", 1504)
    assert write(tmp_path / "b.parquet", [rows], vocab_size)[1]["ids"].to_pylist() == rows
    assert (tmp_path / "a.parquet").stat().st_size < (tmp_path / "b.parquet").stat().st_size


def test_a_page_has_whole_rows(monkeypatch):
    offsets = np.array([0, 5, 5, 20, 21, 22, 60])
    pages = list(id_pages._rows_of_pages(offsets))
    assert pages == [(0, 6)]
    monkeypatch.setattr(id_pages, "PAGE_ENTRIES", 8)
    assert list(id_pages._rows_of_pages(offsets)) == [(0, 2), (2, 3), (3, 5), (5, 6)]


def test_pages_go_through_the_stream_they_are_given():
    file = io.BytesIO(b"PAR1")
    file.seek(0, io.SEEK_END)
    chunk = IdPages(300, "none").write(
        file, IdRows(np.arange(5, dtype=np.uint16), np.array([0, 5]), None)
    )
    assert (chunk.data_at, chunk.dictionary_at) == (4, None)
    assert file.tell() == 4 + chunk.n_bytes == 4 + chunk.n_plain_bytes
