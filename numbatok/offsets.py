"""Where in the text each token comes from.

A token of the text has the span from the start of its first byte to the end of its last one, in
the text as it was given: tokens that share a character all have that character. What a normalizer
made of several characters has all of them, so that spans leave no gap; Hugging Face's tokenizers
loses combining marks there. A tokenizer with `trim_offsets` leaves white space out of the spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.encoder import Encoder
from numbatok.errors import InvalidValue, UnsupportedTokenizer
from numbatok.policy import Policy, Refusal
from numbatok.preparation import AlignedPiece
from numbatok.spec import ByteLevel
from numbatok.tables import LSTRIP, RSTRIP
from numbatok.vocabulary import Vocabulary

I64 = NDArray[np.int64]
Unit = Literal["chars", "bytes"]
NO_WORD = -1
NO_IDS = np.zeros(0, np.uint32)


@dataclass(frozen=True, eq=False)
class Encoding:
    """The ids of a text with where they come from; all arrays have one row per id.

    ids            uint32[n]
    offsets        int64[n, 2], start and end in the text, in `unit`; (0, 0) for a template's ids
    unit           "chars" (positions in a str) or "bytes"
    tokens         the tokens as the tokenizer's file spells them, an added token with the white
                   space that it takes with it
    special_mask   uint8[n], 1 where the template put the id and not the text
    word_ids       int64[n], which pretoken or added token of the text, or -1 for a template's ids
    """

    ids: NDArray[np.uint32]
    offsets: I64
    unit: Unit
    tokens: tuple[str, ...]
    special_mask: NDArray[np.uint8]
    word_ids: I64

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Encoding({len(self)} ids, offsets in {self.unit})"


class Spans(NamedTuple):
    """The ids of a text, without a template: [n] each."""

    ids: NDArray[np.uint32]
    starts: I64
    ends: I64
    words: I64


@dataclass(frozen=True)
class OffsetEncoder:
    """Encodes with offsets.

    lengths    int64[vocab_size], the bytes of each id
    trimming   the step of the tokenizer that trims offsets, if it has one
    """

    encoder: Encoder
    lengths: I64
    vocabulary: Vocabulary
    trimming: ByteLevel | None

    def encode(
        self, text: str | bytes, data: bytes, policy: Policy, unit: Unit, template: bool
    ) -> Encoding | Refusal:
        """Encode a text whose UTF-8 is `data`.

        Errors: UnsupportedTokenizer for a text with bytes that no token stands for.
        """
        spans = self._find_spans(data, policy)
        if isinstance(spans, Refusal):
            return spans
        tokens = self._spelled(spans, data)
        if unit == "chars":
            spans = to_characters(text, data, spans)
        if self.trimming is not None and self.trimming.trim_offsets:
            spans = trimmed(spans, tokens, self.trimming.add_prefix_space)
        return self._framed(spans, tokens, unit, template)

    def _spelled(self, spans: Spans, data: bytes) -> list[str]:
        """Return the tokens as the file spells them, stripping ones as they stand in the text."""
        added = self.encoder.tables.added
        stripping = added.ids[added.flags & (LSTRIP | RSTRIP) != 0]
        tokens = [self.vocabulary.id_to_token(i) for i in spans.ids.tolist()]
        for row in np.flatnonzero(np.isin(spans.ids, stripping)).tolist():
            tokens[row] = data[spans.starts[row] : spans.ends[row]].decode(errors="replace")
        return tokens

    def _find_spans(self, data: bytes, policy: Policy) -> Spans | Refusal:
        found, n_words = [], 0
        token_ids = self.encoder.tables.added.ids.tolist()
        for piece in self.encoder.preparation.align(data, policy):
            if isinstance(piece, Refusal):
                return piece
            if piece.text:
                found.append(self._spans_of_piece(piece, policy, n_words))
                n_words = int(found[-1].words.max(initial=n_words - 1)) + 1
            if piece.token >= 0:
                numbers = (token_ids[piece.token], piece.token_start, piece.token_end, n_words)
                found.append(_spans_of_columns([np.array([number]) for number in numbers]))
                n_words += 1
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        return _spans_of_columns(columns or [np.zeros(0, np.int64)] * 4)

    def _spans_of_piece(self, piece: AlignedPiece, policy: Policy, first_word: int) -> Spans:
        plain, n_bytes = policy.without_search, len(piece.text)
        text, ends = np.frombuffer(piece.text, np.uint8), np.array([n_bytes], np.int64)
        job = self.encoder.run(text, ends, plain)
        assert job.ids is not None
        ids = job.ids[: job.n_ids]
        kept, word_of = self._kept(piece.text, plain)
        stops = np.cumsum(self.lengths[ids])
        if (int(stops[-1]) if len(ids) else 0) != len(kept):
            raise UnsupportedTokenizer(
                "offsets: this text has bytes without a token, so ids cannot be told to places"
            )
        begins = stops - self.lengths[ids]
        starts = piece.alignment.starts[kept[begins]]
        return Spans(
            ids, starts, piece.alignment.ends[kept[stops - 1]], first_word + word_of[begins]
        )

    def _kept(self, text: bytes, policy: Policy) -> tuple[I64, I64]:
        """Return the positions of the bytes that no pattern drops, and the pretoken of each."""
        starts, ends = self.encoder.pretoken_spans(text, policy)
        sizes = ends - starts
        firsts = np.concatenate([[0], np.cumsum(sizes)])  # of each pretoken, among the kept bytes
        return (
            np.repeat(starts - firsts[:-1], sizes) + np.arange(firsts[-1]),
            np.repeat(np.arange(len(sizes)), sizes),
        )

    def _framed(self, spans: Spans, tokens: Sequence[str], unit: Unit, template: bool) -> Encoding:
        """Put a template's ids around those of the text."""
        before, after = self.vocabulary.template_ids() if template else (NO_IDS, NO_IDS)
        around = (len(before), len(after))
        frame = [
            [self.vocabulary.id_to_token(i) for i in part.tolist()] for part in (before, after)
        ]
        return Encoding(
            ids=np.concatenate([before, spans.ids, after]),
            offsets=np.pad(np.stack([spans.starts, spans.ends], axis=1), (around, (0, 0))),
            unit=unit,
            tokens=(*frame[0], *tokens, *frame[1]),
            special_mask=np.pad(np.zeros(len(spans.ids), np.uint8), around, constant_values=1),
            word_ids=np.pad(spans.words, around, constant_values=NO_WORD),
        )


def _spans_of_columns(columns: Sequence[NDArray[Any]]) -> Spans:
    ids, starts, ends, words = (column.astype(np.int64) for column in columns)
    return Spans(ids.astype(np.uint32), starts, ends, words)


def to_characters(text: str | bytes, data: bytes, spans: Spans) -> Spans:
    """Turn byte offsets in the UTF-8 of a text into positions of its characters.

    A start inside a character becomes that character's, an end inside one becomes its end.
    """
    leads = np.frombuffer(data, np.uint8) & 0xC0 != 0x80
    count = np.concatenate([[0], np.cumsum(leads)])  # characters that start before each byte
    inside = np.minimum(spans.starts + 1, len(data))
    first = np.where(spans.starts < len(data), count[inside] - 1, count[-1])
    last = count[spans.ends]
    if isinstance(text, str) and len(text) != count[-1]:
        places = _places_of_characters(text)
        first, last = places[first], places[last]
    return spans._replace(starts=first, ends=last)


def _places_of_characters(text: str) -> I64:
    """Return where each character is in a str in which some are pairs of surrogates."""
    places, pos = [], 0
    while pos < len(text):
        places.append(pos)
        is_pair = "\ud800" <= text[pos] < "\udc00" <= text[pos + 1 : pos + 2] < "\ue000"
        pos += 2 if is_pair else 1
    return np.array([*places, pos], np.int64)


def trimmed(spans: Spans, tokens: Sequence[str], has_prefix_space: bool) -> Spans:
    """Leave the white space at the ends of each token out of its span, as ByteLevel does."""
    starts, ends = spans.starts.copy(), spans.ends.copy()
    for row, token in enumerate(tokens):
        leading, trailing = _white(token), _white(token[::-1])
        if leading and has_prefix_space and (row == 0 or starts[row] == 0):
            leading -= 1
        if leading:
            starts[row] = min(starts[row] + leading, ends[row])
        if trailing and ends[row] >= trailing:
            ends[row] = max(ends[row] - trailing, starts[row])
    return spans._replace(starts=starts, ends=ends)


def _white(token: str) -> int:
    """Count the white space at the start of a token as its file spells it: Ġ is a space."""
    return len(token) - len(token.replace("Ġ", " ").lstrip())


def unit_of(text: str | bytes, unit: Unit | None, invalid: str) -> Unit:
    """Return the unit of offsets: characters of a str and bytes of bytes unless given."""
    if unit not in (None, "chars", "bytes"):
        raise InvalidValue(f"unit is {unit!r}; use 'chars' or 'bytes'")
    if not isinstance(text, str) and invalid == "replace":
        raise InvalidValue("offsets are places in the text as it is; invalid='replace' changes it")
    return unit or ("chars" if isinstance(text, str) else "bytes")
