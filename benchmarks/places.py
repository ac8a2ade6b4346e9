"""Where the benchmarks read from and write to."""

import lzma
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results"
CACHE = Path(os.environ.get("NUMBATOK_BENCHMARK_CACHE", ROOT / ".cache" / "benchmarks")).resolve()
SHARED = Path(os.environ.get("NUMBATOK_SHARED", ROOT.parent / "shared")).resolve()


class MissingData(Exception):
    """A text or a tokenizer file that the benchmark needs is not on this machine."""


def unpacked(relative: str) -> Path:
    """Return the file `relative` of the shared folder, decompressed into the cache.

    Raises:
        MissingData: `relative`.xz is not in the shared folder.
    """
    source, target = SHARED / f"{relative}.xz", CACHE / "unpacked" / relative
    if target.exists():
        return target
    if not source.exists():
        raise MissingData(f"{source} is missing; set NUMBATOK_SHARED to the folder that holds it")
    write_atomically(target, lzma.decompress(source.read_bytes()))
    return target


def without_places(text: str) -> str:
    """Return a message without the folders of this machine: results are published."""
    for folder, name in ((CACHE, "cache"), (SHARED, "shared"), (ROOT, ".")):
        text = text.replace(str(folder), name)
    return text


def write_atomically(target: Path, data: bytes) -> None:
    """Write the whole file or nothing, also when several processes write it at once."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.replace(target)
