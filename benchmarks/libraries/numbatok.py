"""numbatok itself, through its public calls and `forget`, which empties every memo.

How many threads it may use is said by the environment (NUMBA_NUM_THREADS and the cores of the
process), so the argument is not passed on.
"""

from typing import Any

from benchmarks.libraries import Files, Library


def load(files: Files, special: str) -> Library:
    """See `benchmarks.libraries.load`."""
    import numpy as np

    import numbatok

    tokenizer = _tokenizer(files)
    encoder, policy = tokenizer._encoder, tokenizer._policies.get("plain")
    room = [np.empty(0, np.int64)]

    def pretoken_ends(data: bytes) -> Any:
        if room[0].size < len(data):
            room[0] = np.empty(len(data), np.int64)
        return encoder.pretoken_marks(data, policy, room[0])

    def encode_batch(texts: list[str], threads: int) -> Any:
        return tokenizer.encode_batch(texts, special=special)

    return Library(
        version=numbatok.__version__,
        encode=lambda text: tokenizer.encode(text, special=special),
        encode_batch=encode_batch,
        batch_ids=lambda batch: batch.ids,
        forget=tokenizer.forget,
        pretoken_ends=pretoken_ends,  # as the public call, but into memory that is used again
    )


def _tokenizer(files: Files) -> Any:
    import numbatok

    source = files.names.get("numbatok") or files.json
    if source:
        return numbatok.load(source)
    return numbatok.load(files.ranks, pattern=files.pattern, special_tokens=files.special_tokens)


def start_up(files: Files) -> tuple[str, str, str]:
    """See `benchmarks.libraries.start_up`."""
    source = files.names.get("numbatok") or files.json
    load_it = f"tokenizer = numbatok.load({source!r})"
    if not source:
        load_it = (
            f"tokenizer = numbatok.load({files.ranks!r}, pattern={files.pattern!r}, "
            f"special_tokens={files.special_tokens!r})"
        )
    return "import numbatok", load_it, "ids = tokenizer.encode(text)"
