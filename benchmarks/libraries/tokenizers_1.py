"""Hugging Face tokenizers 1.x: ids as an array, options per call, no way to empty its cache."""

from importlib.metadata import version
from typing import Any

from benchmarks.libraries import Files, Library, needed


def load(files: Files, special: str) -> Library:
    """See `benchmarks.libraries.load`."""
    import os

    import numpy as np
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(needed(files.json, "a tokenizer.json"))
    plain = special == "plain"

    def encode(text: str) -> Any:
        return tokenizer.encode(
            text, add_special_tokens=False, encode_special_tokens=plain
        ).ids_array

    def encode_batch(texts: list[str], threads: int) -> Any:
        os.environ["TOKENIZERS_PARALLELISM"] = str(threads > 1).lower()
        encodings = tokenizer.encode_batch(
            texts, add_special_tokens=False, encode_special_tokens=plain
        )
        return [encoding.ids_array for encoding in encodings]

    return Library(
        version=version("tokenizers"),
        encode=encode,
        encode_batch=encode_batch,
        batch_ids=np.concatenate,
    )


def start_up(files: Files) -> tuple[str, str, str]:
    """See `benchmarks.libraries.start_up`."""
    return (
        "import tokenizers",
        f"tokenizer = tokenizers.Tokenizer.from_file({files.json!r})",
        "ids = tokenizer.encode(text, add_special_tokens=False).ids_array",
    )
