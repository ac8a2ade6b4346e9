"""Rows of ids -> the pages of a Parquet column chunk.

pyarrow takes 12 ns an id, more than its encoding takes: it puts the levels of the lists (where a
row begins, what is null or empty) one by one. Here they are bits that are all set but for the
starts of rows, and the ids are packed in as many bits as the vocabulary needs, as positions in a
dictionary of all ids. Source: the Parquet format, Encodings.md (RLE / bit-packing hybrid) and
parquet.thrift.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.files import thrift
from numbatok.files.thrift import I32, STRUCT, Struct, Value, varint
from numbatok.native import function
from numbatok.tables import PACK_SPARE_BYTES

if TYPE_CHECKING:
    import pyarrow as pa

Ids = NDArray[np.uint16] | NDArray[np.uint32]

PAGE_ENTRIES = 1 << 19  # a page of 1 MB, as other writers make them, or of one row that is longer
LONGEST_PAGE = 1 << 28  # entries: the size of a page is an int32
DATA_PAGE, DICTIONARY_PAGE = 0, 2  # PageType
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8  # Encoding
NULL, EMPTY, PRESENT = 0, 1, 2  # definition levels of a nullable list of numbers that are not
LEVEL_BITS = 2
CODECS = {"snappy": "snappy", "zstd": "zstd", "lz4": "lz4_raw"}


def stored_dtype(vocab_size: int) -> np.dtype[Any]:
    """Return the type that ids wait in until they are written: their packed form if it has one."""
    return np.dtype(np.uint16 if vocab_size <= 1 << 16 else np.uint32)


class Page(NamedTuple):
    """A page: its header, and the bytes that follow it."""

    head: bytes
    data: Any  # bytes or a pyarrow buffer
    n_plain_bytes: int  # before compression

    @property
    def n_bytes(self) -> int:
        """How many bytes it takes in the file."""
        return len(self.head) + len(self.data)


class IdRows(NamedTuple):
    """Rows of ids; row i has ids[offsets[i] : offsets[i + 1]]. A null row has none."""

    ids: NDArray[Any]
    offsets: NDArray[np.int64]  # [n + 1], the first one 0
    valid: NDArray[np.bool_] | None  # [n] which rows are not null; None if all are


@dataclass(frozen=True)
class Chunk:
    """Where the pages of a column chunk are, and what the metadata says of them."""

    n_entries: int
    dictionary_at: int | None  # byte of the file
    data_at: int
    n_bytes: int = 0  # with the headers
    n_plain_bytes: int = 0  # before compression

    def and_page(self, page: Page) -> Chunk:
        """Return the chunk with one more page."""
        return replace(
            self,
            n_bytes=self.n_bytes + page.n_bytes,
            n_plain_bytes=self.n_plain_bytes + len(page.head) + page.n_plain_bytes,
        )

    @property
    def encodings(self) -> list[int]:
        """The encodings of the ids and of the levels."""
        return [PLAIN, RLE] if self.dictionary_at is None else [PLAIN, RLE, RLE_DICTIONARY]


@dataclass(frozen=True)
class Levels:
    """Where the rows of a page begin. An entry is an id, or an empty row, or a null one."""

    n_entries: int
    continued: NDArray[np.uint8]  # bits, the first in the lowest: does the entry go on with a row
    definition: NDArray[np.uint8] | None  # levels, four to a byte; None if every entry is an id

    @classmethod
    def of(
        cls, offsets: NDArray[np.int64], valid: NDArray[np.bool_] | None, goes_on: bool = False
    ) -> Levels:
        """Return the levels of rows; the first one may go on from the page before.

        Args:
            offsets: int64[n + 1], from 0 on.
            valid: bool[n], which rows are not null; None if all are.
            goes_on: whether the first one does.
        """
        lengths = np.diff(offsets)
        lacking = lengths == 0
        if not lacking.any():
            n_entries = int(offsets[-1])
            return cls(n_entries, _continued(offsets[int(goes_on) : -1], n_entries), None)
        ends = np.cumsum(np.maximum(lengths, 1))
        n_entries, starts = int(ends[-1]), ends - np.maximum(lengths, 1)
        levels = np.full((n_entries + 7) // 8 * 8, PRESENT, np.uint8)
        levels[starts[lacking]] = EMPTY if valid is None else np.where(valid[lacking], EMPTY, NULL)
        four = levels.reshape(-1, 8 // LEVEL_BITS) << np.array([0, 2, 4, 6], np.uint8)
        return cls(n_entries, _continued(starts, n_entries), np.bitwise_or.reduce(four, axis=1))

    def parts(self) -> list[bytes]:
        """Return the levels as they stand in a page."""
        groups = (self.n_entries + 7) // 8
        if self.definition is None:
            definition = [varint(self.n_entries << 1), bytes([PRESENT])]
        else:
            definition = _run(groups, self.definition)
        return [*_with_length(_run(groups, self.continued)), *_with_length(definition)]


def _rows_of_pages(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the first row of each page, and the one after its last.

    Rows are whole: fastparquet fails at one that spans three pages.
    """
    ends = np.cumsum(np.maximum(np.diff(offsets), 1))
    row, done = 0, 0
    while row < len(ends):
        last = int(np.searchsorted(ends, done + PAGE_ENTRIES, side="right"))
        last = max(last, row + 1)
        yield row, last
        row, done = last, int(ends[last - 1])


def _continued(starts: NDArray[np.int64], n_entries: int) -> NDArray[np.uint8]:
    bits = np.full((n_entries + 7) // 8, 0xFF, np.uint8)
    np.bitwise_and.at(bits, starts >> 3, ~np.left_shift(1, starts & 7).astype(np.uint8))
    return bits


def _run(groups: int, packed: NDArray[np.uint8]) -> list[bytes]:
    """Return one run of bit-packed numbers, in groups of eight."""
    return [varint(groups << 1 | 1), packed.tobytes()]


def _with_length(parts: list[bytes]) -> list[bytes]:
    return [sum(map(len, parts)).to_bytes(4, "little"), *parts]


class IdPages:
    """Writes the ids of row groups."""

    def __init__(self, vocab_size: int, compression: str) -> None:
        self._vocab_size = vocab_size
        is_narrow = stored_dtype(vocab_size) == np.uint16
        self._width = 16 if is_narrow else (vocab_size - 1).bit_length()
        self._codec: pa.Codec | None = None
        if compression != "none":
            import pyarrow as pa

            self._codec = pa.Codec(CODECS[compression])

    def write(self, file: BinaryIO, rows: IdRows) -> Chunk:
        """Append the pages of some rows, whose ids are in `stored_dtype`, to a file.

        Errors: OSError.
        """
        ids, offsets = rows.ids, rows.offsets
        packs = ids.size * self._width // 8 + 4 * self._vocab_size < 4 * ids.size
        n_entries = int(np.maximum(np.diff(offsets), 1).sum())
        pages, start = self._data_pages(rows, packs), file.tell()
        chunk = Chunk(n_entries, None, start)
        if packs:
            pages = chain([self._dictionary], pages)
            chunk = Chunk(n_entries, start, start + self._dictionary.n_bytes)
        for page in pages:
            file.write(page.head)
            file.write(page.data)
            chunk = chunk.and_page(page)
        return chunk

    def _data_pages(self, rows: IdRows, packs: bool) -> Iterator[Page]:
        ids, offsets, valid = rows
        for row, last in _rows_of_pages(offsets):
            here = ids[offsets[row] : offsets[last]]
            levels = Levels.of(
                offsets[row : last + 1] - offsets[row], None if valid is None else valid[row:last]
            )
            for start in range(0, max(here.size, 1), LONGEST_PAGE):
                part = here[start : start + LONGEST_PAGE]
                if part.size < here.size:  # of one row
                    levels = Levels.of(np.array([0, part.size]), None, goes_on=start > 0)
                yield self._data_page(levels, part, packs)

    def _data_page(self, levels: Levels, ids: Ids, packs: bool) -> Page:
        numbers = self._packed(ids) if packs else [ids.astype("<u4").data]
        header = {1: levels.n_entries, 2: RLE_DICTIONARY if packs else PLAIN, 3: RLE, 4: RLE}
        return self._page(DATA_PAGE, 5, header, b"".join([*levels.parts(), *numbers]))

    def _packed(self, ids: Ids) -> list[Any]:
        """Return positions in the dictionary, which are the ids themselves, as one run."""
        if ids.size == 0:
            return [bytes([self._width])]
        groups = (ids.size + 7) // 8
        head = [bytes([self._width]), varint(groups << 1 | 1)]
        whole = ids.size // 8 * 8
        tail = np.zeros(8 if whole < ids.size else 0, ids.dtype)
        tail[: ids.size - whole] = ids[whole:]
        if ids.dtype == np.uint16:
            return [*head, ids[:whole].astype("<u2", copy=False).data, tail.astype("<u2").data]
        return [*head, self._pack(ids[:whole]), self._pack(tail)]

    def _pack(self, ids: Ids) -> Any:
        size = ids.size // 8 * self._width
        packed = np.empty(size + PACK_SPARE_BYTES, np.uint8)
        function("pack_ids")(
            ids.ctypes.data, ids.size, self._width, packed.ctypes.data, packed.size
        )
        return packed[:size].data

    @cached_property
    def _dictionary(self) -> Page:
        numbers = np.arange(self._vocab_size, dtype="<u4").tobytes()
        return self._page(DICTIONARY_PAGE, 7, {1: self._vocab_size, 2: PLAIN}, numbers)

    def _page(self, page_type: int, field: int, header: dict[int, int], body: bytes) -> Page:
        data = body if self._codec is None else self._codec.compress(body)
        numbers = {1: page_type, 2: len(body), 3: len(data)}
        fields: Struct = {number: Value(I32, content) for number, content in numbers.items()}
        fields[field] = Value(STRUCT, {n: Value(I32, content) for n, content in header.items()})
        return Page(thrift.write(fields), data, len(body))
