"""Columns of text -> columns of ids or of counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok import parallel
from numbatok.arrow.buffers import (
    as_binary,
    bitmap,
    check_text_type,
    gathered,
    is_valid,
    is_view,
    text_rows,
)
from numbatok.arrow.columns import Column
from numbatok.arrow.utf8 import replaced
from numbatok.batch import insert_around
from numbatok.errors import InvalidValue, SpecialTokenError
from numbatok.policy import Invalid, Refusal, Special, special_token_error, to_bytes
from numbatok.tables import U32

if TYPE_CHECKING:
    import pyarrow as pa

    from numbatok.tokenizer import Tokenizer

ListType = Literal["large_list", "list"]
IdType = Literal["uint32", "uint16"]
LARGEST_OFFSET = {"large_list": (1 << 63) - 1, "list": (1 << 31) - 1}


@dataclass(frozen=True)
class Request:
    """What a call asks for, checked before work starts.

    Errors: InvalidType or InvalidValue for an unknown choice, and where the vocabulary has ids
    that do not fit.
    """

    tokenizer: Tokenizer
    special: Special = "plain"
    invalid: Invalid = "byte-alphabet"
    template: bool = False
    list_type: ListType = "large_list"
    id_type: IdType = "uint32"

    def __post_init__(self) -> None:
        self.tokenizer._policies.get(self.special, self.invalid)
        for name, value, choices in (
            ("list_type", self.list_type, ("large_list", "list")),
            ("id_type", self.id_type, ("uint32", "uint16")),
        ):
            if value not in choices:
                raise InvalidValue(f"{name} is {value!r}; use {choices[0]!r} or {choices[1]!r}")
        check_id_type(self.tokenizer, self.id_type)

    @property
    def result_type(self) -> pa.DataType:
        """The type of the column of ids."""
        import pyarrow as pa

        make = pa.large_list if self.list_type == "large_list" else pa.list_
        return make(pa.uint32() if self.id_type == "uint32" else pa.uint16())

    def around(self) -> tuple[U32, U32]:
        """Return the ids put before and after the ids of each row."""
        none = np.zeros(0, np.uint32)
        return self.tokenizer._vocabulary.template_ids() if self.template else (none, none)


def check_id_type(tokenizer: Tokenizer, id_type: str) -> None:
    """Errors: InvalidValue if the vocabulary has an id that does not fit 16 bits."""
    if id_type == "uint16" and tokenizer.vocab_size > 1 << 16:
        raise InvalidValue(
            f"id_type is 'uint16', but {tokenizer!r} has ids up to {tokenizer.vocab_size - 1}; "
            "use 'uint32'"
        )


class Rows(NamedTuple):
    """The ids of the rows of a chunk."""

    ids: U32 | None  # None if they were only counted
    offsets: NDArray[np.int64]  # [n + 1]


class Refused(Exception):
    """A special token in a row, on its way to an error that names the row of the column."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


def encode_column(column: Column, request: Request) -> Any:
    """Return the ids of a column; see `numbatok.arrow.encode_arrow`."""
    import pyarrow as pa

    check_text_type(column.type)
    if pa.types.is_dictionary(column.type):
        from numbatok.arrow.dictionary import encode_dictionary

        return encode_dictionary(column, request)
    if request.list_type == "list":
        _check_offsets_fit(column, request)
    return column.map(partial(_lists, column=column, request=request), request.result_type)


def count_column(column: Column, request: Request) -> Any:
    """Return the number of ids of each row; see `numbatok.arrow.count_arrow`."""
    import pyarrow as pa

    check_text_type(column.type)
    if pa.types.is_dictionary(column.type):
        from numbatok.arrow.dictionary import count_dictionary

        return count_dictionary(column, request)
    return column.map(partial(_counts, column=column, request=request), pa.int64())


def _lists(chunk: pa.Array, first_row: int, column: Column, request: Request) -> pa.Array:
    rows = _named_rows(chunk, first_row, column, request, counting=False)
    return list_array(rows, chunk, request)


def _counts(chunk: pa.Array, first_row: int, column: Column, request: Request) -> pa.Array:
    import pyarrow as pa

    rows = _named_rows(chunk, first_row, column, request, counting=True)
    counts = pa.py_buffer(np.diff(rows.offsets))
    return pa.Array.from_buffers(pa.int64(), len(chunk), [bitmap(chunk), counts])


def _named_rows(
    chunk: pa.Array, first_row: int, column: Column, request: Request, counting: bool
) -> Rows:
    try:
        return encode_rows(chunk, first_row, request, counting)
    except Refused as error:
        raise _error_in(column, first_row, error.refusal, request) from None


def encode_rows(chunk: pa.Array, first_row: int, request: Request, counting: bool = False) -> Rows:
    """Return the ids of a chunk of string, binary or null type.

    Errors: Refused; InvalidValue and InvalidUtf8 name the row, counted from first_row.
    """
    rows = text_rows(after_policy(chunk, first_row, request.invalid), first_row)
    tokenizer = request.tokenizer
    policy = tokenizer._policies.get(request.special, request.invalid)
    job = parallel.encode(
        tokenizer._encoder, rows.text, rows.ends, policy, tokenizer._spec.added_tokens, counting
    )
    if job.refusal is not None:
        raise Refused(job.refusal)
    if job.ids is None:
        return Rows(None, job.offsets)
    before, after = request.around()
    if not before.size and not after.size:
        return Rows(job.ids, job.offsets)
    valid = is_valid(chunk) if chunk.null_count else None
    return Rows(*insert_around(job.ids, job.offsets, before, after, valid))


def list_array(rows: Rows, chunk: pa.Array, request: Request) -> pa.Array:
    """Return the list array of ids with the nulls of a chunk; the ids are not copied if uint32."""
    import pyarrow as pa

    assert rows.ids is not None
    check_fit(len(rows.ids), request)  # normalizers may have made the text longer
    kind = request.result_type
    ids = rows.ids.astype(request.id_type, copy=False)
    child = pa.Array.from_buffers(kind.value_type, len(ids), [None, pa.py_buffer(ids)])
    wide = request.list_type == "large_list"
    offsets = rows.offsets.astype(np.int64 if wide else np.int32, copy=False)
    buffers = [bitmap(chunk), pa.py_buffer(offsets)]
    return pa.Array.from_buffers(kind, len(chunk), buffers, children=[child])


def after_policy(chunk: pa.Array, first_row: int, invalid: Invalid) -> pa.Array:
    """Return a chunk after invalid="replace" or "error"; with the other policies as it is.

    Errors: InvalidUtf8 and InvalidValue name the row.
    """
    import pyarrow as pa

    if invalid in ("byte-alphabet", "punct") or pa.types.is_null(chunk.type):
        return chunk
    text_rows(chunk, first_row)  # the offsets are checked before pyarrow follows them
    binary = gathered(chunk, first_row) if is_view(chunk.type) else as_binary(chunk)
    return replaced(binary, lambda data, row: to_bytes(data, invalid, first_row + row))


def _check_offsets_fit(column: Column, request: Request) -> None:
    """Errors: InvalidValue if the ids of a chunk may be too many for 32-bit offsets."""
    around = sum(part.size for part in request.around())
    for first_row, chunk in column.rows():
        check_fit(int(text_rows(chunk, first_row).text.size) + around * len(chunk), request)


def check_fit(most_ids: int, request: Request) -> None:
    """Errors: InvalidValue if so many ids need larger offsets than the list type has."""
    if most_ids > LARGEST_OFFSET[request.list_type]:
        raise InvalidValue(
            f"list_type is {request.list_type!r}, but a chunk may have {most_ids:,} ids, more than "
            "32-bit offsets hold; use 'large_list', or smaller chunks"
        )


def _error_in(
    column: Column, first_row: int, refusal: Refusal, request: Request
) -> SpecialTokenError:
    token = request.tokenizer._spec.added_tokens[refusal.token]
    n_rows = sum(int(rows_with(chunk, token.content).sum()) for chunk in column.chunks)
    row = first_row + refusal.document
    return special_token_error(refusal, token, row, (n_rows, len(column)))


def rows_with(chunk: pa.Array, content: str) -> NDArray[np.bool_]:
    """Return which rows of a chunk of text contain a string, bool[n]."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(chunk.type):
        return np.zeros(len(chunk), bool)
    binary = gathered(chunk) if is_view(chunk.type) else as_binary(chunk)
    found = pc.match_substring(binary, content)
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)
