"""Shards: written under a temporary name, checksummed, renamed, and only then recorded."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numbatok.errors import InvalidValue, OutputError
from numbatok.files.checksums import Checksum, digest
from numbatok.files.manifest import Record, Resume, difference, read_record, write_record
from numbatok.files.settings import SUFFIXES, Settings

TEMPORARY = ".tmp"
RECORD_PAUSE = 20  # times as long as it takes to write: that grows with the number of shards
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Target:
    """Where the output goes: one file, or a folder of shards."""

    path: Path
    suffixes: tuple[str, ...]  # of the files of a shard
    single: bool

    @classmethod
    def of(cls, output: Path, settings: Settings) -> Target:
        """Return the target of an output path: a file if it is named like one.

        Errors: InvalidValue for a name that does not fit.
        """
        of_format = {"llmc": ".bin", "megatron": ".bin"}
        suffix = of_format.get(settings.format, f".{settings.format}")
        suffixes = (suffix, ".idx") if settings.format == "megatron" else (suffix,)
        single = output.suffix in SUFFIXES
        if single and output.suffix != suffix:
            raise InvalidValue(
                f"output is {output}, but files of format={settings.format!r} are named *{suffix}; "
                "change one of them, or name a folder"
            )
        if single and settings.shard_ids is not None:
            raise InvalidValue(
                f"output is the file {output}, but shard_ids makes several; name a folder, such as "
                f"{output.with_suffix('')}"
            )
        return cls(output, suffixes, single)

    @property
    def folder(self) -> Path:
        """The folder that all files are in."""
        return self.path.parent if self.single else self.path

    def check_inputs(self, paths: Iterable[str]) -> None:
        """Errors: InvalidValue if a file to be read is one that may be written."""
        folder = os.path.realpath(self.folder)
        names = {*self.names(0), self.manifest(complete=True).name}
        for path in paths:
            inside, name = os.path.split(os.path.realpath(path))
            is_shard = not self.single and name.startswith("shard-")
            if inside == folder and (is_shard or name in names):
                raise InvalidValue(f"{path} is an input and an output; choose another output")

    def names(self, number: int) -> list[str]:
        """Return the names of the files of a shard."""
        stem = self.path.stem if self.single else f"shard-{number:05d}"
        return [stem + suffix for suffix in self.suffixes]

    def manifest(self, complete: bool) -> Path:
        """Return where the record of a finished or unfinished run is."""
        prefix = f"{self.path.name}." if self.single else ""
        return self.folder / f"{prefix}manifest{'' if complete else '.partial'}.json"


class Shards:
    """The shards of a run. Files are finished in another thread, one shard after the other."""

    def __init__(self, target: Target, record: Record) -> None:
        self._target, self._record = target, record
        self._number = len(record.shards)
        if record.replaced is not None:
            _remove(target, record.replaced)
        target.folder.mkdir(parents=True, exist_ok=True)
        self._recorded_at = self._record_seconds = 0.0
        self._write_record()  # so that whatever a killed run leaves is known to be ours
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="numbatok-shards")
        self._finishing: list[Future[None]] = []
        self._checksums: dict[Path, Checksum] = {}  # of the shard that is being written

    @property
    def count(self) -> int:
        """How many shards were begun, in this run or before it."""
        return self._number

    def begin(self) -> list[Path]:
        """Return the temporary paths of the files of the next shard. Errors: OSError."""
        self._raise_errors()
        names = self._target.names(self._number)
        self._number += 1
        paths = [self._target.folder / (name + TEMPORARY) for name in names]
        self._checksums = {path: Checksum(path) for path in paths}
        return paths

    def follow(self) -> None:
        """Compute the checksums of what was appended to the shard so far, while more is written.

        Only for files whose start is not written again.
        """
        if all(future.done() for future in self._finishing):
            self._raise_errors()
            for checksum in self._checksums.values():
                self._finishing.append(self._pool.submit(checksum.follow))

    def finish(self, counts: dict[str, int], resume: Resume) -> None:
        """Rename and record the shard, whose files are closed."""
        checksums, self._checksums = self._checksums, {}
        self._finishing.append(self._pool.submit(self._finish, checksums, counts, resume))

    def _finish(
        self, checksums: dict[Path, Checksum], counts: dict[str, int], resume: Resume
    ) -> None:
        files = []
        for path, checksum in checksums.items():
            final = path.with_name(path.name[: -len(TEMPORARY)])
            size, sha256 = path.stat().st_size, checksum.hexdigest()
            files.append({"name": final.name, "bytes": size, "sha256": sha256})
            path.replace(final)
        self._record.shards.append({"files": files, **counts})
        self._record.resume = resume
        began = time.monotonic()
        if began - self._recorded_at >= RECORD_PAUSE * self._record_seconds:
            self._write_record()
            self._recorded_at = time.monotonic()
            self._record_seconds = self._recorded_at - began

    def _write_record(self) -> None:
        write_record(self._target.manifest(complete=False), self._record)

    def _raise_errors(self) -> None:
        for future in [future for future in self._finishing if future.done()]:
            self._finishing.remove(future)
            future.result()

    def complete(self, totals: dict[str, Any]) -> None:
        """Wait for all shards and write the manifest. Errors: OSError."""
        self._pool.shutdown(wait=True)
        self._raise_errors()
        self._record.totals = totals
        write_record(self._target.manifest(complete=True), self._record)
        self._target.manifest(complete=False).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Finish what is whole and remove the temporary files of what is not.

        If there is no room for the record the one before it stands: a run that goes on with that
        writes the last shards again.
        """
        self._pool.shutdown(wait=True)
        remove_temporary(self._target)
        with contextlib.suppress(OSError):
            self._write_record()


def open_record(
    target: Target, request: dict[str, Any], *, resume: bool, overwrite: bool
) -> Record:
    """Return the record to go on with: an empty one, or that of the run to resume.

    An output to be replaced stays as it is until there are shards.

    Errors: OutputError for an output that exists and may be neither replaced nor continued.
    """
    complete, partial = (read_record(target.manifest(complete=c)) for c in (True, False))
    found = complete or partial
    if found is None:
        _refuse_foreign(target, overwrite)
        return Record(request)
    if resume:
        different = difference(found.request, request)
        if different is not None:
            raise OutputError(
                f"{target.path} cannot be resumed: {different}; resume with what it was begun "
                "with, or pass overwrite=True to start anew"
            )
        _check_shards(target, found)
        remove_temporary(target)
        if complete is not None:  # the run was ended before it could remove this
            target.manifest(complete=False).unlink(missing_ok=True)
        return found
    if not overwrite:
        state = "a finished output" if complete else "an unfinished output"
        raise OutputError(
            f"{target.path} is {state} of {len(found.shards)} shards; pass resume=True to go on, "
            "or overwrite=True to start anew"
        )
    return Record(request, replaced=found)


def _refuse_foreign(target: Target, overwrite: bool) -> None:
    """Errors: OutputError if something stands in the way that no run of ours made."""
    if not target.single:
        if target.path.is_file():
            raise OutputError(f"{target.path} is a file; name a folder, or a file with a suffix")
        if target.path.is_dir() and any(not _is_ours(path) for path in target.path.iterdir()):
            raise OutputError(
                f"the folder {target.path} is not empty and has no manifest; choose another one"
            )
        return
    there = [name for name in target.names(0) if (target.folder / name).exists()]
    if there and not overwrite:
        raise OutputError(f"{target.folder / there[0]} exists; pass overwrite=True to replace it")


def _is_ours(path: Path) -> bool:
    """Tell whether a file is what a run leaves that was ended before its first shard."""
    return path.name.startswith(("shard-", "manifest.")) and path.name.endswith(TEMPORARY)


def _check_shards(target: Target, record: Record) -> None:
    """Errors: OutputError for a finished shard that is not as it was written."""
    for shard in record.shards:
        for file in shard["files"]:
            path = target.folder / file["name"]
            if not path.exists():
                fact = "is missing"
            elif path.stat().st_size != file["bytes"]:
                fact = f"has {path.stat().st_size} bytes instead of {file['bytes']}"
            elif digest(path) != file["sha256"]:
                fact = "has another checksum than when it was written"
            else:
                continue
            raise OutputError(
                f"{target.path} cannot be resumed: the finished file {path} {fact}; pass "
                "overwrite=True to start anew"
            )


def _remove(target: Target, record: Record) -> None:
    """Remove the files of an earlier run, the records last."""
    for shard in record.shards:
        for file in shard["files"]:
            (target.folder / file["name"]).unlink(missing_ok=True)
    number = len(record.shards)  # there may be some that were finished and not recorded
    while not target.single and (target.folder / target.names(number)[0]).exists():
        for name in target.names(number):
            (target.folder / name).unlink(missing_ok=True)
        number += 1
    remove_temporary(target)
    for complete in (True, False):
        target.manifest(complete).unlink(missing_ok=True)


def remove_temporary(target: Target) -> None:
    """Remove the temporary files of shards."""
    if target.single:
        paths = [target.folder / (name + TEMPORARY) for name in target.names(0)]
    else:  # several may have waited to be finished
        paths = list(target.folder.glob(f"shard-*{TEMPORARY}"))
    for path in paths:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(output: Path) -> Iterator[None]:
    """Errors: OutputError for what the system refuses to write, such as a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        way = "make room" if error.errno in NO_ROOM else "check the folder"
        raise OutputError(
            f"writing {output} failed: {os.strerror(error.errno)}. Finished shards are intact; "
            f"{way} and pass resume=True to go on"
        ) from error
