"""Arrow chunks and bytes -> blocks, after the policy on bytes that are not UTF-8."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from numbatok.arrow.buffers import check_text_type, is_valid, text_rows
from numbatok.arrow.encode import after_policy
from numbatok.errors import NumbatokError
from numbatok.files.blocks import Block, Part, Position
from numbatok.policy import Invalid

if TYPE_CHECKING:
    import pyarrow as pa


def block_of_column(
    column: pa.Array,
    kept: pa.Table | None,
    start: Position,
    invalid: Invalid,
    path: str,
    read_bytes: int,
) -> Block:
    """Return the block of a chunk of text of a file.

    Errors: InvalidType, InvalidValue and InvalidUtf8 name the file and the row.
    """
    import pyarrow as pa

    try:
        check_text_type(column.type)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        rows = text_rows(after_policy(column, start.row, invalid), start.row)
    except NumbatokError as error:
        raise type(error)(f"{path}: {error}") from None
    return Block(
        text=rows.text,
        ends=rows.ends,
        valid=is_valid(column) if column.null_count else None,
        kept=kept,
        start=start,
        parts=(Part(start.source, start.row, len(column)),),
        read_bytes=read_bytes,
    )


def with_policy(block: Block, invalid: Invalid, path: str) -> Block:
    """Return a block of text after the policy on bytes that are not UTF-8.

    Errors: InvalidUtf8 names the file and the row.
    """
    import pyarrow as pa

    if invalid in ("byte-alphabet", "punct"):
        return block
    offsets = np.concatenate([np.zeros(1, np.int64), block.ends])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block.text)]
    column = pa.Array.from_buffers(pa.large_binary(), len(block.ends), buffers)
    try:
        rows = text_rows(after_policy(column, block.start.row, invalid))
    except NumbatokError as error:
        raise type(error)(f"{path}: {error}") from None
    return replace(block, text=rows.text, ends=rows.ends)
