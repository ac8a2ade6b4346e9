"""The compact protocol against the metadata that pyarrow writes."""

import numpy as np
import pytest

from numbatok.files import thrift
from numbatok.files.thrift import BINARY, FALSE, I16, I32, I64, LIST, STRUCT, TRUE, Value
from tests.files.file_rows import pa, pq


def footer_of(path):
    content = path.read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    return content[-8 - size : -8]


def tables():
    yield pa.table({"a": pa.array([], pa.int64())})
    yield pa.table({f"column {i}": np.arange(50) * i for i in range(40)})
    lists = [[1.5, None], None, []]
    yield pa.table({"list": lists, "text": ["x", None, "é"], "truth": [True, False, None]})


@pytest.mark.parametrize("table", list(tables()))
@pytest.mark.parametrize("options", [{}, {"write_page_index": True}, {"version": "1.0"}])
def test_the_metadata_of_pyarrow_come_back_byte_by_byte(tmp_path, table, options):
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2, **options)
    footer = footer_of(tmp_path / "a.parquet")
    metadata = thrift.read(footer)
    assert thrift.write(metadata) == footer
    assert metadata[3].content == table.num_rows
    assert len(metadata[4].content.content) == max(-(-table.num_rows // 2), 1)


def test_every_kind_of_field():
    fields = {
        1: Value(TRUE, None),
        2: Value(FALSE, None),
        30: Value(I64, -(1 << 63)),
        31: Value(I32, (1 << 31) - 1),
        200: Value(I16, -1),
        201: Value(LIST, Value(TRUE, [1, 2] * 9)),
        202: Value(LIST, Value(STRUCT, [{}, {-1: Value(BINARY, b"x" * 200)}])),
        203: Value(thrift.DOUBLE, bytes(8)),
        204: Value(thrift.BYTE, 255),
        205: Value(thrift.SET, Value(I32, [])),
    }
    assert thrift.read(thrift.write(fields)) == fields


def test_metadata_cut_short_or_foreign_are_refused(tmp_path):
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "a.parquet")
    footer = footer_of(tmp_path / "a.parquet")
    for size in range(len(footer)):
        with pytest.raises(ValueError, match=r"the metadata (end|ha)"):
            thrift.read(footer[:size])
    with pytest.raises(ValueError, match="of the kind 11"):
        thrift.read(bytes([1 << 4 | thrift.MAP]))
