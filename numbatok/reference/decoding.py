"""Decoding: ids to bytes, ids to text, and ids to text while they arrive."""

from __future__ import annotations

from collections.abc import Iterable

from numbatok.errors import UnknownIdError
from numbatok.reference.atoms import byte_alphabet, characters, join
from numbatok.reference.decoders import decoder_steps
from numbatok.reference.keeping import kept_for_last
from numbatok.reference.normalizers import normalize
from numbatok.spec import TokenizerSpec


def decode_bytes(spec: TokenizerSpec, ids: Iterable[int]) -> bytes:
    """Return the bytes that ids stand for: those of each token, an added token's in UTF-8.

    The decoders of the tokenizer have no part in it, so that encoded bytes come back as they were.

    Raises:
        UnknownIdError: an id is not in the vocabulary.
    """
    own = token_bytes(spec)
    return b"".join(own[number] for number in check_ids(own, ids))


def decode(spec: TokenizerSpec, ids: Iterable[int], skip_special: bool = False) -> str:
    """Return the text of ids as the tokenizer's decoders make it, without special tokens if asked.

    Raises:
        UnknownIdError: an id is not in the vocabulary.
        UnsupportedTokenizer: a decoder panics in Hugging Face's library on one of the tokens.
    """
    stream = DecodeStream(spec, skip_special)
    return "".join([stream.push(number) for number in check_ids(stream.strings, ids)]) + (
        stream.flush()
    )


class DecodeStream:
    """Decodes ids as they arrive; what it returns, joined, is the text decoded at once.

    strings   what each id is called: an added token, normalized if it is searched in normalized
              text, before a vocabulary entry
    """

    def __init__(self, spec: TokenizerSpec, skip_special: bool = False) -> None:
        self.strings = token_strings(spec)
        self._steps = decoder_steps(spec)
        self._skipped = {t.content for t in spec.added_tokens if t.special and skip_special}

    def push(self, id: int) -> str:
        """Return the text that is certain after one more id; UnknownIdError changes nothing."""
        check_ids(self.strings, [id])
        tokens = [token for token in [self.strings[id]] if token not in self._skipped]
        for step in self._steps:
            tokens = [made for token in tokens for made in step.push(token)]
        return "".join(tokens)

    def flush(self) -> str:
        """Return the rest of the text."""
        tokens: list[str] = []
        for step in self._steps:
            tokens = [made for token in tokens for made in step.push(token)] + step.flush()
        return "".join(tokens)


def check_ids(known: dict[int, str] | dict[int, bytes], ids: Iterable[int]) -> list[int]:
    """Return ids as a list after looking each one up; UnknownIdError names id and position."""
    checked = list(ids)
    for position, number in enumerate(checked):
        if number not in known:
            raise UnknownIdError(f"id {number} at position {position} is not in the vocabulary")
    return checked


@kept_for_last
def token_bytes(spec: TokenizerSpec) -> dict[int, bytes]:
    """Return the bytes of each id."""
    own = {number: token for token, number in spec.model.tokens.items()}
    own.update({number: string.encode() for string, number in spec.model.opaque.items()})
    own.update({token.id: token.content.encode() for token in spec.added_tokens})
    return own


@kept_for_last
def token_strings(spec: TokenizerSpec) -> dict[int, str]:
    """Return the string of each id, as DecodeStream says."""
    alphabet = byte_alphabet()
    strings = {
        number: "".join(chr(alphabet[byte]) for byte in token)
        for token, number in spec.model.tokens.items()
    }
    strings.update({number: string for string, number in spec.model.opaque.items()})
    for token in spec.added_tokens:
        content = characters(token.content)
        spelled = normalize(spec.normalizers, content) if token.normalized else content
        strings[token.id] = join(spelled).decode()
    return strings
