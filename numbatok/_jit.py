"""How kernels are written: the only file that knows Numba's options.

`kernel` and `part` compile a function over arrays and integers; `entry` marks one that Python may
call through `native`: it takes and returns int64 only (positions, counts, addresses). `primitive`
gives a plain function an LLVM body. Interpreted (NUMBA_DISABLE_JIT=1), all of them return the
function itself: that is its twin.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.config
INTERPRETED = bool(_config.DISABLE_JIT)

# _nrt=False: kernels own no memory, so no reference is counted: counting halved the scan's speed.
# No wrappers for Python: they take 0.03 to 0.3 s each to compile, and `native` calls by address.
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def _compiled(**options: Any) -> Callable[[F], F]:
    compile_: Any = numba.njit
    return cast("Callable[[F], F]", compile_(**_OPTIONS, **options))


kernel = _compiled()  # called by kernels
part = _compiled(forceinline=True)  # always melts into its callers
entry = _compiled()  # called from Python through `native`: int64 in, int64 out

# Two integer types, never mixed: Numba types u64 + int as int64, or as float64 when paths meet.
i64 = cast("Callable[[Any], int]", np.int64)  # positions, counts, ids: signed, must not overflow
u64 = np.uint64  # masks, keys, hashes: wrap; a constant beside them is u64 as well

ARRAY = None  # a parameter of a primitive that takes the caller's array type as it is
INT, MASK, NOTHING = types.int64, types.uint64, types.void


def primitive(returns: Any, *parameters: Any, emit: Callable[..., Any]) -> Callable[[F], F]:
    """Compile calls of the decorated plain function to the LLVM code that `emit` builds."""

    def decorate(plain: F) -> F:
        if INTERPRETED:
            return plain

        def typing(_context: Any, *given: Any) -> Any:
            wanted = (g if p is ARRAY else p for p, g in zip(parameters, given, strict=True))
            return returns(*wanted), codegen

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            operands = [
                context.make_array(kind)(context, builder, value).data if p is ARRAY else value
                for p, kind, value in zip(parameters, signature.args, values, strict=True)
            ]
            result = emit(builder, *operands)
            return context.get_dummy_value() if returns is NOTHING else result

        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = inspect.signature(plain).parameters.values()
        typing.__signature__ = inspect.Signature([context, *names])  # type: ignore[attr-defined]
        typing.__name__, typing.__doc__ = plain.__name__, plain.__doc__
        compiled: Any = intrinsic(typing)
        compiled.plain = plain
        return cast("F", compiled)

    return decorate
