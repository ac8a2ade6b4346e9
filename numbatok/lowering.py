"""Kernels -> LLVM IR by Numba -> object code by llvmlite.

Numba is the front end only: it types the Python source of a group of kernels and emits LLVM IR,
which is optimized without regard to any CPU (`portable_code`, 0.7 MB of text for the core). From
it llvmlite makes one object file for the host (`object_code`, about half a second); only the loops
that gain from it are optimized for the CPU first, else the core took 1.4 s. Wheels carry
the portable code, which `python -m numbatok.lowering GROUP FILE` writes; where it is missing or of
other sources, `native` starts a child process, so that the user's own never imports Numba.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm

from numbatok.groups import GROUPS, TUNED, Entry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

LIBRARY_FUNCTIONS = {"memcpy", "memmove", "memset"}
BOUNDARY = "\n; --- the rest, for any CPU ---\n"
FAILED = -(1 << 63)  # returned by an entry that raised: an internal error


def portable_code(group: str) -> str:
    """Return the LLVM IR of a group of entries, for any 64-bit little-endian CPU.

    Two modules, BOUNDARY between them: what `object_code` optimizes for the CPU, and the rest.
    """
    entries = GROUPS[group]
    with _front_end():
        compiled = [_compiled(name, entry) for name, entry in entries.items()]
        code = "".join(
            _c_function(name, result.fndesc.mangled_name, entries[name].n_arguments)
            for name, result in zip(entries, compiled, strict=True)
        )
        libraries = _reached([result.library for result in compiled], ())
        if group not in TUNED:
            return _module(libraries, entries, code)
        tuned = [library for library in libraries if library.name in TUNED[group]]
        unknown = set(TUNED[group]) - {library.name for library in tuned}
        if unknown:
            raise LookupError(f"no kernels of {group!r} to be tuned: {sorted(unknown)}")
        names = [function.name for library in tuned for function in library.get_defined_functions()]
        rest = _reached([result.library for result in compiled], tuned)
        return _module(_reached(tuned, ()), names) + BOUNDARY + _module(rest, entries, code)


def _module(libraries: Iterable[Any], kept: Collection[str], code: str = "") -> str:
    """Return the simplified code of libraries, of which only the functions `kept` are seen."""
    module = llvm.parse_assembly(code)
    for library in libraries:
        module.link_in(llvm.parse_assembly(library.get_llvm_str()))
    _make_internal(module, kept)
    _simplify(module)
    lines = str(module).splitlines(keepends=True)
    named = ("target datalayout", "target triple", "source_filename", "; ModuleID")
    return "".join(line for line in lines if not line.startswith(named))


@contextlib.contextmanager
def _front_end() -> Iterator[None]:
    """Let Numba write the code of each function once, and do no more with it.

    Else it copies a function into each of its callers and makes machine code of every one, with
    all that it calls: 10 of the 28 s that the core took.
    """
    import numba
    from numba.core import codegen
    from numba.core.registry import cpu_target

    class Code(codegen.AOTCodeLibrary):
        def finalize(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, _name: str) -> int:
            return 0

    class FrontEnd(codegen.AOTCPUCodegen):
        _library_class = Code

        def set_env(self, _name: str, _environment: Any) -> None:
            pass  # for Python objects, of which kernels have none

    config: Any = numba.config
    level: Any = numba.core.config._OptLevel
    context: Any = cpu_target.target_context
    before = context._internal_codegen, config.OPT
    config.OPT = level(0)  # its own passes would be repeated, and name a CPU
    make: Any = FrontEnd
    context._internal_codegen = make("numbatok")
    try:
        yield
    finally:
        context._internal_codegen, config.OPT = before


def _simplify(module: Any) -> None:
    """Inline and optimize, with nothing that depends on the CPU's vectors."""
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu="", features="", opt=1)
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _compiled(name: str, entry: Entry) -> Any:
    """Return what Numba makes of an entry."""
    from numba import types

    dispatcher = getattr(importlib.import_module(entry.module), name)
    signature = (types.int64,) * entry.n_arguments
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[signature]
    if compiled.signature.return_type != types.int64:
        raise TypeError(f"{name} returns {compiled.signature.return_type}, not int64")
    return compiled


def _reached(libraries: Iterable[Any], without: Collection[Any]) -> list[Any]:
    """Return functions' libraries and those of all that they call, each once."""
    found: dict[Any, None] = {}
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if library not in found and library not in without:
            found[library] = None
            waiting.extend(library._linking_libraries)
    return list(found)


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


def _make_internal(module: Any, kept: Collection[str]) -> None:
    """Hide everything but the named functions, so that it may be inlined and dropped."""
    for function in module.functions:
        if not function.is_declaration and function.name not in kept:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"  # Numba's environments, which no kernel reads


def object_code(code: str) -> bytes:
    """Optimize portable code for this machine and return a relocatable object."""
    machine = host_machine()
    first, _, rest = code.partition(BOUNDARY)
    module = _parse(first, machine)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
    builder.getModulePassManager().run(module, builder)
    if rest:
        module.link_in(_parse(rest, machine))
    missing = {f.name for f in module.functions if f.is_declaration} - LIBRARY_FUNCTIONS
    missing = {name for name in missing if not name.startswith("llvm.")}
    if missing:
        raise RuntimeError(f"kernels need functions that are not compiled: {sorted(missing)}")
    return bytes(machine.emit_object(module))


def _parse(code: str, machine: Any) -> Any:
    module = llvm.parse_assembly(code)
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    return module


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
    """Write the portable code of a group to a file."""
    group, path = sys.argv[1:]
    with open(path, "w", encoding="utf-8") as file:
        file.write(portable_code(group))


if __name__ == "__main__":
    main()
