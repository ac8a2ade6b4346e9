"""Ids on their way to files and back: decimal text, JSON Lines, NumPy arrays, plain integers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np

from numbatok.cli.sources import Document
from numbatok.errors import InvalidValue

if TYPE_CHECKING:
    from numbatok.batch import TokenBatch
    from numbatok.tables import U32

FORMATS = ("ids", "json", "npy", "bin")
SUFFIXES = {".npy": "npy", ".bin": "bin", ".json": "json", ".jsonl": "json"}
DTYPES: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}


def format_of(chosen: str | None, path: str | None) -> str:
    """Return the format that was chosen, else the one of the file's name, else "ids"."""
    if chosen is not None:
        return chosen
    return next((f for suffix, f in SUFFIXES.items() if (path or "").endswith(suffix)), "ids")


class Writer(Protocol):
    """Writes the ids of texts in order."""

    def write(self, texts: Sequence[Document], batch: TokenBatch) -> None:
        """Write the ids of some texts."""

    def finish(self) -> None:
        """Write what comes at the end."""


class TextWriter:
    """A line of decimal numbers per text."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, texts: Sequence[Document], batch: TokenBatch) -> None:
        """Write the ids of some texts."""
        lines = (" ".join(map(str, row.tolist())) + "\n" for row in batch)
        self._file.write("".join(lines).encode())

    def finish(self) -> None:
        """Write nothing more."""


class JsonWriter:
    """A JSON object per text: `source`, `line` with --lines, and `ids`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, texts: Sequence[Document], batch: TokenBatch) -> None:
        """Write the ids of some texts."""
        for text, row in zip(texts, batch, strict=True):
            place = {"source": text.source} | ({} if text.line is None else {"line": text.line})
            line = json.dumps(place | {"ids": row.tolist()}, ensure_ascii=False)
            self._file.write(line.encode(errors="surrogateescape") + b"\n")

    def finish(self) -> None:
        """Write nothing more."""


class ArrayWriter:
    """The ids of all texts one after the other, in little-endian integers."""

    def __init__(self, file: BinaryIO, dtype: np.dtype[Any]) -> None:
        self._file, self._dtype = file, dtype
        self._n_ids = 0

    def write(self, texts: Sequence[Document], batch: TokenBatch) -> None:
        """Write the ids of some texts. Errors: InvalidValue for an id that does not fit."""
        largest = int(batch.ids.max(initial=0))
        if largest > np.iinfo(self._dtype).max:
            raise InvalidValue(f"id {largest} does not fit {self._dtype.name}; use --dtype uint32")
        self._file.write(batch.ids.astype(self._dtype).tobytes())
        self._n_ids += batch.ids.size

    def finish(self) -> None:
        """Write nothing more."""


class NpyWriter(ArrayWriter):
    """The same as a NumPy array: its header, which has the length, is written again at the end."""

    def __init__(self, file: BinaryIO, dtype: np.dtype[Any]) -> None:
        super().__init__(file, dtype)
        self._write_header()

    def finish(self) -> None:
        """Write the length into the header. Errors: InvalidValue for a pipe, which cannot."""
        self._file.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (self._n_ids,)}
        np.lib.format.write_array_header_1_0(self._file, header)  # of one size for any length


def writer_of(name: str, dtype: str) -> Callable[[BinaryIO], Writer]:
    """Return what makes a writer of a format."""
    if name == "npy":
        return lambda file: NpyWriter(file, DTYPES[dtype])
    if name == "bin":
        return lambda file: ArrayWriter(file, DTYPES[dtype])
    return JsonWriter if name == "json" else TextWriter


# --- reading --------------------------------------------------------------------------------------


def read_ids(name: str, text: Document, dtype: str) -> Iterator[U32]:
    """Yield the ids of each text in a file.

    Errors: InvalidValue naming the place of what is no id.
    """
    from numbatok.decoding import as_ids

    if name == "npy":
        yield as_ids(_read_npy(text))
    elif name == "bin":
        size = DTYPES[dtype].itemsize
        if len(text.data) % size:
            raise InvalidValue(
                f"{text.place} has {len(text.data)} bytes, no multiple of {size}; see --dtype"
            )
        yield as_ids(np.frombuffer(text.data, DTYPES[dtype]))
    else:
        parse = _parse_json if name == "json" else _parse_numbers
        for number, line in enumerate(text.data.splitlines(), 1):
            yield as_ids(parse(line, f"{text.place}, line {number}"))


def _read_npy(text: Document) -> Any:
    import io

    try:
        return np.load(io.BytesIO(text.data), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InvalidValue(f"{text.place} is no .npy file: {error}") from None


def _parse_numbers(line: bytes, place: str) -> list[int]:
    words = line.split()
    wrong = next((word for word in words if not word.isdigit()), None)
    if wrong is not None:
        raise InvalidValue(f"{place}: {wrong[:40].decode(errors='backslashreplace')!r} is no id")
    return list(map(int, words))


def _parse_json(line: bytes, place: str) -> Any:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise InvalidValue(f"{place} is no JSON: {error}") from None
    ids = value.get("ids") if isinstance(value, dict) else value
    if not isinstance(ids, list):
        raise InvalidValue(f"{place}: an object with 'ids', or a list of ids, is needed")
    return ids
