"""A library for the benchmarks' own tests: the ids of a text are its bytes."""

import numpy as np

from benchmarks.libraries import Files, Library, Unsupported


def load(files: Files, special: str) -> Library:
    if files.tokenizer == "refused":
        raise Unsupported("this tokenizer is refused")
    if files.tokenizer == "broken":
        raise RuntimeError("broken on purpose")

    def encode(text):
        data = np.frombuffer(text.encode(), np.uint8).astype(np.uint32)
        return data[::-1] if files.tokenizer == "reversed" else data

    return Library(
        version="1",
        encode=encode,
        encode_batch=lambda texts, threads: [encode(text) for text in texts],
        batch_ids=np.concatenate,
        forget=None if files.tokenizer == "cannot forget" else lambda: None,
        pretoken_ends=lambda data: [len(data)],
    )
