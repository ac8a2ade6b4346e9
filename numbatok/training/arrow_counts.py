"""An Arrow table of pretokens and counts -> arrays, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbatok.errors import InvalidType, InvalidValue
from numbatok.tables import I64
from numbatok.training.pretokens import Pretokens


def pretokens_of_table(table: Any) -> Pretokens:
    """Return the columns `pretoken`, `count` and perhaps `first` of a pyarrow Table.

    Errors: InvalidType for what is no such table; InvalidValue for a null or a count below 1.
    """
    import pyarrow

    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    if not isinstance(table, pyarrow.Table):
        raise InvalidType(f"{table!r:.60} ({type(table).__name__}) is no pyarrow Table of counts")
    for name in ("pretoken", "count"):
        if name not in table.column_names:
            raise InvalidType(
                f"a table of counts has the columns 'pretoken' and 'count'; "
                f"this one has {', '.join(map(repr, table.column_names)) or 'none'}"
            )
    words = _column(table, "pretoken", pyarrow.large_binary()).combine_chunks()
    if isinstance(words, pyarrow.ChunkedArray):  # older pyarrow: a column without chunks
        words = pyarrow.array([], pyarrow.large_binary())
    numbers = _numbers(table, "count", least=1)
    firsts = _numbers(table, "first", least=0) if "first" in table.column_names else None
    _, offsets, data = words.buffers()
    ends = np.zeros(1, np.int64)
    if len(words):
        ends = np.frombuffer(offsets, np.int64)[words.offset : words.offset + len(words) + 1]
    text = np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]]
    return Pretokens(text, ends - ends[0], numbers, firsts)


def _column(table: Any, name: str, kind: Any) -> Any:
    import pyarrow

    column = table.column(name)
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise InvalidValue(f"row {row} of column {name!r} is null; a table of counts has no nulls")
    try:
        return column.cast(kind)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise InvalidType(f"column {name!r} is {column.type}, {kind} is needed: {error}") from None


def _numbers(table: Any, name: str, least: int) -> I64:
    import pyarrow

    numbers: I64 = np.ascontiguousarray(_column(table, name, pyarrow.int64()).to_numpy())
    if len(numbers) and int(numbers.min()) < least:
        row = int(np.argmin(numbers))
        raise InvalidValue(
            f"row {row} of column {name!r} is {int(numbers[row])}; at least {least} is needed"
        )
    return numbers
