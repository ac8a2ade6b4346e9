"""Kernels -> LLVM IR by Numba -> object code by llvmlite.

Numba is the front end only: it types the Python source and emits LLVM IR, unoptimized, which names
no CPU. llvmlite optimizes the whole group of kernels at once for the host and emits one object
file. Run as `python -m numbatok.lowering GROUP FILE` this is the child process that `native`
starts when an object is not cached: the user's process then never imports Numba for it.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm

from numbatok.groups import GROUPS, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable

LIBRARY_FUNCTIONS = {"memcpy", "memmove", "memset"}
FAILED = -(1 << 63)  # returned by an entry that raised: an internal error


def intermediate_code(group: str) -> str:
    """Return the LLVM IR of a group of entries, for any 64-bit little-endian CPU."""
    import numba
    from numba.core.config import _OptLevel

    config: Any = numba.config
    level: Any = _OptLevel
    before = config.OPT
    config.OPT = level(0)  # the front end's own passes would be repeated, and name a CPU
    try:
        module = _link(_entry_code(name, entry) for name, entry in GROUPS[group].items())
    finally:
        config.OPT = before
    text = re.sub(r"^target (datalayout|triple) = .*\n", "", str(module), flags=re.MULTILINE)
    return re.sub(r"^(source_filename|; ModuleID) .*\n", "", text, flags=re.MULTILINE)


def _entry_code(name: str, entry: Entry) -> Any:
    """Return the module of one entry: its code and everything it calls, and a C function."""
    from numba import types

    dispatcher = getattr(importlib.import_module(entry.module), name)
    n_arguments = entry.n_arguments
    signature = (types.int64,) * n_arguments
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[signature]
    if compiled.signature.return_type != types.int64:
        raise TypeError(f"{name} returns {compiled.signature.return_type}, not int64")
    parsed = llvm.parse_assembly(compiled.library.get_llvm_str())
    parsed.link_in(
        llvm.parse_assembly(_c_function(name, compiled.fndesc.mangled_name, n_arguments))
    )
    return parsed


def _c_function(name: str, mangled: str, n_arguments: int) -> str:
    """Return IR of a C function around one with Numba's calling convention."""
    kinds = ", ".join(["i64"] * n_arguments)
    arguments = ", ".join(f"i64 %argument{k}" for k in range(n_arguments))
    return f"""
declare i32 @"{mangled}"(ptr, ptr, {kinds})
define i64 @{name}({arguments}) {{
  %result = alloca i64
  %exception = alloca ptr
  %status = call i32 @"{mangled}"(ptr %result, ptr %exception, {arguments})
  %value = load i64, ptr %result
  %failed = icmp ne i32 %status, 0
  %returned = select i1 %failed, i64 {FAILED}, i64 %value
  ret i64 %returned
}}
"""


def _link(modules: Iterable[Any]) -> Any:
    linked = None
    for module in modules:
        if linked is None:
            linked = module
        else:
            linked.link_in(module)
    assert linked is not None
    return linked


def object_code(code: str, names: Iterable[str]) -> bytes:
    """Optimize IR for this machine and return a relocatable object with the named functions."""
    machine = host_machine()
    module = llvm.parse_assembly(code)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    kept = set(names)
    for function in module.functions:
        if not function.is_declaration and function.name not in kept:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"  # Numba's environments, which no kernel reads
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    missing = {f.name for f in module.functions if f.is_declaration} - LIBRARY_FUNCTIONS
    missing = {name for name in missing if not name.startswith("llvm.")}
    if missing:
        raise RuntimeError(f"kernels need functions that are not compiled: {sorted(missing)}")
    return bytes(machine.emit_object(module))


def host_machine() -> Any:
    """Return LLVM's description of this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        jit=True,
        codemodel="jitdefault",
        reloc="pic",
    )


def main() -> None:
    """Write the object code of a group to a file."""
    group, path = sys.argv[1:]
    code = object_code(intermediate_code(group), GROUPS[group])
    with open(path, "wb") as file:
        file.write(code)


if __name__ == "__main__":
    main()
