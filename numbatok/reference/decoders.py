"""The decoders of a tokenizer.json, one token after the other.

Every decoder takes a token and gives back what can no longer change, so that a text can be decoded
while its ids arrive. A text at once is the same, with all its tokens pushed.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from numbatok.errors import UnsupportedTokenizer
from numbatok.reference.atoms import REPLACEMENT, characters, join
from numbatok.reference.merge import bytes_of_string
from numbatok.reference.normalizers import replace
from numbatok.spec import (
    DecodeBpe,
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeFuse,
    DecodeMetaspace,
    Decoder,
    DecodeStrip,
    DecodeWordPiece,
    Replace,
    TokenizerSpec,
)

CLEAN_UPS = {
    " .": ".",
    " ?": "?",
    " !": "!",
    " ,": ",",
    " ' ": "'",
    " n't": "n't",
    " 'm": "'m",
    " do not": " don't",
    " 's": "'s",
    " 've": "'ve",
    " 're": "'re",
}


HEX_DIGITS = set("0123456789abcdefABCDEF")


# --- decoders of which each token has its own result ---


class Step:
    """One decoder: `push` returns the tokens that are certain, `flush` those that were held."""

    def push(self, token: str) -> list[str]:
        """Take one more token."""
        raise NotImplementedError

    def flush(self) -> list[str]:
        """End the text."""
        return []


class ReplaceStep(Step):
    """Replaces matches in each token."""

    def __init__(self, decoder: Replace) -> None:
        self.decoder = decoder

    def push(self, token: str) -> list[str]:
        """Take one more token."""
        return [join(replace(self.decoder, characters(token))).decode()]


class StripStep(Step):
    """Removes a character from both sides of each token."""

    def __init__(self, decoder: DecodeStrip) -> None:
        self.decoder = decoder

    def push(self, token: str) -> list[str]:
        """Take one more token."""
        content, start, stop = self.decoder.content, self.decoder.start, self.decoder.stop
        left = next((i for i, c in enumerate(token[:start]) if c != content), len(token[:start]))
        right = 0
        while right < stop and right < len(token) and token[-1 - right] == content:
            right += 1
        if left + right > len(token) or right == len(token) < stop:
            raise UnsupportedTokenizer(
                f"decoder: Strip({content!r}, {start}, {stop}) has nothing left to remove of token "
                f"{token!r}; Hugging Face's library panics on it"
            )
        return [token[left : len(token) - right]]


class FirstAwareStep(Step):
    """A decoder that treats the first token of a text in its own way."""

    def __init__(self) -> None:
        self.is_first = True

    def push(self, token: str) -> list[str]:
        """Take one more token."""
        is_first, self.is_first = self.is_first, False
        return [self.decode(token, is_first)]

    def decode(self, token: str, is_first: bool) -> str:
        """Return what becomes of a token."""
        raise NotImplementedError


class SpacesStep(FirstAwareStep):
    """Joins tokens with spaces, as a tokenizer without a decoder does."""

    def decode(self, token: str, is_first: bool) -> str:
        """Return what becomes of a token."""
        return token if is_first else " " + token


class MetaspaceStep(FirstAwareStep):
    """Turns the replacement into spaces, and into nothing in the first token."""

    def __init__(self, decoder: DecodeMetaspace) -> None:
        super().__init__()
        self.decoder = decoder

    def decode(self, token: str, is_first: bool) -> str:
        """Return what becomes of a token."""
        is_dropped = is_first and self.decoder.prepend != "never"
        return token.replace(self.decoder.replacement, "" if is_dropped else " ")


class WordPieceStep(FirstAwareStep):
    """Joins tokens with spaces, except those with the continuation prefix."""

    def __init__(self, decoder: DecodeWordPiece) -> None:
        super().__init__()
        self.decoder = decoder

    def decode(self, token: str, is_first: bool) -> str:
        """Return what becomes of a token."""
        if not is_first and token.startswith(self.decoder.prefix):
            token = token[len(self.decoder.prefix) :]
        elif not is_first:
            token = " " + token
        if self.decoder.cleanup:
            for written, meant in CLEAN_UPS.items():
                token = token.replace(written, meant)
        return token


# --- decoders that hold tokens back ---


class BpeStep(Step):
    """Turns the suffix into a space, and into nothing in the last token."""

    def __init__(self, decoder: DecodeBpe) -> None:
        self.suffix = decoder.suffix
        self.held: list[str] = []

    def push(self, token: str) -> list[str]:
        """Take one more token."""
        certain, self.held = self.held, [token]
        return [held.replace(self.suffix, " ") for held in certain]

    def flush(self) -> list[str]:
        """End the text."""
        return [held.replace(self.suffix, "") for held in self.held]


class ByteFallbackStep(Step):
    """Turns a run of `<0xHH>` into its characters, or into U+FFFD each if it is not UTF-8."""

    def __init__(self) -> None:
        self.run = bytearray()

    def push(self, token: str) -> list[str]:
        """Take one more token."""
        byte = fallback_byte(token)
        if byte is None:
            return [*self.flush(), token]
        self.run.append(byte)
        return []

    def flush(self) -> list[str]:
        """End the text."""
        run, self.run = self.run, bytearray()
        try:
            return [run.decode()] if run else []
        except UnicodeDecodeError:
            return [REPLACEMENT] * len(run)


class HoldStep(Step):
    """Joins all tokens into one, for the decoders behind it."""

    def __init__(self) -> None:
        self.held: list[str] = []

    def push(self, token: str) -> list[str]:
        """Take one more token."""
        self.held.append(token)
        return []

    def flush(self) -> list[str]:
        """End the text."""
        return ["".join(self.held)]


class ByteLevelStep(Step):
    """Maps the byte alphabet to bytes and decodes them, U+FFFD for what is not UTF-8."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.plain = {t.content for t in spec.added_tokens if spec.engine == "tiktoken"}

    def push(self, token: str) -> list[str]:
        """Take one more token; one that is not spelled in the byte alphabet is its own UTF-8."""
        spelled = None if token in self.plain else bytes_of_string(token)
        return [self.decoder.decode(token.encode() if spelled is None else spelled)]

    def flush(self) -> list[str]:
        """End the text."""
        return [self.decoder.decode(b"", True)]


def fallback_byte(token: str) -> int | None:
    """Return the byte that a token `<0xHH>` stands for, None if it is no such token.

    The library reads a number in base 16, for which `+F` is one too.
    """
    if len(token.encode()) != 6 or not (token.startswith("<0x") and token.endswith(">")):
        return None
    digits = token[3:5].removeprefix("+")
    return int(digits, 16) if digits and set(digits) <= HEX_DIGITS else None


def decoder_steps(spec: TokenizerSpec) -> list[Step]:
    """Return the decoders of a tokenizer, ready for a new text.

    What the last one leaves is joined, so the joining of Fuse and ByteLevel only matters to
    decoders behind them.
    """
    if not spec.decoders:
        return [SpacesStep()]
    made: list[Step] = []
    for number, decoder in enumerate(spec.decoders, start=1):
        made += _steps_of(spec, decoder)
        if isinstance(decoder, DecodeByteLevel | DecodeFuse) and number < len(spec.decoders):
            made.append(HoldStep())
    return made


def _steps_of(spec: TokenizerSpec, decoder: Decoder) -> Sequence[Step]:
    if isinstance(decoder, DecodeByteLevel):
        return [ByteLevelStep(spec)]
    if isinstance(decoder, DecodeFuse):
        return []
    if isinstance(decoder, DecodeByteFallback):
        return [ByteFallbackStep()]
    if isinstance(decoder, DecodeStrip):
        return [StripStep(decoder)]
    if isinstance(decoder, DecodeMetaspace):
        return [MetaspaceStep(decoder)]
    if isinstance(decoder, DecodeWordPiece):
        return [WordPieceStep(decoder)]
    if isinstance(decoder, DecodeBpe):
        return [BpeStep(decoder)]
    return [ReplaceStep(decoder)]
