"""Writing a tokenizer in the format that a file name asks for."""

from __future__ import annotations

import os

from numbatok.spec import TokenizerSpec


def write(spec: TokenizerSpec, path: str | os.PathLike[str]) -> None:
    """Write ranks if the name ends in `.tiktoken`, else a tokenizer.json.

    Raises:
        UnsupportedTokenizer: the format cannot hold this tokenizer; the message names why.
        OSError: the file cannot be written; what was there stays.
    """
    if os.fspath(path).endswith(".tiktoken"):
        from numbatok.formats.write_ranks import write_tiktoken

        write_tiktoken(spec, path)
    else:
        from numbatok.formats.write_json import write_tokenizer_json

        write_tokenizer_json(spec, path)
