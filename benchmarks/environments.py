"""Python environments, one for each library: two versions of tokenizers cannot share one."""

import hashlib
import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.libraries import Peer
from benchmarks.places import CACHE


class NoEnvironment(Exception):
    """A library could not be installed; the message holds the last line of pip."""


def python_of(peer: Peer, make: bool = True, stamp: str = "") -> str:
    """Return the interpreter that has the library.

    An environment is made anew when the requirements, the running Python or `stamp` change. With
    `make` off, no environment is made: the running interpreter must hold the library.

    Raises:
        NoEnvironment: the library cannot be installed, or is not here with `make` off.
    """
    if not peer.requirements:
        return sys.executable
    if not make:
        return _running_interpreter(peer)
    digest = hashlib.sha256(repr((peer.requirements, sys.version, stamp)).encode()).hexdigest()[:12]
    folder = CACHE / "environments" / f"{peer.module.rpartition('.')[2]}-{digest}"
    if not (folder / "complete").exists():
        _build(folder, peer.requirements)
    return str(_interpreter(folder))


def _running_interpreter(peer: Peer) -> str:
    wanted = peer.requirements[0].partition("==")[2]
    try:
        found = version(peer.distribution)
    except PackageNotFoundError:
        found = "nothing"
    if found != wanted:
        raise NoEnvironment(f"{peer.requirements[0]} is not installed here (found: {found})")
    return sys.executable


def _build(folder: Path, requirements: tuple[str, ...]) -> None:
    print(f"making an environment for {requirements[0]}", file=sys.stderr, flush=True)
    venv.create(folder, clear=True, with_pip=True)
    command = [str(_interpreter(folder)), "-m", "pip", "install", "--quiet", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line] or ["pip failed"]
        raise NoEnvironment(lines[-1])
    (folder / "complete").touch()


def _interpreter(folder: Path) -> Path:
    posix = folder / "bin" / "python"
    return posix if posix.exists() else folder / "Scripts" / "python.exe"
