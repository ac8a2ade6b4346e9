"""quicktok (distribution quicktok-v1): a C++ library with a few tokenizers inside.

Others are imported from a tokenizer.json; it refuses those whose pattern it has no scanner for.
"""

import os
from importlib.metadata import version
from typing import Any

from benchmarks.libraries import Files, Library, Unsupported, needed


def load(files: Files, special: str) -> Library:
    """See `benchmarks.libraries.load`."""
    tokenizer = _tokenizer(files)

    def encode_batch(texts: list[str], threads: int) -> Any:
        return tokenizer.encode_batch(texts, threads, special == "recognize")

    return Library(
        version=version("quicktok-v1"),
        encode=(lambda text: tokenizer.encode_ordinary(text))
        if special == "plain"
        else (lambda text: tokenizer.encode_with_special(text)),
        encode_batch=encode_batch,
        batch_ids=lambda result: result[0],
    )


def _tokenizer(files: Files) -> Any:
    import quicktok

    if "quicktok" in files.names:
        return quicktok.Tokenizer(files.names["quicktok"], "")
    from quicktok.importer import ImportRefused, data_home

    if not os.path.exists(f"{data_home()}/{files.tokenizer}.enc"):
        try:
            quicktok.import_tokenizer(needed(files.json, "a tokenizer.json"), files.tokenizer)
        except ImportRefused as refusal:
            raise Unsupported(str(refusal).splitlines()[0]) from refusal
    return quicktok.Tokenizer(files.tokenizer, data_home())


def start_up(files: Files) -> tuple[str, str, str]:
    """See `benchmarks.libraries.start_up`."""
    if "quicktok" not in files.names:
        raise Unsupported("this tokenizer is not among its own")
    return (
        "import quicktok",
        f"tokenizer = quicktok.get_encoding({files.names['quicktok']!r})",
        "ids = tokenizer.encode_ordinary(text)",
    )
