"""How arrays enter kernels: as addresses.

An entry takes int64 only. Python writes the address and size of every array of nested NamedTuples
into one int64 array, once; `opener` gives kernels the same NamedTuples back. Numba would unpack
each array argument on each call instead, at 0.1 to 0.3 us apiece.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, cast, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.extending import intrinsic

from numbatok._jit import INTERPRETED
from numbatok.tables import I64, U8, U16, U32, U64

_I64 = ir.IntType(64)


def _plain_view(address: int, size: int, dtype: np.dtype[Any]) -> Any:
    """Return an array over memory that its owner keeps alive."""
    memory = (ctypes.c_uint8 * (int(size) * dtype.itemsize)).from_address(int(address) or 8)
    return np.frombuffer(memoryview(memory), dtype)


def _rebuild(layout: Any, numbers: Any) -> Any:
    """The plain twin: rebuild a NamedTuple from an iterator of addresses and sizes."""
    parts = []
    for hint in get_type_hints(layout).values():
        if hasattr(hint, "_fields"):
            parts.append(_rebuild(hint, numbers))
        else:
            address = next(numbers)
            parts.append(_plain_view(address, next(numbers), _dtype_of(hint)))
    return layout(*parts)


def _dtype_of(hint: Any) -> np.dtype[Any]:
    """Return the element type that a field such as NDArray[np.uint64] declares."""
    (scalar,) = get_args(get_args(hint)[1])
    dtype: np.dtype[Any] = np.dtype(scalar)
    return dtype


def _array_kind(hint: Any) -> Any:
    """Return Numba's type of a table field: a 1-d C array, or a NamedTuple of them."""
    if hasattr(hint, "_fields"):
        kinds = [_array_kind(field) for field in get_type_hints(hint).values()]
        tuples: Any = types.BaseTuple
        return tuples.from_types(kinds, hint)  # as Numba types a tuple from Python
    return types.Array(from_dtype(_dtype_of(hint)), 1, "C")


def _build(context: Any, builder: Any, kind: Any, numbers: Any) -> Any:
    """Emit the value of an array, or of a NamedTuple of arrays, owned by Python."""
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        parts = [_build(context, builder, part, numbers) for part in kind.types]
        return context.make_tuple(builder, kind, parts)
    address, size = next(numbers), next(numbers)
    array, itemsize = context.make_array(kind)(context, builder), kind.dtype.bitwidth // 8
    array.data = builder.inttoptr(address, array.data.type)
    array.nitems, array.itemsize = size, _I64(itemsize)
    array.shape = ir.Constant(ir.ArrayType(_I64, 1), ir.Undefined)
    array.shape = builder.insert_value(array.shape, size, 0)
    array.strides = ir.Constant(ir.ArrayType(_I64, 1), [itemsize])
    array.meminfo = array.meminfo.type(None)
    array.parent = array.parent.type(None)
    return array._getvalue()


def opener(layout: Any) -> Callable[[int], Any]:
    """Return a primitive that turns the address of a table of addresses back into a `layout`."""
    n_numbers = 2 * _count_arrays(layout)
    if INTERPRETED:
        return lambda address: _rebuild(
            layout, iter(_plain_view(address, n_numbers, np.dtype(np.int64)).tolist())
        )
    kind = _array_kind(layout)

    def open_tables(context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            data = builder.inttoptr(values[0], _I64.as_pointer())
            numbers = (builder.load(builder.gep(data, [_I64(k)])) for k in range(n_numbers))
            return _build(context, builder, kind, numbers)

        return kind(types.int64), codegen

    return cast("Callable[[int], Any]", intrinsic(open_tables))


def _count_arrays(layout: Any) -> int:
    hints = get_type_hints(layout).values()
    return sum(_count_arrays(hint) if hasattr(hint, "_fields") else 1 for hint in hints)


def _viewer(dtype: Any) -> Callable[[int, int], Any]:
    """Return a primitive that makes the array of `size` elements at an address."""
    if INTERPRETED:
        return lambda address, size: _plain_view(address, size, np.dtype(dtype))
    kind = types.Array(from_dtype(np.dtype(dtype)), 1, "C")

    def view(context: Any, address: Any, size: Any) -> Any:
        def codegen(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return _build(context, builder, kind, iter(values))

        return kind(types.int64, types.int64), codegen

    return cast("Callable[[int, int], Any]", intrinsic(view))


view_u8: Callable[[int, int], U8] = _viewer(np.uint8)
view_u16: Callable[[int, int], U16] = _viewer(np.uint16)
view_u32: Callable[[int, int], U32] = _viewer(np.uint32)
view_u64: Callable[[int, int], U64] = _viewer(np.uint64)
view_i64: Callable[[int, int], I64] = _viewer(np.int64)


# --- calls by address: the scan of a pattern is chosen at load, not at compile time --------------

_called_by_number: list[Callable[..., int]] = []  # interpreted, an address is an index here


def number_of(function: Callable[..., int]) -> int:
    """Return what stands for a function's address when kernels are interpreted."""
    if function not in _called_by_number:
        _called_by_number.append(function)
    return _called_by_number.index(function)


def _call_emit(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
    kind = ir.FunctionType(_I64, [_I64] * (len(values) - 1))
    return builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])


def _call_four(context: Any, address: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return types.int64(*[types.int64] * 5), _call_emit


def _call_nine(
    context: Any,
    address: Any,
    a: Any,
    b: Any,
    c: Any,
    d: Any,
    e: Any,
    f: Any,
    g: Any,
    h: Any,
    i: Any,
) -> Any:
    return types.int64(*[types.int64] * 10), _call_emit


def _call_number(number: int, *arguments: int) -> int:
    return _called_by_number[int(number)](*arguments)


# call_at(address, a, b, c, d): the result of the entry of four int64 at an address
call_at = cast("Callable[..., int]", _call_number if INTERPRETED else intrinsic(_call_four))
call_with_nine = cast("Callable[..., int]", _call_number if INTERPRETED else intrinsic(_call_nine))
