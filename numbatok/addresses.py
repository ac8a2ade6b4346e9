"""How arrays enter kernels: as addresses.

An entry takes int64 only. Python writes the address and size of every array of nested NamedTuples
into one int64 array, once; `opener` gives kernels the same NamedTuples back. Numba would unpack
each array argument on each call instead, at 0.1 to 0.3 us apiece.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, cast, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba import extending, from_dtype, types
from numba.core.typing import templates
from numba.extending import intrinsic, models

from numbatok._jit import INTERPRETED
from numbatok.tables import I64, U8, U16, U32, U64

_I64 = ir.IntType(64)
_numba: Any = extending


def _plain_view(address: int, size: int, dtype: np.dtype[Any]) -> Any:
    """Return an array over memory that its owner keeps alive."""
    memory = (ctypes.c_uint8 * (int(size) * dtype.itemsize)).from_address(int(address) or 8)
    return np.frombuffer(memoryview(memory), dtype)


def _rebuild(layout: Any, numbers: Any) -> Any:
    """The plain twin: rebuild a NamedTuple from an iterator of addresses and sizes."""
    parts = []
    for hint in _fields(layout).values():
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


class _Tables(types.Type):
    """A NamedTuple of arrays in kernels: a pointer to where its addresses and sizes start.

    As a tuple of arrays it would be a value of up to 500 members, which Numba copies wherever it
    is passed on or a field is read: that took 12 of the 28 s in which the core was compiled.
    """

    def __init__(self, layout: Any) -> None:
        self.layout = layout
        name = f"{layout.__module__}.{layout.__name__}"
        super().__init__(name)


class _TablesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _I64.as_pointer())  # type: ignore[no-untyped-call]


class _FieldKinds(templates.AttributeTemplate):
    key = _Tables

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        hint = _fields(kind.layout).get(name)
        return None if hint is None else _kind_of(hint)


def _field(context: Any, builder: Any, kind: Any, numbers: Any, name: str) -> Any:
    """Emit a field: the place of a nested NamedTuple, or an array."""
    at = _place_of(kind.layout, name)
    field, place = _kind_of(_fields(kind.layout)[name]), builder.gep(numbers, [_I64(at)])
    if isinstance(field, _Tables):
        return place
    size = builder.gep(numbers, [_I64(at + 1)])
    return _array(context, builder, field, _fixed(builder, place), _fixed(builder, size))


_numba.register_model(_Tables)(_TablesModel)
_numba.infer_getattr(_FieldKinds)
_numba.lower_getattr_generic(_Tables)(_field)


def _fixed(builder: Any, place: Any) -> Any:
    """Emit a load of a number that is the same during the whole call, so that LLVM may move it."""
    number = builder.load(place)
    number.set_metadata("invariant.load", builder.module.add_metadata([]))
    return number


def _array(context: Any, builder: Any, kind: Any, address: Any, size: Any) -> Any:
    """Emit the value of an array that Python owns."""
    array, itemsize = context.make_array(kind)(context, builder), kind.dtype.bitwidth // 8
    array.data = builder.inttoptr(address, array.data.type)
    array.nitems, array.itemsize = size, _I64(itemsize)
    array.shape = ir.Constant(ir.ArrayType(_I64, 1), ir.Undefined)
    array.shape = builder.insert_value(array.shape, size, 0)
    array.strides = ir.Constant(ir.ArrayType(_I64, 1), [itemsize])
    array.meminfo = array.meminfo.type(None)
    array.parent = array.parent.type(None)
    return array._getvalue()


def _kind_of(hint: Any) -> Any:
    """Return Numba's type of a field: a 1-d C array, or a NamedTuple of them."""
    if hasattr(hint, "_fields"):
        return _Tables(hint)
    return types.Array(from_dtype(_dtype_of(hint)), 1, "C")


def opener(layout: Any) -> Callable[[int], Any]:
    """Return a primitive that turns the address of a table of addresses back into a `layout`."""
    if INTERPRETED:
        n_numbers = 2 * _count_arrays(layout)
        return lambda address: _rebuild(
            layout, iter(_plain_view(address, n_numbers, np.dtype(np.int64)).tolist())
        )
    kind = _Tables(layout)

    def open_tables(context: Any, address: Any) -> Any:
        def codegen(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return builder.inttoptr(values[0], _I64.as_pointer())

        return kind(types.int64), codegen

    return cast("Callable[[int], Any]", intrinsic(open_tables))


@cache
def _fields(layout: Any) -> dict[str, Any]:
    """Return the types of a NamedTuple's fields by name."""
    return get_type_hints(layout)


def _place_of(layout: Any, name: str) -> int:
    """Return after how many numbers of a NamedTuple's those of a field start."""
    before = list(_fields(layout))[: layout._fields.index(name)]
    return sum(2 * _count_arrays(_fields(layout)[field]) for field in before)


def _count_arrays(hint: Any) -> int:
    """Return how many arrays a field holds: one, or those of a NamedTuple."""
    if not hasattr(hint, "_fields"):
        return 1
    return sum(_count_arrays(field) for field in _fields(hint).values())


def _viewer(dtype: Any) -> Callable[[int, int], Any]:
    """Return a primitive that makes the array of `size` elements at an address."""
    if INTERPRETED:
        return lambda address, size: _plain_view(address, size, np.dtype(dtype))
    kind = types.Array(from_dtype(np.dtype(dtype)), 1, "C")

    def view(context: Any, address: Any, size: Any) -> Any:
        def codegen(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return _array(context, builder, kind, *values)

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
