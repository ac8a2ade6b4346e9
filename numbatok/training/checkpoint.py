"""Checkpoints: a folder with the counts, and with the merges so far.

Each file is written whole under another name, flushed, and renamed, so that a process that is
killed at any moment leaves the last whole one. A file is a line of JSON (what it belongs to, the
arrays in it, their digest), then the arrays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import CheckpointError, TrainingError
from numbatok.formats.atomic import write_whole
from numbatok.tables import MARGIN
from numbatok.training.pretokens import Pretokens
from numbatok.version import __version__

FORMAT = 1
MAGIC = "numbatok training"
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Progress:
    """The merges so far, as pairs of symbols, how often each occurred, and pairs never merged."""

    merges: list[tuple[int, int]]
    counts: list[int]
    vetoed: list[tuple[int, int]]


class Checkpoint:
    """A folder that belongs to one training.

    `options` is everything but the corpus that decides the merges. `source` is what tells the
    corpus without reading it, or None.

    Errors: CheckpointError if the folder belongs to another training or is damaged; TrainingError
    if it cannot be written. What was there before stays whole.
    """

    def __init__(self, folder: str | Path, options: Mapping[str, Any], source: Any) -> None:
        self._folder = Path(folder)
        self._options = json.loads(json.dumps(options))
        self._source = json.loads(json.dumps(source))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TrainingError(f"checkpoint {self._folder} cannot be made: {error}") from error

    @property
    def _counts_path(self) -> Path:
        return self._folder / "counts"

    @property
    def _merges_path(self) -> Path:
        return self._folder / "merges"

    def load_counts(self) -> Pretokens | None:
        """Return the counts, if they are there and of a source that can be told apart."""
        found = self._read(self._counts_path)
        if found is None:
            return None
        head, arrays = found
        if self._source is None:
            return None  # it is counted again, and compared by `check_counts`
        if head["source"] != self._source:
            raise self._other("source", head["source"], self._source)
        text = np.concatenate([arrays["text"], np.zeros(MARGIN, np.uint8)])
        return Pretokens(text, arrays["ends"], arrays["numbers"], arrays.get("firsts"))

    def save_counts(self, pretokens: Pretokens, digest: str) -> None:
        """Keep the counts; refuse if others are there."""
        found = self._read_head(self._counts_path)
        if found is not None:
            if found["digest"] != digest:
                raise self._other("corpus", found["digest"], digest)
            return
        arrays: dict[str, NDArray[Any]] = {
            "ends": pretokens.ends,
            "numbers": pretokens.numbers,
            "text": pretokens.text[: pretokens.n_bytes],
        }
        if pretokens.firsts is not None:
            arrays["firsts"] = pretokens.firsts
        self._write(self._counts_path, {"source": self._source, "digest": digest}, arrays)

    def load_merges(self) -> Progress | None:
        """Return the merges so far, if any were kept."""
        found = self._read(self._merges_path)
        if found is None:
            return None
        arrays = found[1]
        return Progress(
            _pairs(arrays["merges"]), arrays["counts"].tolist(), _pairs(arrays["vetoed"])
        )

    def save_merges(self, progress: Progress) -> None:
        """Keep the merges so far."""
        arrays = {
            "merges": np.array(progress.merges, np.int64).ravel(),
            "counts": np.array(progress.counts, np.int64),
            "vetoed": np.array(progress.vetoed, np.int64).ravel(),
        }
        self._write(self._merges_path, {}, arrays)

    # --- files ------------------------------------------------------------------------------------

    def _write(self, path: Path, head: Mapping[str, Any], arrays: Arrays) -> None:
        digest = hashlib.sha256()
        for array in arrays.values():
            digest.update(np.ascontiguousarray(array).data)
        whole = {
            "what": MAGIC,
            "format": FORMAT,
            "version": __version__,
            "options": self._options,
            "arrays": [[name, array.dtype.str, len(array)] for name, array in arrays.items()],
            "sha256": digest.hexdigest(),
            **head,
        }
        parts: list[Any] = [json.dumps(whole).encode() + b"\n"]
        parts += [np.ascontiguousarray(array).data for array in arrays.values()]
        try:
            write_whole(path, parts)
        except OSError as error:
            raise TrainingError(
                f"checkpoint {path} cannot be written: {error}; the one before it is whole"
            ) from error

    def _read_head(self, path: Path) -> dict[str, Any] | None:
        try:
            with path.open("rb") as file:
                return self._head(path, file.readline())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CheckpointError(f"checkpoint {path} cannot be read: {error}") from error

    def _head(self, path: Path, line: bytes) -> dict[str, Any]:
        """Return what a file says of itself, if it belongs to this training."""
        try:
            head: dict[str, Any] = json.loads(line)
            if head["what"] != MAGIC:
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise self._damaged(path, "its first line is not a checkpoint's") from None
        if (head["format"], head["version"]) != (FORMAT, __version__):
            raise CheckpointError(
                f"checkpoint {path} was made by numbatok {head['version']}, this is {__version__}; "
                "go on with that version, or remove the folder to start anew"
            )
        for name, value in self._options.items():
            if head["options"].get(name) != value:
                raise self._other(name, head["options"].get(name), value)
        return head

    def _read(self, path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CheckpointError(f"checkpoint {path} cannot be read: {error}") from error
        line, _, body = content.partition(b"\n")
        head = self._head(path, line)
        if hashlib.sha256(body).hexdigest() != head["sha256"]:
            raise self._damaged(path, f"its {len(body):,} bytes have another digest")
        arrays, at = {}, 0
        for name, kind, size in head["arrays"]:
            arrays[name] = np.frombuffer(body, kind, size, at).copy()
            at += arrays[name].nbytes
        return head, arrays

    def _damaged(self, path: Path, why: str) -> CheckpointError:
        return CheckpointError(
            f"checkpoint {path} is damaged: {why}; remove the folder to start anew"
        )

    def _other(self, what: str, there: object, here: object) -> CheckpointError:
        return CheckpointError(
            f"checkpoint {self._folder} belongs to another training: {what} was {there!r:.200}, is "
            f"{here!r:.200}; use the same, or another folder"
        )


def _pairs(flat: Sequence[int] | NDArray[Any]) -> list[tuple[int, int]]:
    numbers = np.asarray(flat).tolist()
    return list(zip(numbers[::2], numbers[1::2], strict=True))
