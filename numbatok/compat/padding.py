"""Rows of ids to the lists and matrices of a transformers batch."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import InvalidValue

Side = Literal["left", "right"]
Row = NDArray[np.int64]


def padded_width(
    rows: list[Row], padding: bool | str, length: int | None, multiple: int | None
) -> int | None:
    """Return the width that rows are padded to, or None if they are not.

    Errors: InvalidValue for an unknown strategy.
    """
    if padding in (False, "do_not_pad"):
        return None
    if padding == "max_length":
        width = length if length is not None else max(map(len, rows), default=0)
    elif padding in (True, "longest"):
        width = max(map(len, rows), default=0)
    else:
        raise InvalidValue(f"padding is {padding!r}; use True, 'longest', 'max_length' or False")
    return width if multiple is None else -(-width // multiple) * multiple


def pad(row: Row, width: int | None, value: int, side: Side) -> Row:
    """Return a row filled up at a side, or as it is if it is long enough."""
    missing = 0 if width is None else max(0, width - len(row))
    around = (missing, 0) if side == "left" else (0, missing)
    ends: list[tuple[int, int]] = [around, *[(0, 0)] * (row.ndim - 1)]
    return np.pad(row, ends, constant_values=value)


def as_tensors(column: list[Row], kind: str | None, name: str) -> Any:
    """Return rows as lists, or as one int64 matrix of NumPy ("np") or PyTorch ("pt").

    Errors: InvalidValue if rows differ in length, or for another kind.
    """
    if kind is None:
        return [_as_list(row) for row in column]
    if len({len(row) for row in column}) > 1:
        raise InvalidValue(f"{name}: the rows differ in length; pass padding=True for a matrix")
    matrix = np.stack(column) if column else np.zeros((0, 0), np.int64)
    if kind == "np":
        return matrix
    if kind == "pt":
        import importlib

        return importlib.import_module("torch").from_numpy(matrix)
    raise InvalidValue(f"return_tensors is {kind!r}; 'np', 'pt' or None is offered")


def _as_list(row: Row) -> list[Any]:
    """Return a row as Python integers, or as pairs of them."""
    return [tuple(pair) for pair in row.tolist()] if row.ndim == 2 else row.tolist()
