"""The interface of `tiktoken.Encoding` (0.14) over a Tokenizer: `tok.as_tiktoken()`.

| call | equals | differs |
|---|---|---|
| `encode`, `encode_batch` | lists of the same ids; `allowed_special`, `disallowed_special` | a refused token inside an allowed one is no error; bytes are taken too |
| `encode_ordinary`, `encode_ordinary_batch` | lists of the same ids | bytes are taken too |
| `encode_to_numpy` | uint32 array of the same ids | surrogates are replaced, as `encode` does it |
| `encode_single_token` | id, KeyError | |
| `decode`, `decode_batch` | text; `errors` | |
| `decode_bytes`, `decode_bytes_batch`, `decode_tokens_bytes` | bytes, KeyError for an unknown id | |
| `decode_single_token_bytes` | bytes, KeyError | |
| `decode_with_offsets` | text and starts | bytes that are no text become U+FFFD instead of an error |
| `token_byte_values` | bytes of all tokens but special ones, sorted | |
| `name`, `n_vocab`, `max_token_value`, `eot_token`, `special_tokens_set`, `is_special_token` | the same values | |
| `num_threads=` | | accepted and ignored: all cores work when that pays |
| `encode_with_unstable` | | not offered: NotImplementedError |
"""  # noqa: E501 - a table's row is a line

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from numbatok.policy import Special
    from numbatok.tokenizer import Tokenizer

Allowed = Union[Literal["all"], AbstractSet[str]]
Disallowed = Union[Literal["all"], Collection[str]]
Ids = Sequence[int]
NONE: frozenset[str] = frozenset()


class TiktokenEncoding:
    """A Tokenizer with the methods of tiktoken.Encoding; the module's table says what equals."""

    def __init__(self, tokenizer: Tokenizer, name: str) -> None:
        self._tokenizer, self.name = tokenizer, name
        self._special_tokens = tokenizer.special_tokens

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self._tokenizer).as_tiktoken, (self._tokenizer,)

    # --- encode -----------------------------------------------------------------------------------

    def encode(
        self, text: str, *, allowed_special: Allowed = NONE, disallowed_special: Disallowed = "all"
    ) -> list[int]:
        """Return the ids of a text. Errors: ValueError if it contains a disallowed token."""
        special = self._special(allowed_special, disallowed_special)
        return self._tokenizer.encode(text, special).tolist()

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of a text, special tokens being plain text."""
        return self._tokenizer.encode(text, "plain").tolist()

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = NONE, disallowed_special: Disallowed = "all"
    ) -> NDArray[np.uint32]:
        """Return the ids of a text, uint32[n]."""
        return self._tokenizer.encode(text, self._special(allowed_special, disallowed_special))

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Return the ids of many texts."""
        special = self._special(allowed_special, disallowed_special)
        return self._tokenizer.encode_batch(text, special).to_list()

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Return the ids of many texts, special tokens being plain text."""
        return self._tokenizer.encode_batch(text, "plain").to_list()

    def encode_with_unstable(self, text: str, **options: object) -> Any:
        """Not offered: tiktoken calls this unstable itself."""
        raise NotImplementedError("encode_with_unstable is not offered; use tiktoken for it")

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token. Errors: KeyError."""
        data = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        found = self._tokenizer.token_to_id(data)
        if found is None:
            raise KeyError(data)
        return found

    def _special(self, allowed: Allowed, disallowed: Disallowed) -> Special:
        """Return the `special=` that does what the two arguments ask for."""
        from numbatok.policy import Choice

        known = self.special_tokens_set
        recognized = known if allowed == "all" else known & set(allowed)
        refused = known - recognized if disallowed == "all" else known & set(disallowed)
        return Choice(frozenset(recognized), frozenset(refused))

    # --- decode -----------------------------------------------------------------------------------

    def decode(self, tokens: Ids, errors: str = "replace") -> str:
        """Return the text of ids."""
        return self._tokenizer.decode_bytes(tokens).decode("utf-8", errors=errors)

    def decode_bytes(self, tokens: Ids) -> bytes:
        """Return the bytes of ids. Errors: KeyError for an unknown one."""
        return self._tokenizer.decode_bytes(tokens)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of an id. Errors: KeyError."""
        return self._tokenizer.token_bytes(token)

    def decode_tokens_bytes(self, tokens: Ids) -> list[bytes]:
        """Return the bytes of each id."""
        return [self._tokenizer.token_bytes(token) for token in tokens]

    def decode_batch(
        self, batch: Iterable[Ids], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Return the texts of many sequences of ids."""
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(self, batch: Iterable[Ids], *, num_threads: int = 8) -> list[bytes]:
        """Return the bytes of many sequences of ids."""
        return [self.decode_bytes(tokens) for tokens in batch]

    def decode_with_offsets(self, tokens: Ids) -> tuple[str, list[int]]:
        """Return the text of ids, and the position in it of the first character of each."""
        pieces = self.decode_tokens_bytes(tokens)
        text, places = _decode_with_places(b"".join(pieces))
        starts = np.cumsum([0, *map(len, pieces)])[:-1].tolist()
        return text, [places[start] for start in starts]

    # --- the vocabulary ---------------------------------------------------------------------------

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all tokens that are not special, sorted."""
        special, found = set(self._special_tokens.values()), []
        for i in range(self.n_vocab):
            if i not in special:
                with contextlib.suppress(KeyError):  # a hole in the vocabulary
                    found.append(self._tokenizer.token_bytes(i))
        return sorted(found)

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`. Errors: KeyError."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    @property
    def max_token_value(self) -> int:
        """The largest id."""
        return self._tokenizer.vocab_size - 1

    @property
    def n_vocab(self) -> int:
        """The largest id + 1."""
        return self._tokenizer.vocab_size

    def is_special_token(self, token: int) -> bool:
        """Tell whether an id is a special token."""
        return token in self._special_tokens.values()


def _decode_with_places(data: bytes) -> tuple[str, list[int]]:
    """Return a text and, for each of its bytes and its end, the position of its character."""
    texts: list[str] = []
    places: list[int] = []
    n_characters = pos = 0
    while pos < len(data):
        try:
            text, n_lone = data[pos:].decode(), 0
        except UnicodeDecodeError as error:
            text, n_lone = data[pos : pos + error.start].decode(), error.end - error.start
        for character in text:
            places += [n_characters] * len(character.encode())
            n_characters += 1
        if n_lone:
            text += "\ufffd"
            places += [n_characters] * n_lone
            n_characters += 1
        texts.append(text)
        pos = len(places)
    return "".join(texts), [*places, n_characters]
