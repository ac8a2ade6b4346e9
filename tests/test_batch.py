"""TokenBatch: rows, slices, padding, truncation, and the way to other libraries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbatok.batch import TokenBatch, insert_around, join_rows
from numbatok.errors import InvalidType, InvalidValue

ROWS = [[1, 2, 3], [], [4], [5, 6, 7, 8, 9], [10, 11]]
Lists = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=9), max_size=12)


def batch_of(rows):
    return join_rows([np.array(row, np.uint32) for row in rows])


@pytest.fixture
def batch():
    return batch_of(ROWS)


def test_rows_and_slices(batch):
    assert len(batch) == 5
    assert batch.to_list() == ROWS
    assert batch[-1].tolist() == [10, 11]
    assert batch[3].base is batch.ids or np.shares_memory(batch[3], batch.ids)
    for part in (slice(1, 4), slice(None), slice(4, 1), slice(-2, None), slice(None, None, 2)):
        assert batch[part].to_list() == ROWS[part]
    assert batch[::-1].to_list() == ROWS[::-1]
    assert batch[1:4][1:].to_list() == ROWS[2:4]
    with pytest.raises(IndexError, match="row 5 of a batch of 5"):
        batch[5]
    assert batch == batch_of(ROWS)
    assert batch != batch_of(ROWS[:-1])
    assert batch_of([]).to_list() == []


@given(rows=Lists, length=st.integers(0, 10), side=st.sampled_from(["left", "right"]))
def test_truncate(rows, length, side):
    expected = [
        row[:length] if side == "right" else row[len(row) - min(length, len(row)) :] for row in rows
    ]
    assert batch_of(rows).truncate(length, side).to_list() == expected


@given(
    rows=Lists, extra=st.none() | st.integers(0, 4), multiple=st.none() | st.integers(1, 8),
    side=st.sampled_from(["left", "right"]), value=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_pad(rows, extra, multiple, side, value):
    longest = max(map(len, rows), default=0)
    length = None if extra is None else longest + extra
    padded = batch_of(rows).pad(length, multiple, side, value)
    width = longest if length is None else length
    width = width if multiple is None else -(-width // multiple) * multiple
    fill = [[value] * (width - len(row)) for row in rows]
    ids = [
        row + more if side == "right" else more + row for row, more in zip(rows, fill, strict=True)
    ]
    mask = [[1] * len(row) for row in rows]
    mask = [
        m + [0] * (width - len(m)) if side == "right" else [0] * (width - len(m)) + m for m in mask
    ]
    assert padded.ids.shape == padded.mask.shape == (len(rows), width)
    assert padded.ids.tolist() == ids
    assert padded.mask.tolist() == mask
    assert (padded.ids.dtype, padded.mask.dtype) == (np.uint32, np.uint8)


def test_a_slice_of_a_batch_is_padded_and_truncated_alone(batch):
    part = TokenBatch(batch.ids, batch.offsets[2:])  # offsets that do not start at 0
    assert part.pad().ids.tolist() == [[4, 0, 0, 0, 0], [5, 6, 7, 8, 9], [10, 11, 0, 0, 0]]
    assert part.truncate(2).to_list() == [[4], [5, 6], [10, 11]]


def test_errors(batch):
    cases = [
        (lambda: batch.pad(4), r"row 3 has 5 ids, more than length=4; call .truncate\(4\) first"),
        (lambda: batch.pad(-1), "pad: length is -1, at least 0 is needed"),
        (lambda: batch_of([]).pad(-1), "pad: length is -1, at least 0 is needed"),
        (lambda: batch.pad(multiple_of=0), "multiple_of is 0, at least 1"),
        (lambda: batch.pad(multiple_of=-8), "multiple_of is -8, at least 1"),
        (lambda: batch.pad(value=-1), "value is -1, an id from 0 to 4294967295 is needed"),
        (lambda: batch.pad(value=1 << 32), "value is 4294967296"),
        (lambda: batch.pad(side="up"), "side is 'up', 'left' or 'right' is needed"),
        (lambda: batch.truncate(-1), "length is -1, at least 0"),
        (lambda: batch.truncate(1, "up"), "side is 'up'"),
    ]
    for call, message in cases:
        with pytest.raises(InvalidValue, match=message):
            call()


def test_numbers_that_are_no_integers(batch):
    cases = [
        (lambda: batch.pad(9.5), "pad: length is 9.5, an integer is needed"),
        (lambda: batch.pad("9"), "pad: length is '9', an integer is needed"),
        (lambda: batch.pad(multiple_of=8.0), "pad: multiple_of is 8.0, an integer is needed"),
        (lambda: batch.pad(value=0.5), "pad: value is 0.5, an integer is needed"),
        (lambda: batch.truncate(2.0), "truncate: length is 2.0, an integer is needed"),
    ]
    for call, message in cases:
        with pytest.raises(InvalidType, match=message):
            call()
    numbers = batch.pad(np.int64(6), np.uint8(4), value=np.uint32(7))
    assert numbers.ids.tolist() == batch.pad(6, 4, value=7).ids.tolist()
    assert batch.truncate(np.int32(2)) == batch.truncate(2)


@given(rows=Lists, chosen=st.none() | st.lists(st.booleans(), min_size=12, max_size=12))
def test_ids_around_rows(rows, chosen):
    mask = None if chosen is None else np.array(chosen[: len(rows)], bool)
    before, after = np.array([7, 8], np.uint32), np.array([9], np.uint32)
    batch = batch_of(rows)
    found = TokenBatch(*insert_around(batch.ids, batch.offsets, before, after, mask))
    expected = [[7, 8, *row, 9] if mask is None or mask[i] else row for i, row in enumerate(rows)]
    assert found.to_list() == expected
    assert batch.to_list() == rows


def test_arrow_numpy_and_dlpack(batch):
    pa = pytest.importorskip("pyarrow", reason="to_arrow needs pyarrow")
    column = batch.to_arrow()
    assert column.type == pa.large_list(pa.uint32())
    assert column.to_pylist() == ROWS
    assert column.values.buffers()[1].address == batch.ids.ctypes.data
    padded = batch.pad(multiple_of=8)
    assert np.shares_memory(np.from_dlpack(padded.ids), padded.ids)
    assert np.shares_memory(np.asarray(padded.mask), padded.mask)


def test_torch_takes_a_padded_batch(batch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    padded = batch.pad(value=50256)
    assert torch.from_dlpack(padded.ids).to(torch.int64).tolist() == padded.ids.tolist()
    assert torch.from_dlpack(padded.mask).tolist() == padded.mask.tolist()
