"""tiktoken: rank files only; it keeps no memo, so there is nothing to forget."""

from importlib.metadata import version
from itertools import chain
from typing import Any

from benchmarks.libraries import Files, Library, needed


def load(files: Files, special: str) -> Library:
    """See `benchmarks.libraries.load`."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(needed(files.ranks, "a rank file"))
    pattern = needed(files.pattern, "the split pattern of the rank file")
    encoding = tiktoken.Encoding(
        files.tokenizer,
        pat_str=pattern,
        mergeable_ranks=ranks,
        special_tokens=files.special_tokens,
    )

    def encode_batch(texts: list[str], threads: int) -> Any:
        if threads == 1:  # its batch call costs a future for every row: 2.4 against 20 MB/s
            return [encoding.encode_ordinary(text) for text in texts]
        return encoding.encode_ordinary_batch(texts, num_threads=threads)

    recognized = set(files.special_tokens)
    return Library(
        version=version("tiktoken"),
        encode=(lambda text: encoding.encode_ordinary(text))
        if special == "plain"
        else (lambda text: encoding.encode(text, allowed_special=recognized)),
        encode_batch=encode_batch,
        batch_ids=lambda result: list(chain.from_iterable(result)),
        forget=lambda: None,
    )


def start_up(files: Files) -> tuple[str, str, str]:
    """See `benchmarks.libraries.start_up`."""
    return (
        "import tiktoken; from tiktoken.load import load_tiktoken_bpe",
        f"encoding = tiktoken.Encoding({files.tokenizer!r}, pat_str={files.pattern!r}, "
        f"mergeable_ranks=load_tiktoken_bpe({files.ranks!r}), "
        f"special_tokens={files.special_tokens!r})",
        "ids = encoding.encode_ordinary(text)",
    )
