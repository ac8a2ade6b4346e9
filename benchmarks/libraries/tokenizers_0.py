"""Hugging Face tokenizers 0.x, by its quickest call: no offsets."""

from importlib.metadata import version
from itertools import accumulate, chain
from typing import Any

from benchmarks.libraries import Files, Library, needed


def load(files: Files, special: str) -> Library:
    """See `benchmarks.libraries.load`."""
    import os

    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(needed(files.json, "a tokenizer.json"))
    tokenizer.encode_special_tokens = special == "plain"

    def encode(text: str) -> Any:
        return tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids

    def encode_batch(texts: list[str], threads: int) -> Any:
        os.environ["TOKENIZERS_PARALLELISM"] = str(threads > 1).lower()
        return [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def pretoken_ends(data: bytes) -> Any:
        found = tokenizer.pre_tokenizer.pre_tokenize_str(data.decode("utf-8"))
        return list(accumulate(len(pretoken) for pretoken, _ in found))  # a character per byte

    return Library(
        version=version("tokenizers"),
        encode=encode,
        encode_batch=encode_batch,
        batch_ids=lambda result: list(chain.from_iterable(result)),
        forget=tokenizer.model._clear_cache,
        pretoken_ends=pretoken_ends,
    )


def start_up(files: Files) -> tuple[str, str, str]:
    """See `benchmarks.libraries.start_up`."""
    return (
        "import tokenizers",
        f"tokenizer = tokenizers.Tokenizer.from_file({files.json!r})",
        "ids = tokenizer.encode(text, add_special_tokens=False).ids",
    )
