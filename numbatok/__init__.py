"""Exact, fast byte-level BPE tokenization, and training, in Python source.

Names are loaded when first used: importing numbatok imports neither NumPy nor Numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from numbatok.errors import (
    CheckpointError,
    InvalidInput,
    InvalidSource,
    InvalidTokenizerFile,
    InvalidType,
    InvalidUtf8,
    InvalidValue,
    NumbatokError,
    OutputError,
    SpecialTokenError,
    TrainingError,
    UnknownIdError,
    UnknownTokenizerName,
    UnsupportedTokenizer,
)
from numbatok.version import __version__

if TYPE_CHECKING:
    from numbatok.arrow import encode_arrow
    from numbatok.batch import TokenBatch
    from numbatok.tokenizer import Tokenizer, load
    from numbatok.training import PretokenCounts, count_pretokens, train
    from numbatok.warm import warmup

__all__ = [
    "CheckpointError",
    "InvalidInput",
    "InvalidSource",
    "InvalidTokenizerFile",
    "InvalidType",
    "InvalidUtf8",
    "InvalidValue",
    "NumbatokError",
    "OutputError",
    "PretokenCounts",
    "SpecialTokenError",
    "TokenBatch",
    "Tokenizer",
    "TrainingError",
    "UnknownIdError",
    "UnknownTokenizerName",
    "UnsupportedTokenizer",
    "__version__",
    "count_pretokens",
    "encode_arrow",
    "load",
    "train",
    "warmup",
]

_LAZY = {
    "PretokenCounts": "numbatok.training",
    "TokenBatch": "numbatok.batch",
    "Tokenizer": "numbatok.tokenizer",
    "count_pretokens": "numbatok.training",
    "encode_arrow": "numbatok.arrow",
    "load": "numbatok.tokenizer",
    "train": "numbatok.training",
    "warmup": "numbatok.warm",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'numbatok' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
