"""Asks `tokenizers` which characters a class means: one call over all 1,112,064 scalars a question.

The scalars stand in the order of the expected answer, members first, so that a right table makes
two or three long stretches; every single character of a wrong one shows at its own place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

tokenizers = pytest.importorskip("tokenizers")

SURROGATES = range(0xD800, 0xE000)
SCALARS = np.delete(np.arange(0x110000), SURROGATES)

Mask = NDArray[np.bool_]


def text_of(code_points: NDArray[Any]) -> str:
    return code_points.astype("<u4").tobytes().decode("utf-32-le")


def kept(step: Any, text: str) -> tuple[Mask, Mask]:
    """Return which characters of `text` are in a pretoken, and at which a pretoken starts."""
    inside, starts = np.zeros(len(text), bool), np.zeros(len(text), bool)
    for _, (start, end) in step.pre_tokenize_str(text):
        inside[start:end] = True
        starts[start] = True
    return inside, starts


def split(pattern: str, behavior: str = "removed") -> Any:
    return tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), behavior=behavior)


def in_order(expected: NDArray[Any]) -> NDArray[np.int64]:
    """Return the scalars sorted by the value that is expected of each, the highest first."""
    return SCALARS[np.argsort(-expected[SCALARS].astype(np.int64), kind="stable")]


def removed_differences(step: Any, expected: Mask) -> NDArray[np.int64]:
    """Return the scalars of which `step` does not remove exactly those in `expected`."""
    order = in_order(expected)
    inside, _ = kept(step, text_of(order))
    return order[inside == expected[order]]


def class_differences(pattern: str, expected: Mask) -> NDArray[np.int64]:
    """Return the scalars of which `pattern` does not match exactly those in `expected`."""
    return removed_differences(split(pattern), expected)


def cut_differences(step: Any, values: NDArray[Any]) -> int:
    """Return at how many scalars, sorted by value, `step` does not cut exactly where it changes."""
    order = in_order(values)
    _, starts = kept(step, text_of(order))
    expected = np.diff(values[order].astype(np.int64), prepend=-1) != 0
    return int((starts != expected).sum())
