"""Columns of text to columns of ids and back.

A column is a pyarrow Array or ChunkedArray, or any object with the Arrow C data interface (Polars,
pandas with ArrowDtype, DuckDB, ...), or what pyarrow makes an array of (a list, a NumPy array, a
pandas Series). pyarrow is imported when a function here is called.

`encode_arrow` depends on nothing but its column, so it runs inside other engines as it is:

    add = lambda t: t.append_column("ids", numbatok.encode_arrow(t["text"]))
    dataset.with_format("arrow").map(add, batched=True)              # Hugging Face datasets
    ray_dataset.map_batches(add, batch_format="pyarrow")             # Ray Data
    frame.with_columns(ids=polars.from_arrow(encode_arrow(frame["text"])))              # Polars
    frame["ids"] = pandas.arrays.ArrowExtensionArray(encode_arrow(frame["text"]))       # pandas
    encode_arrow(duckdb.sql("select text from texts"))               # DuckDB
    spark_frame.mapInArrow(f, "ids array<int>")   # Spark: f yields batches; list_type="list"

tests/engines runs each of these, and Dask's map_partitions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Union

from numbatok.arrow.columns import Column, open_column
from numbatok.arrow.decode import decode_column
from numbatok.arrow.encode import IdType, ListType, Request, count_column, encode_column
from numbatok.policy import Invalid, Special

if TYPE_CHECKING:
    import pyarrow

    from numbatok.tokenizer import Tokenizer

    ArrowColumn = Union[pyarrow.Array, pyarrow.ChunkedArray]

__all__ = ["Column", "count_arrow", "decode_arrow", "encode_arrow", "open_column"]


def encode_arrow(
    column: Any,
    tokenizer: Tokenizer | str = "gpt2",
    special: Special = "raise",
    *,
    invalid: Invalid = "byte-alphabet",
    template: bool = False,
    list_type: ListType = "large_list",
    id_type: IdType = "uint32",
) -> ArrowColumn:
    """Return the ids of each row, a large_list<uint32> of the same length, chunking and nulls.

    column      of string, large_string, string_view, binary, large_binary, binary_view, null, or a
                dictionary of one of these, each of whose values is encoded once
    tokenizer   one, or what `numbatok.load` takes
    list_type   "large_list", or "list" with 32-bit offsets
    id_type     "uint32", or "uint16" if every id of the vocabulary fits
    special, invalid, template   as in Tokenizer.encode

    Errors: InvalidType for a column of another type; InvalidValue where ids or offsets would not
    fit, before work starts, and for damaged buffers; SpecialTokenError and InvalidUtf8 name the
    row.
    """
    request = Request(named(tokenizer), special, invalid, template, list_type, id_type)
    return encode_column(open_column(column), request)


def count_arrow(
    column: Any,
    tokenizer: Tokenizer | str = "gpt2",
    special: Special = "plain",
    *,
    invalid: Invalid = "byte-alphabet",
) -> ArrowColumn:
    """Return how many ids each row has, an int64 column of the same length, chunking and nulls."""
    return count_column(open_column(column), Request(named(tokenizer), special, invalid))


def decode_arrow(
    column: Any, tokenizer: Tokenizer | str = "gpt2", skip_special: bool = False
) -> ArrowColumn:
    """Return the text of each row of ids, a large_string of the same length, chunking and nulls.

    column   lists of any list type of any integer type

    Errors: InvalidType for a column of another type, UnknownIdError names the row.
    """
    return decode_column(open_column(column), named(tokenizer), skip_special)


def named(tokenizer: Tokenizer | str) -> Tokenizer:
    """Return a tokenizer; one that is asked for by name is loaded once in a process."""
    return _loaded(tokenizer) if isinstance(tokenizer, str) else tokenizer


@lru_cache(maxsize=8)
def _loaded(name: str) -> Tokenizer:
    from numbatok.tokenizer import load

    return load(name)
