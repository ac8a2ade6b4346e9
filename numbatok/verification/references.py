"""Other implementations behind one interface: the plain Python pipeline, tokenizers, tiktoken."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numbatok import reference
from numbatok.errors import InvalidType, UnsupportedTokenizer
from numbatok.spec import Split, TokenizerSpec

if TYPE_CHECKING:
    import tiktoken
    import tokenizers


class Reference(Protocol):
    """An implementation to compare with.

    takes_bytes    it encodes what is not UTF-8
    slow_to_start  a call of `decode` takes 50 ms whatever its length
    rounds         how many times the random texts are compared to fill a few seconds
    """

    name: str
    takes_bytes: bool
    slow_to_start: bool
    rounds: int

    def encode(self, text: str | bytes, recognize: bool) -> list[int]:
        """Return the ids of a text, its special tokens recognized or taken as plain text."""

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids."""


class PlainReference:
    """The pipeline in plain Python (numbatok.reference)."""

    takes_bytes = True
    slow_to_start = True  # decoding begins with a dictionary of the vocabulary
    rounds = 2

    def __init__(self, spec: TokenizerSpec) -> None:
        self.name, self._spec = "numbatok.reference (plain Python)", spec

    def encode(self, text: str | bytes, recognize: bool) -> list[int]:
        """Return the ids of a text."""
        return reference.encode(self._spec, text, special="recognize" if recognize else "plain")

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids."""
        return reference.decode(self._spec, ids)


class TokenizersReference:
    """Hugging Face's tokenizers, on a copy of the object: its settings stay as they are."""

    takes_bytes = False
    slow_to_start = False
    rounds = 8

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        import tokenizers

        self.name = f"tokenizers {tokenizers.__version__}"
        self._tokenizer: Any = tokenizers.Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, text: str | bytes, recognize: bool) -> list[int]:
        """Return the ids of a text."""
        self._tokenizer.encode_special_tokens = not recognize
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=False)
        return text


class TiktokenReference:
    """OpenAI's tiktoken."""

    takes_bytes = False
    slow_to_start = False
    rounds = 8

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        from importlib.metadata import version

        self.name, self._encoding = f"tiktoken {version('tiktoken')}", encoding

    def encode(self, text: str | bytes, recognize: bool) -> list[int]:
        """Return the ids of a text."""
        assert isinstance(text, str)
        if recognize:
            return self._encoding.encode(text, allowed_special="all")
        return self._encoding.encode_ordinary(text)

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids."""
        return self._encoding.decode(ids)


def as_reference(given: object, spec: TokenizerSpec) -> Reference:
    """Return the reference that a caller means.

    given   None for the plain Python pipeline with `spec`, a tokenizers.Tokenizer, a
            tiktoken.Encoding, or the path of a file that one of these libraries reads

    Errors: InvalidType, UnsupportedTokenizer, ImportError if the library is not installed.
    """
    if given is None:
        return PlainReference(spec)
    if isinstance(given, (str, os.PathLike)):
        return _reference_of_file(given)
    library = type(given).__module__.partition(".")[0]
    if library == "tokenizers":
        return TokenizersReference(given)  # type: ignore[arg-type]
    if library == "tiktoken":
        return TiktokenReference(given)  # type: ignore[arg-type]
    raise InvalidType(
        f"reference is {given!r:.60} ({type(given).__name__}); pass None, a path, a "
        "tokenizers.Tokenizer or a tiktoken.Encoding"
    )


def _reference_of_file(path: str | os.PathLike[str]) -> Reference:
    """Return the library that defines what a file means: tokenizers for merges, else tiktoken."""
    from numbatok import formats

    located = formats.locate(path)
    spec = located.read()
    if spec.model.merges is None:
        return TiktokenReference(tiktoken_encoding(spec))
    if located.kind != "json":
        raise UnsupportedTokenizer(
            f"{os.fspath(path)!r}: tokenizers reads no file of this kind; pass a tokenizer.json"
        )
    import tokenizers

    return TokenizersReference(tokenizers.Tokenizer.from_file(located.path("file")))


def tiktoken_encoding(spec: TokenizerSpec) -> tiktoken.Encoding:
    """Return the tiktoken.Encoding of a rank file's tokenizer.

    Errors: UnsupportedTokenizer if it is none.
    """
    import tiktoken

    steps: Sequence[Any] = spec.pre_tokenizers
    split = steps[0] if steps else None
    if spec.model.merges is not None or not isinstance(split, Split) or spec.engine != "tiktoken":
        raise UnsupportedTokenizer("tiktoken has no such tokenizer: it is not made of ranks")
    return tiktoken.Encoding(
        spec.name or "ranks",
        pat_str=split.pattern,
        mergeable_ranks=dict(spec.model.tokens),
        special_tokens={token.content: token.id for token in spec.added_tokens},
    )
