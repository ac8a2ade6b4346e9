"""Entries as functions that Python can call: found in the cache, or compiled now.

`function(name)` takes and returns Python integers (int64) and lets other threads run. The object
file of a group is kept under a name that carries the package's version, a digest of every kernel
source, LLVM's version and the CPU: an object of other sources or another machine is never found.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

from numbatok.cache import cache_directory, one_at_a_time, write_atomically
from numbatok.errors import NumbatokError
from numbatok.groups import GROUPS, TUNED
from numbatok.version import __version__

PACKAGE = Path(__file__).parent
SOURCES = ("_jit.py", "addresses.py", "atomic.py", "lowering.py", "tables.py", "vector.py")
KERNEL_IMPORT = re.compile(r"^from (numbatok\.kernels[.\w]*) import", re.MULTILINE)
SLOW_COMPILE = 2.0  # seconds after which a line on stderr says what is going on

Children = set["subprocess.Popen[bytes]"]

_lock = threading.Lock()
_engines: dict[str, Any] = {}


class CompileError(NumbatokError):
    """Numba or LLVM could not compile the kernels on this machine."""


def interpreted() -> bool:
    """Tell whether kernels run as plain Python (NUMBA_DISABLE_JIT=1), for tests."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def function(name: str) -> Callable[..., int]:
    """Return the entry as a Python function, compiled if need be.

    Errors: CompileError.
    """
    if interpreted():
        return _plain_entry(_group_of(name), name)
    kinds: list[Any] = [ctypes.c_int64] * n_arguments(name)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address(name))


def n_arguments(name: str) -> int:
    """Return how many int64 an entry takes."""
    return GROUPS[_group_of(name)][name].n_arguments


def _group_of(name: str) -> str:
    return next(group for group, entries in GROUPS.items() if name in entries)


@cache
def address(name: str) -> int:
    """Return the address of an entry, for kernels that call it."""
    group = _group_of(name)
    if interpreted():
        from numbatok.addresses import number_of

        return number_of(_plain_entry(group, name))
    with _lock:
        if group not in _engines:
            _engines[group] = _load(_object(group))
    found = int(_engines[group].get_function_address(name))
    if found == 0:
        raise CompileError(f"the compiled kernels of {group!r} lack {name!r}; empty the cache")
    return found


def load_together(names: Iterable[str], n_threads: int) -> None:
    """Load the groups of entries, of which those that are not cached are compiled side by side.

    Each in a child process of about 250 MB. Errors: CompileError.
    """
    if interpreted():
        return
    groups = dict.fromkeys(map(_group_of, names))
    missing = [g for g in groups if g not in _engines and not _object_path(g).exists()]
    if len(missing) < 2 or n_threads < 2:
        return
    is_aside = [False] + [True] * (len(missing) - 1)  # LLVM does one thing at a time in a process
    children: Children = set()
    with ThreadPoolExecutor(min(n_threads, len(missing))) as pool:
        try:
            futures = {
                pool.submit(_object, group, aside, children): group
                for group, aside in zip(missing, is_aside, strict=True)
            }
        except RuntimeError:  # the interpreter is about to end: one after the other then
            return
        try:
            for future in as_completed(futures):
                _keep(futures[future], future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in list(children):
                child.kill()
            raise


def _keep(group: str, code: bytes) -> None:
    with _lock:
        if group not in _engines:
            _engines[group] = _load(code)


def _plain_entry(group: str, name: str) -> Callable[..., int]:
    import importlib

    plain: Callable[..., int] = getattr(importlib.import_module(GROUPS[group][name].module), name)
    return plain


def _load(code: bytes) -> Any:
    import llvmlite.binding as llvm

    from numbatok.lowering import host_machine

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), host_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    # Its code may be called until the very end of the interpreter, after the modules are gone.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
    return engine


def prepare(group: str) -> bool:
    """Make sure that a group's object code is cached; return whether that needed a compilation.

    Errors: CompileError.
    """
    known = _cached(_object_path(group)) is not None
    if not known:
        _object(group)
    return not known


def _object_path(group: str) -> Path:
    return cache_directory() / "kernels" / f"{group}-{_stamp(group)}.o"


def _object(group: str, aside: bool = False, children: Children | None = None) -> bytes:
    """Return the object code of a group from the cache, or make it, `aside` in a child process."""
    path = _object_path(group)
    body = _cached(path)
    if body is not None:
        return body
    with one_at_a_time(path, lambda: _say(f"numbatok: waiting for the {group} kernels ...")):
        body = _cached(path)
        if body is None:
            body = (b"" if aside else _make_object(group)) or _compile(group, children)
            write_atomically(path, [body, hashlib.sha256(body).digest()])
    return body


def _make_object(group: str) -> bytes:
    """Lower the code that the wheel carries; b"" if it carries none for this LLVM."""
    from numbatok.lowering import object_code

    portable = _shipped_code(group)
    try:
        return object_code(portable) if portable else b""
    except RuntimeError:  # an LLVM that does not read the code of the one that wrote it
        return b""


def _cached(path: Path) -> bytes | None:
    """Return the object code in a file, or None if there is none that is whole."""
    try:
        code = path.read_bytes()
    except OSError:
        return None
    body, digest = code[:-32], code[-32:]
    return body if hashlib.sha256(body).digest() == digest else None


@cache
def sources_digest(group: str) -> str:
    """Return a digest of the version and of every source that decides the code of a group."""
    decided = f"{__version__} {sorted(GROUPS[group].items())} {TUNED.get(group)}"
    digest = hashlib.sha256(decided.encode())
    for path in [PACKAGE / name for name in SOURCES] + _kernel_sources(group):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def _kernel_sources(group: str) -> list[Path]:
    """Return the files of the kernels that a group's entries import, directly or not."""
    waiting, found = {entry.module for entry in GROUPS[group].values()}, set()
    while waiting:
        path = PACKAGE.parent / (waiting.pop().replace(".", "/") + ".py")
        if path not in found and path.exists():
            found.add(path)
            names = KERNEL_IMPORT.findall(path.read_text(encoding="utf-8"))
            waiting.update(names)
    return sorted(found)


def _shipped_code(group: str) -> str:
    """Return the portable code that the wheel carries, or "" if it is not of these sources."""
    import lzma

    try:
        packed = (PACKAGE / "compiled" / f"{group}.ll.xz").read_bytes()
        first, _, code = lzma.decompress(packed).partition(b"\n")
    except (OSError, lzma.LZMAError):
        return ""
    return code.decode() if first.decode() == "; " + sources_digest(group) else ""


@cache
def _stamp(group: str) -> str:
    """Return a name for this version, a group's sources, this LLVM and this CPU."""
    import llvmlite
    import llvmlite.binding as llvm

    machine = (
        llvmlite.__version__,
        llvm.llvm_version_info,
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )
    digest = hashlib.sha256((sources_digest(group) + repr(machine)).encode())
    return f"{__version__}-{digest.hexdigest()[:24]}"


def _compile(group: str, children: Children | None = None) -> bytes:
    """Return object code made in a child process: this one need not import Numba for it.

    The child is one of `children` while it runs, so that others can end it.
    """
    children = set() if children is None else children
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="numbatok-") as folder:
        path = Path(folder) / "kernels.o"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        environment["PYTHONPATH"] = os.pathsep.join([str(PACKAGE.parent), *filter(None, sys.path)])
        command = [sys.executable, "-m", "numbatok.native", group, str(path)]
        child = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,  # with -m Python looks there first
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        children.add(child)
        try:
            said = _wait(child, group, started)
        except BaseException:
            child.kill()
            child.wait()
            raise
        finally:
            children.discard(child)
        if child.returncode != 0 or not path.exists():
            raise CompileError(
                f"compiling the kernels of {group!r} failed with status {child.returncode}: "
                f"{said.strip()[-2000:] or 'no message'}"
            )
        return path.read_bytes()


def _wait(child: subprocess.Popen[bytes], group: str, started: float) -> str:
    announced = False
    while True:
        try:
            _, errors = child.communicate(timeout=0.25)
        except subprocess.TimeoutExpired:
            if not announced and time.monotonic() - started > SLOW_COMPILE:
                announced = True
                _say(f"numbatok: compiling the {group} kernels for this machine, once ...")
            continue
        if announced:
            _say(f"numbatok: compiled the {group} kernels in {time.monotonic() - started:.1f} s")
        return errors.decode(errors="replace")


@cache
def compile_driver(driver: Callable[..., None]) -> Any:
    """Compile the parallel driver with Numba, cached on disk beside our objects if possible."""
    import numba

    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = before or str(cache_directory() / "numba" / _stamp("core"))
    try:
        return numba.njit(parallel=True, nogil=True, cache=True)(driver)
    except RuntimeError:  # nowhere to write
        return numba.njit(parallel=True, nogil=True)(driver)
    finally:
        config.CACHE_DIR = before


def _say(line: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(line + "\n")  # at once: print writes the end of the line by itself
        sys.stderr.flush()


def main() -> None:
    """Write the object code of a group to a file: the child process of `_compile`."""
    from numbatok.lowering import object_code, portable_code

    group, path = sys.argv[1:]
    Path(path).write_bytes(_make_object(group) or object_code(portable_code(group)))


if __name__ == "__main__":
    main()
