"""One file per library; each has `load(files, special) -> Library` and `start_up(files)`.

Nothing here imports a library before `load` is called: the registry is read in environments that
hold one library only.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

TOUCH = "Zq"  # encoded once before any timer starts, so that lazily built tables exist


class Unsupported(Exception):
    """The library cannot load or run this; the message says why."""


@dataclass(frozen=True)
class Files:
    """One tokenizer, as the files and names that the libraries know it by."""

    tokenizer: str
    json: str | None = None  # path of a Hugging Face tokenizer.json
    ranks: str | None = None  # path of a rank file
    pattern: str | None = None  # split regex that belongs to the rank file
    special_tokens: dict[str, int] = field(default_factory=dict)  # those of the rank file
    names: dict[str, str] = field(default_factory=dict)  # library -> its own name for it


@dataclass(frozen=True)
class Library:
    """What the benchmarks call. Every function is one Python function around the library."""

    version: str
    encode: Callable[[str], Any]  # -> ids of one text: a list or an array
    encode_batch: Callable[[list[str], int], Any]  # (texts, threads) -> result of its own kind
    batch_ids: Callable[[Any], Any]  # that result -> all ids in order: a list or an array
    forget: Callable[[], None] | None = None  # empty every memo, keep the tables; None: cannot
    pretoken_ends: Callable[[bytes], Any] | None = None  # the scan alone; None: no entry


@dataclass(frozen=True)
class Peer:
    """A row of the registry."""

    module: str  # the adapter
    distribution: str  # whose version is reported
    requirements: tuple[str, ...] = ()  # of its own environment; none: the running interpreter


PEERS = {
    "numbatok": Peer("benchmarks.libraries.numbatok", "numbatok"),
    "gigatoken": Peer(
        "benchmarks.libraries.gigatoken", "gigatoken", ("gigatoken==0.10.0", "numpy")
    ),
    "tokenizers 1.0.0rc3": Peer(
        "benchmarks.libraries.tokenizers_1", "tokenizers", ("tokenizers==1.0.0rc3", "numpy")
    ),
    "tokenizers 0.23.3": Peer(
        "benchmarks.libraries.tokenizers_0", "tokenizers", ("tokenizers==0.23.3", "numpy")
    ),
    "tiktoken": Peer("benchmarks.libraries.tiktoken", "tiktoken", ("tiktoken==0.14.0", "numpy")),
    "quicktok": Peer(
        "benchmarks.libraries.quicktok", "quicktok-v1", ("quicktok-v1==0.4.0", "tokenizers==0.23.3")
    ),
}


def load(module: str, files: Files, special: str) -> Library:
    """Import a library and load a tokenizer.

    `special` is "plain" (special tokens in the text are text) or "recognize".

    Raises:
        Unsupported: the library has no way to load this tokenizer.
    """
    adapter = importlib.import_module(module)
    return cast(Library, adapter.load(files, special))


def start_up(module: str, files: Files) -> tuple[str, str, str]:
    """Return three statements: import, load, encode `text`; they define `encode`."""
    adapter = importlib.import_module(module)
    return cast("tuple[str, str, str]", adapter.start_up(files))


def needed(value: str | None, what: str) -> str:
    """Return value; it is what the library needs to load this tokenizer.

    Raises:
        Unsupported: value is None.
    """
    if value is None:
        raise Unsupported(f"needs {what}")
    return value
