"""Writers of one shard of flat ids: what stands in a file of each format."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import OutputError
from numbatok.files.settings import Settings
from numbatok.tables import U32

# llm.c reads 256 int32 first: a magic number, a version that stands for the type, the count
LLMC_HEADER = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
LLMC_HEADER_BYTES = 256 * 4
LLMC_LARGEST = (1 << 31) - 1  # the count is an int32
NPY_HEADER_BYTES = 128
MEGATRON_MAGIC = b"MMIDIDX\x00\x00"
MEGATRON_CODES = {"uint16": 8, "int32": 4}
MEGATRON_LONGEST = (1 << 31) - 1  # the length of a document is an int32


class IdsWriter(Protocol):
    """Takes ids one stretch after the other."""

    appends: bool  # what is written stays as it is

    def write(self, ids: U32) -> None:
        """Append ids; their number is a multiple of the sequence length if there is one."""

    def close(self) -> None:
        """Write what stands at the start or the end of the file."""


class BinWriter:
    """Ids and nothing else: nanoGPT's layout."""

    appends = True

    def __init__(self, paths: list[Path], settings: Settings) -> None:
        self._file = open(paths[0], "wb")  # noqa: SIM115 - closed by close
        self._dtype = settings.dtype.newbyteorder("<")
        self._count = 0
        self._room = np.empty(0, self._dtype)  # used again: new memory takes longer than to fill it

    def write(self, ids: U32) -> None:
        """Append ids."""
        if self._dtype != ids.dtype:
            if self._room.size < ids.size:
                self._room = np.empty(ids.size, self._dtype)
            np.copyto(self._room[: ids.size], ids, casting="unsafe")
            ids = self._room[: ids.size]
        self._file.write(np.ascontiguousarray(ids).data)
        self._count += ids.size

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class LlmcWriter(BinWriter):
    """llm.c's layout: a header of 1,024 bytes, then the ids."""

    appends = False  # the header is written last

    def __init__(self, paths: list[Path], settings: Settings) -> None:
        super().__init__(paths, settings)
        self._magic = LLMC_HEADER[settings.id_type]
        self._file.write(bytes(LLMC_HEADER_BYTES))

    def write(self, ids: U32) -> None:
        """Append ids. Errors: OutputError if the header cannot hold their number."""
        if self._count + ids.size > LLMC_LARGEST:
            raise OutputError(
                f"more than {LLMC_LARGEST:,} ids do not fit a file of format='llmc'; pass shard_ids"
            )
        super().write(ids)

    def close(self) -> None:
        """Write the header and close the file."""
        self._file.seek(0)
        self._file.write(struct.pack("<3i", *self._magic, self._count))
        super().close()


class NpyWriter(BinWriter):
    """NumPy's layout: 1-d, or 2-d with a row for each sequence."""

    appends = False

    def __init__(self, paths: list[Path], settings: Settings) -> None:
        super().__init__(paths, settings)
        self._length = settings.sequence_length
        self._file.write(bytes(NPY_HEADER_BYTES))

    def close(self) -> None:
        """Write the header, whose size does not depend on the shape, and close the file."""
        shape: tuple[int, ...] = (self._count,)
        if self._length is not None:
            shape = (self._count // self._length, self._length)
        description = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        text = repr(description).encode()
        size = NPY_HEADER_BYTES - 10
        header = b"\x93NUMPY\x01\x00" + struct.pack("<H", size) + text.ljust(size - 1) + b"\n"
        self._file.seek(0)
        self._file.write(header)
        super().close()


class MegatronWriter:
    """Megatron's layout: ids in .bin; lengths, positions and document numbers in .idx."""

    def __init__(self, paths: list[Path], settings: Settings) -> None:
        self._ids = BinWriter(paths[:1], settings)
        self._index_path, self._settings = paths[1], settings
        self._lengths: list[NDArray[np.int64]] = []

    def write(self, ids: U32, lengths: NDArray[np.int64]) -> None:
        """Append documents. Errors: OutputError for one that the index cannot hold."""
        if lengths.max(initial=0) > MEGATRON_LONGEST:
            raise OutputError(
                f"a document of {int(lengths.max()):,} ids does not fit format='megatron'"
            )
        self._ids.write(ids)
        self._lengths.append(lengths)

    def close(self) -> None:
        """Write the index and close both files."""
        self._ids.close()
        lengths = np.concatenate([np.zeros(0, np.int64), *self._lengths])
        pointers = np.zeros(len(lengths), np.int64)
        np.cumsum(lengths[:-1] * self._settings.dtype.itemsize, out=pointers[1:])
        with open(self._index_path, "wb") as file:
            file.write(MEGATRON_MAGIC)
            code = MEGATRON_CODES[self._settings.id_type]
            file.write(struct.pack("<QBQQ", 1, code, len(lengths), len(lengths) + 1))
            file.write(lengths.astype("<i4").data)
            file.write(pointers.astype("<i8").data)
            file.write(np.arange(len(lengths) + 1, dtype="<i8").data)
