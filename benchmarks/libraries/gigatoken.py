"""gigatoken: a Rust library; its cache of pretokens grows without a bound and cannot be emptied."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.libraries import Files, Library, needed


def load(files: Files, special: str) -> Library:
    """See `benchmarks.libraries.load`."""
    import numpy as np

    tokenizer = _tokenizer(files, special)

    def batch_ids(result: Any) -> Any:
        import awkward

        return np.asarray(awkward.flatten(result))

    return Library(
        version=version("gigatoken"),
        encode=lambda text: tokenizer.encode(text),
        encode_batch=lambda texts, threads: tokenizer.encode_batch(texts, parallel=threads > 1),
        batch_ids=batch_ids,
    )


def _tokenizer(files: Files, special: str) -> Any:
    import gigatoken

    if files.json is None:
        scheme = files.names.get("gigatoken")
        specials = files.special_tokens if special == "recognize" else {}
        return gigatoken.Tokenizer.from_tiktoken(needed(files.ranks, "a file"), scheme, specials)
    if special == "recognize":
        return gigatoken.Tokenizer(files.json)
    return gigatoken.Tokenizer.from_json(json_without_special_tokens(files.json))


def json_without_special_tokens(path: str) -> str:
    """Return a tokenizer.json in which special tokens are text: encode has no switch for it."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    content["added_tokens"] = [t for t in content["added_tokens"] if not t["special"]]
    return json.dumps(content)


def start_up(files: Files) -> tuple[str, str, str]:
    """See `benchmarks.libraries.start_up`."""
    load_it = (
        f"tokenizer = gigatoken.Tokenizer({files.json!r})"
        if files.json
        else f"tokenizer = gigatoken.Tokenizer.from_tiktoken({files.ranks!r}, "
        f"{files.names.get('gigatoken')!r}, {files.special_tokens!r})"
    )
    return "import gigatoken", load_it, "ids = tokenizer.encode(text)"
