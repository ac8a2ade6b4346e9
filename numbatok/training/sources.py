"""Sources: anything that holds text -> blocks of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Union

from numbatok.errors import InvalidType
from numbatok.policy import to_bytes
from numbatok.training.blocks import BLOCK_BYTES, Block, documents
from numbatok.training.files import Files

ROWS = 1024  # texts that are converted at once
TextSource = Union[str, Path, Files, Iterable[Any]]


class Source(Protocol):
    """What a counter reads.

    n_bytes    how many bytes there are on the disk, or None if that is not known
    identity   what tells it from another source without reading it; None where nothing does
    """

    n_bytes: int | None
    identity: list[Any] | None

    def blocks(self) -> Iterator[Block]:
        """Yield the source from its start."""
        ...

    def position(self) -> int:
        """Return how many of n_bytes are read."""
        ...


def open_source(source: TextSource) -> Source:
    """Return the source that an argument stands for.

    str or Path        a file, a folder or a glob pattern: see Files
    Arrow column       pyarrow Array or ChunkedArray of strings or binary
    other iterables    texts, each str or bytes, a document each; or Paths

    Errors: InvalidType for anything else, TrainingError for a file that is not there.
    """
    if isinstance(source, (str, Path)):
        return Files(source)
    if isinstance(source, Files):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        raise InvalidType("source is one bytes object; pass [source] to train on it as a document")
    if _is_arrow(source):
        from numbatok.training.columns import Column

        return Column(source)
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise InvalidType(
            f"source is {source!r:.60} ({type(source).__name__}); texts, paths, an Arrow column "
            "or PretokenCounts are possible"
        )
    if isinstance(source, (list, tuple)) and source and isinstance(source[0], Path):
        return Files(source)
    return Texts(source)


def _is_arrow(source: object) -> bool:
    return type(source).__module__.split(".")[0] == "pyarrow" or hasattr(
        source, "__arrow_c_stream__"
    )


@dataclass
class Texts:
    """An iterable of str and bytes, each a document."""

    texts: Iterable[Any]
    n_bytes: int | None = None
    identity: list[Any] | None = None

    def blocks(self) -> Iterator[Block]:
        """Yield the texts. Errors: InvalidType naming the item that is no text."""
        rows: list[bytes] = []
        pending: list[Any] = []
        size = n_done = 0
        for text in self.texts:
            pending.append(text)
            if len(pending) < ROWS and not (isinstance(text, (str, bytes)) and len(text) > 1 << 16):
                continue
            new = _encode_rows(pending, n_done)
            n_done += len(new)
            rows += new
            size += sum(map(len, new))
            pending = []
            if size >= BLOCK_BYTES:
                yield documents(rows)
                rows, size = [], 0
        rows += _encode_rows(pending, n_done)
        if rows:
            yield documents(rows)

    def position(self) -> int:
        """Return 0: nobody knows how far the end is."""
        return 0


def _encode_rows(texts: list[Any], first: int) -> list[bytes]:
    """Return the UTF-8 of texts, the first of which is item number `first`."""
    try:
        return list(map(str.encode, texts))
    except (TypeError, UnicodeEncodeError):  # one is bytes, or wrong, or has surrogates
        return [to_bytes(text, row=first + k) for k, text in enumerate(texts)]
