"""Numbers that several threads read and write: LLVM's atomic operations on int64 arrays.

What a thread wrote before `store_shared` or `add_shared`, a thread sees after it read the new
number (release and acquire).
"""

from __future__ import annotations

from typing import Any

from numbatok._jit import ARRAY, INT, NOTHING, primitive
from numbatok.tables import I64


def _emit_add(builder: Any, numbers: Any, index: Any, by: Any) -> Any:
    return builder.atomic_rmw("add", builder.gep(numbers, [index]), by, "acq_rel")


@primitive(INT, ARRAY, INT, INT, emit=_emit_add)
def add_shared(numbers: I64, index: int, by: int) -> int:
    """Add to a number; return what it was."""
    before = int(numbers[index])
    numbers[index] += by
    return before


def _emit_load(builder: Any, numbers: Any, index: Any) -> Any:
    return builder.load_atomic(builder.gep(numbers, [index]), "acquire", 8)


@primitive(INT, ARRAY, INT, emit=_emit_load)
def load_shared(numbers: I64, index: int) -> int:
    """Return a number as it is now."""
    return int(numbers[index])


def _emit_store(builder: Any, numbers: Any, index: Any, number: Any) -> None:
    builder.store_atomic(number, builder.gep(numbers, [index]), "release", 8)


@primitive(NOTHING, ARRAY, INT, INT, emit=_emit_store)
def store_shared(numbers: I64, index: int, number: int) -> None:
    """Set a number."""
    numbers[index] = number


def _emit_fence(builder: Any) -> None:
    builder.fence("seq_cst")


@primitive(NOTHING, emit=_emit_fence)
def fence() -> None:
    """Let what was written be seen before what is written next, also what went past the caches."""
