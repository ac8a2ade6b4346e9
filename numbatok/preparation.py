"""What happens to a text before pretokens: added tokens, normalizers, the prefix space.

In Hugging Face's order: added tokens with normalized=False are found in the text as it came; what
is between them is normalized; the other added tokens are found in that; what is left gets a space
put before it if the tokenizer wants one, or is cut first and each piece of it gets one. Most texts
of most tokenizers need none of this: then the driver finds all added tokens by itself while it
encodes. It does too if only stretches far from any added token change (`altered`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.alignment import Alignment, put_before
from numbatok.memory import addresses_of
from numbatok.native import function
from numbatok.normalization import Normalization, searched_contents
from numbatok.policy import Policy, Refusal
from numbatok.regex.chain import prefixing_step
from numbatok.regex.pieces import find_pieces, with_punctuation
from numbatok.spec import AddedToken, TokenizerSpec
from numbatok.tables import (
    BREAK_DOCUMENT,
    ENDS_TOKEN,
    INSIDE_TOKEN,
    N_CONTROL,
    NEXT_ADDED,
    REFUSE,
    U8,
    AddedTokens,
    Search,
    Tables,
)

CHUNK = 256  # added tokens found in one call


class Prepared(NamedTuple):
    """Pieces of documents, ready for the scan."""

    text: U8
    ends: NDArray[np.int64]  # [n_pieces] where each piece ends
    after: NDArray[np.int64]  # [n_pieces] the id that follows, or -1
    closes: NDArray[np.bool_]  # [n_pieces] does its document end here?


class AlignedPiece(NamedTuple):
    """A piece of one document as the scan sees it, and the added token after it."""

    text: bytes
    alignment: Alignment
    token: int  # its number, or -1: another piece follows, or the document ends here
    token_start: int  # byte offsets in the document
    token_end: int


class Preparation:
    """Prepares the texts of one tokenizer."""

    def __init__(self, spec: TokenizerSpec, tables: Tables) -> None:
        self._tables, self._ids = tables, tables.added.ids.tolist()
        self._normalization = Normalization(spec.normalizers)
        step = prefixing_step(spec.pre_tokenizers)
        self._prefix_space, self._cuts = step >= 0, step > 0
        contents = searched_contents(spec.added_tokens, self._normalization)
        self._always = self._prefix_space or overlap(spec.added_tokens, contents)
        self._raw_first = _any_of(tables.raw_added.first_bytes)
        self._first = _any_of(tables.added.first_bytes)
        self._marks = np.zeros(256, np.uint8)
        if tables.added.flags.size:  # an added token may take white space from anywhere
            self._marks[:] = INSIDE_TOKEN
        for content in contents:
            self._marks[list(content)] |= INSIDE_TOKEN
            self._marks[list(content[-1:])] |= ENDS_TOKEN

    def is_idle(self) -> bool:
        """Tell whether no text ever needs to be prepared."""
        return not self._always and not self._normalization

    def form_addresses(self) -> list[int] | None:
        """Return what tells short calls which texts they can take as they are; None: no text."""
        return None if self._always else self._normalization.form_addresses()

    def ready(self, data: bytes) -> bytes | None:
        """Return a text as the scan sees it, if it is one piece and surely has no added token."""
        if self._cuts or self._raw_first.search(data):
            return None
        text = self._prefixed(self._normalization.apply(data))
        return None if self._first.search(text) else text

    def alter(self, data: bytes, policy: Policy | None = None) -> list[bytes]:
        """Return a text without added tokens as the scan sees it: normalized, with its spaces.

        That is one piece, or several that are scanned each alone.
        """
        text = self._normalization.apply(data)
        return [self._prefixed(text[a:b]) for a, b in self._spans(text, policy)]

    def altered(
        self, text: U8, ends: NDArray[np.int64], policy: Policy
    ) -> tuple[U8, NDArray[np.int64]] | None:
        """Return documents in which the driver finds all added tokens, or None: `prepare` them.

        They are the same ones if nothing changes.
        """
        steps = self._normalization.stretch_steps()
        if self._always or steps is None:
            return None
        marks = self._marks if policy.added_actions.any() else None
        for step in steps:
            done = step.normalized(text, ends, marks)
            if done is None:
                return None
            text, ends = done
        return text, ends

    def prepare(self, text: U8, ends: NDArray[np.int64], policy: Policy) -> Prepared | Refusal:
        """Return the pieces of documents, or the added token that the call refuses."""
        pieces: list[bytes] = []
        after: list[int] = []
        closing: list[int] = []
        start = 0
        for document, end in enumerate(ends.tolist()):
            data = text[start:end].tobytes()
            for piece, token, position in self._pieces(data, policy.added_actions):
                if token >= 0 and policy.added_actions[token] == REFUSE:
                    return Refusal(token, document, position)
                for first, last in self._spans(piece, policy):
                    pieces.append(self._prefixed(piece[first:last]))
                    after.append(BREAK_DOCUMENT)
                if token >= 0:
                    after[-1] = self._ids[token]
            closing.append(len(pieces) - 1)
            start = end
        sizes = np.fromiter(map(len, pieces), np.int64, len(pieces))
        whole = np.frombuffer(b"".join(pieces), np.uint8)
        closes = np.zeros(len(pieces), np.bool_)
        closes[closing] = True
        return Prepared(whole, np.cumsum(sizes), np.array(after, np.int64), closes)

    def align(self, data: bytes, policy: Policy) -> Iterator[AlignedPiece | Refusal]:
        """Yield the pieces of a document as `prepare` does, with where they come from."""
        actions, start = policy.added_actions, 0
        raw = [*find_all(data, self._tables.raw_added, actions), (-1, len(data), len(data))]
        for raw_token, stop, raw_end in raw:
            text, alignment = data[start:stop], Alignment.identity(start, stop)
            for edits in self._normalization.edits(text) if text else ():
                alignment = alignment.edited(edits)
            text, done = self._normalization.apply(text) if text else text, 0
            for token, at, end in find_all(text, self._tables.normalized_added, actions):
                first, last = alignment.bounds(at, end)
                if actions[token] == REFUSE:
                    yield Refusal(token, 0, first)
                    return
                part = alignment.part(done, at)
                yield from self._aligned(text[done:at], part, policy, (token, first, last))
                done = end
            if raw_token >= 0 and actions[raw_token] == REFUSE:
                yield Refusal(raw_token, 0, stop)
                return
            rest = alignment.part(done, len(text))
            yield from self._aligned(text[done:], rest, policy, (raw_token, stop, raw_end))
            start = raw_end

    def _aligned(
        self, text: bytes, alignment: Alignment, policy: Policy, after: tuple[int, int, int]
    ) -> Iterator[AlignedPiece]:
        spans = self._spans(text, policy)
        for number, (start, end) in enumerate(spans, 1):
            piece, part = text[start:end], alignment.part(start, end)
            prefixed = self._prefixed(piece)
            if len(prefixed) > len(piece):
                part = part.edited(put_before(piece, b" "))
            yield AlignedPiece(prefixed, part, *(after if number == len(spans) else (-1, end, end)))

    def _spans(self, text: bytes, policy: Policy | None) -> list[tuple[int, int]]:
        """Return start and end of each piece that may get a space, at least one."""
        if not self._cuts:
            return [(0, len(text))]
        cutter, classes = self._tables.cutter, self._tables.classes.ill_formed
        if policy is not None and policy.ill_formed is not classes:
            cutter = with_punctuation(cutter)
        return find_pieces(cutter, text) or [(0, 0)]

    def _prefixed(self, piece: bytes) -> bytes:
        if self._prefix_space and piece and not piece.startswith(b" "):
            return b" " + piece
        return piece

    def _pieces(self, data: bytes, actions: U8) -> Iterator[tuple[bytes, int, int]]:
        """Yield the pieces of a document with the number of the token after each, last -1."""
        for raw, raw_token, position in split(data, self._tables.raw_added, actions):
            normalized = self._normalization.apply(raw) if raw else raw
            for piece, token, at in split(normalized, self._tables.normalized_added, actions):
                if token >= 0:
                    yield piece, token, at
                else:
                    yield piece, raw_token, position


def split(data: bytes, added: AddedTokens, actions: U8) -> Iterator[tuple[bytes, int, int]]:
    """Yield what is between the added tokens of a text, each with the token after it, last -1."""
    start = 0
    for token, at, end in find_all(data, added, actions):
        yield data[start:at], token, at
        start = end
    yield data[start:], -1, len(data)


def find_all(data: bytes, added: AddedTokens, actions: U8) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of every added token that a call does not take as plain."""
    if added.tokens.size <= 1 or not data or not actions.any():
        return
    control = np.zeros(N_CONTROL, np.int64)
    control[NEXT_ADDED] = -1
    addresses = addresses_of(Search(added, actions, control))
    text, found = np.frombuffer(data, np.uint8), np.empty(3 * CHUNK, np.int64)
    count = CHUNK
    while count == CHUNK:
        count = function("find_all_added")(
            addresses.ctypes.data, text.ctypes.data, len(data), found.ctypes.data, CHUNK
        )
        triples = found[: 3 * count].tolist()
        yield from zip(triples[::3], triples[1::3], triples[2::3], strict=True)


def _any_of(first_bytes: U8) -> re.Pattern[bytes]:
    """Return a regex that finds any byte that is marked in a table."""
    marked = np.flatnonzero(first_bytes).astype(np.uint8).tobytes()
    return re.compile(b"[" + re.escape(marked) + b"]" if marked else b"(?!)")


def overlap(tokens: Sequence[AddedToken], contents: Sequence[bytes]) -> bool:
    """Tell whether the order of the two searches can matter: then they are done one by one."""
    pairs = list(zip(tokens, contents, strict=True))
    raw = [content for token, content in pairs if not token.normalized]
    normalized = [content for token, content in pairs if token.normalized]
    if not raw or not normalized:
        return False
    if any(token.lstrip or token.rstrip or token.single_word for token in tokens):
        return True
    return _touch(raw, normalized) or _touch(normalized, raw)


def _touch(some: Sequence[bytes], others: Sequence[bytes]) -> bool:
    """Tell whether one of `others` can start inside one of `some`."""
    prefixes = {content[:k] for content in others for k in range(1, len(content) + 1)}
    whole = set(others)
    for content in some:
        for start in range(len(content)):
            for end in range(start + 1, len(content) + 1):
                piece = content[start:end]
                if piece not in prefixes:
                    break
                if piece in whole or end == len(content):
                    return True
    return False
