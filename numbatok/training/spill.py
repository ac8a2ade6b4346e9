"""Counts that do not fit into memory: sorted runs in temporary files, merged in one pass.

A run is a sequence of blocks of sorted, distinct pretokens. A block is three int64 (how many
pretokens, how many bytes, whether first places are known), then ends, counts, first places and
bytes, as in `Pretokens`. The files live as long as the process and are nobody else's.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from numbatok.errors import TrainingError
from numbatok.tables import MARGIN
from numbatok.training.pretokens import Pretokens, join, sort_and_add_up

BLOCK = 1 << 13  # pretokens of one block, about 300 KB
FAN_IN = 32  # runs merged at once: open files, and a block of each in memory


class Spill:
    """Sorted runs in a folder of their own, made when the first one is written.

    Errors: TrainingError when the disk is full or the folder cannot be used.
    """

    def __init__(self, directory: str | Path | None = None) -> None:
        self._parent = directory
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._runs: list[Path] = []
        self._n_written = 0
        self.n_pretokens = 0

    def write(self, pretokens: Pretokens) -> None:
        """Write pretokens in any order as one more run."""
        if len(pretokens) == 0:
            return
        self._runs.append(self._write_run(_blocks(sort_and_add_up(pretokens))))
        self.n_pretokens += len(pretokens)

    def merge(self) -> Pretokens:
        """Return all runs as one, sorted and distinct; its arrays are mapped from a file.

        The folder is removed: on most systems the mapping keeps the file alive.
        """
        while len(self._runs) > 1:
            chosen, self._runs = self._runs[:FAN_IN], self._runs[FAN_IN:]
            self._runs.append(self._write_run(merge_runs(chosen)))
            for path in chosen:
                path.unlink()
        if not self._runs:
            return join([])
        merged = self._in_one_piece(self._runs.pop())
        self.n_pretokens = 0
        return merged

    def _new_path(self) -> Path:
        try:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(
                    prefix="numbatok-counts-", dir=self._parent, ignore_cleanup_errors=True
                )
        except OSError as error:
            raise TrainingError(f"no folder for spilled counts: {error}; {_ADVICE}") from error
        self._n_written += 1
        return Path(self._folder.name) / f"{self._n_written}.run"

    def _write_run(self, blocks: Iterable[Pretokens]) -> Path:
        path = self._new_path()
        try:
            with path.open("wb") as file:
                for block in blocks:
                    _write_block(file, block)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise TrainingError(f"spilling counts to {path} failed: {error}; {_ADVICE}") from error
        return path

    def _in_one_piece(self, path: Path) -> Pretokens:
        """Return the blocks of a run as arrays that are mapped from one file."""
        sizes = [(len(block), block.n_bytes, block.firsts is None) for block in read_run(path)]
        n, n_bytes = sum(size[0] for size in sizes), sum(size[1] for size in sizes)
        target = self._new_path()
        try:
            with target.open("wb") as file:
                _reserve(file, 8 * (3 * n + 1) + n_bytes + MARGIN)
        except OSError as error:
            raise TrainingError(f"merging spilled counts failed: {error}; {_ADVICE}") from error
        numbers = np.memmap(target, np.int64, "r+", 0, (3 * n + 1,))
        text = np.memmap(target, np.uint8, "r+", 8 * (3 * n + 1), (n_bytes + MARGIN,))
        whole = Pretokens(text, numbers[: n + 1], numbers[n + 1 : 2 * n + 1], numbers[2 * n + 1 :])
        at = n_at = 0
        for block in read_run(path):
            stop = at + len(block)
            whole.text[n_at : n_at + block.n_bytes] = block.text[: block.n_bytes]
            whole.ends[at + 1 : stop + 1] = block.ends[1:] + n_at
            whole.numbers[at:stop] = block.numbers
            numbers[2 * n + 1 + at : 2 * n + 1 + stop] = block.firsts_or_zeros()
            at, n_at = stop, n_at + block.n_bytes
        path.unlink()
        return whole


_ADVICE = "free space, or pass spill_directory=, or raise memory_limit="


def _reserve(file: BinaryIO, size: int) -> None:
    """Make a file of `size` bytes whose place on the disk is certain: mapped pages cannot fail."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for start in range(0, size, 1 << 20):
        file.write(bytes(min(1 << 20, size - start)))


def _blocks(pretokens: Pretokens) -> Iterator[Pretokens]:
    for start in range(0, len(pretokens), BLOCK):
        yield pretokens.slice(start, min(start + BLOCK, len(pretokens)))


def _write_block(file: BinaryIO, block: Pretokens) -> None:
    ordered = block.firsts is not None
    file.write(np.array([len(block), block.n_bytes, ordered], np.int64).tobytes())
    for array in (block.ends, block.numbers, block.firsts_or_zeros()):
        file.write(np.ascontiguousarray(array).data)
    file.write(np.ascontiguousarray(block.text[: block.n_bytes]).data)


def read_run(path: Path) -> Iterator[Pretokens]:
    """Return the blocks of a run, one after the other."""
    with path.open("rb") as file:
        while head := file.read(24):
            n, n_bytes, ordered = np.frombuffer(head, np.int64).tolist()
            numbers = np.frombuffer(file.read(8 * (3 * n + 1)), np.int64)
            text = np.frombuffer(file.read(n_bytes) + bytes(MARGIN), np.uint8)
            firsts = numbers[2 * n + 1 :] if ordered else None
            yield Pretokens(text, numbers[: n + 1], numbers[n + 1 : 2 * n + 1], firsts)


class _Reader:
    """The block of a run that is being merged, and how much of it is used up."""

    def __init__(self, path: Path) -> None:
        self._blocks = read_run(path)
        self.block = join([])
        self.at = 0
        self.refill()

    def refill(self) -> None:
        """Take the next block if this one is used up."""
        if self.at == len(self.block):
            self.block, self.at = next(self._blocks, join([])), 0

    def take_up_to(self, last: bytes) -> Pretokens:
        """Return what is left of the block up to a pretoken and including it."""
        low, high = self.at, len(self.block)
        while low < high:
            middle = (low + high) // 2
            if self.block[middle] <= last:
                low = middle + 1
            else:
                high = middle
        taken = self.block.slice(self.at, low)
        self.at = low
        return taken


def merge_runs(paths: Sequence[Path]) -> Iterator[Pretokens]:
    """Merge sorted runs into sorted blocks of distinct pretokens.

    Each step takes from every run what does not come after the least of the blocks' last
    pretokens: nothing that comes later can equal or precede it.
    """
    readers = [_Reader(path) for path in paths]
    while readers := [reader for reader in readers if len(reader.block) > 0]:
        last = min(reader.block[len(reader.block) - 1] for reader in readers)
        yield sort_and_add_up(join([reader.take_up_to(last) for reader in readers]))
        for reader in readers:
            reader.refill()
