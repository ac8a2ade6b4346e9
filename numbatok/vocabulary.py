"""The vocabulary of a tokenizer as Python sees it; dictionaries are made when first asked for."""

from __future__ import annotations

import dataclasses
import hashlib
from functools import cached_property
from itertools import pairwise

import numpy as np

from numbatok.character_classes import byte_alphabet
from numbatok.compile import spelled_bytes
from numbatok.errors import InvalidType, UnknownIdError
from numbatok.spec import BpeModel, TemplatePart, TokenizerSpec
from numbatok.spec_json import to_json
from numbatok.tables import ADDED, EMPTY_PAIR, OPAQUE, RANK_BITS, SYMBOL_BITS, TOKEN, U32, Tables


class Vocabulary:
    """Tokens by id and ids by token, merges, and the spec as a whole."""

    def __init__(self, spec: TokenizerSpec, tables: Tables) -> None:
        self._spec, self._tables = spec, tables

    @cached_property
    def _bytes(self) -> list[bytes]:
        """The bytes of every id."""
        starts, content = self._tables.vocabulary.starts.tolist(), self._tables.vocabulary.bytes
        joined = content.tobytes()
        return [joined[a:b] for a, b in pairwise(starts)]

    def _of_kind(self, kind: int) -> list[int]:
        found: list[int] = np.flatnonzero(self._tables.vocabulary.kinds & kind).tolist()
        return found

    @cached_property
    def _tokens(self) -> dict[bytes, int]:
        return {self._bytes[i]: i for i in self._of_kind(TOKEN)}

    @cached_property
    def _opaque(self) -> dict[str, int]:
        return {self._bytes[i].decode(): i for i in self._of_kind(OPAQUE)}

    @cached_property
    def _added(self) -> dict[str, int]:
        return {token.content: token.id for token in self._spec.added_tokens}

    def token_to_id(self, token: str | bytes) -> int | None:
        """Return the id of a token, or None."""
        if isinstance(token, bytes):
            found = self._tokens.get(token)
            return found if found is not None else self._added_by_bytes.get(token)
        if not isinstance(token, str):
            raise InvalidType(f"token is {token!r:.60} ({type(token).__name__}); str or bytes")
        if token in self._added:
            return self._added[token]
        spelled = spelled_bytes(token)
        if spelled is not None and spelled in self._tokens:
            return self._tokens[spelled]
        return self._opaque.get(token)

    @cached_property
    def _added_by_bytes(self) -> dict[bytes, int]:
        return {content.encode(): i for content, i in self._added.items()}

    def token_bytes(self, i: int) -> bytes:
        """Return the bytes of an id."""
        kinds = self._tables.vocabulary.kinds
        if not 0 <= i < len(kinds) or kinds[i] == 0:
            raise UnknownIdError(f"id {i} is unknown: ids go from 0 to {len(kinds) - 1}")
        starts = self._tables.vocabulary.starts
        return self._tables.vocabulary.bytes[starts[i] : starts[i + 1]].tobytes()

    def id_to_token(self, i: int) -> str:
        """Return a token as its file spells it: added and opaque ones as they are."""
        content = self.token_bytes(i)
        if self._tables.vocabulary.kinds[i] & (ADDED | OPAQUE):
            return content.decode()
        return content.decode("latin-1").translate(_SPELLING)

    def spelled(self, with_added: bool) -> dict[str, int]:
        """Return ids by token as the file spells them: the model's, or added tokens as well."""
        kinds = TOKEN | OPAQUE | ADDED if with_added else TOKEN | OPAQUE
        return {self.id_to_token(i): i for i in self._of_kind(kinds)}

    def merges(self) -> list[tuple[bytes, bytes]]:
        """Return the merges as pairs of bytes, in rank order."""
        ids = self._tables.merge_ids.tolist()
        if ids:
            return [
                (self._bytes[a], self._bytes[b]) for a, b in zip(ids[::2], ids[1::2], strict=True)
            ]
        lefts, rights = self._ranked_pairs()
        symbol_ids = self._tables.merges.ids
        return [
            (self._bytes[a], self._bytes[b])
            for a, b in zip(symbol_ids[lefts].tolist(), symbol_ids[rights].tolist(), strict=True)
        ]

    def _ranked_pairs(self) -> tuple[U32, U32]:
        """Return the symbols of the pairs of the merges that can happen, in rank order."""
        slots = self._tables.merges.buckets
        slots = slots[slots != np.uint64(EMPTY_PAIR)]
        slots = slots[np.argsort(slots & np.uint64((1 << RANK_BITS) - 1))] >> np.uint64(RANK_BITS)
        right = slots & np.uint64((1 << SYMBOL_BITS) - 1)
        return (slots >> np.uint64(SYMBOL_BITS)).astype(np.uint32), right.astype(np.uint32)

    def fingerprint(self) -> str:
        """Return a digest of what decides ids and decoded bytes, whatever the file's format."""
        neutral = dataclasses.replace(self._spec, name=None, truncation=None, padding=None)
        neutral = dataclasses.replace(
            neutral, model=dataclasses.replace(neutral.model, merges=None)
        )
        digest = hashlib.sha256(to_json(neutral).encode())
        lefts, rights = self._ranked_pairs()
        merged = self._tables.merges.ids[: 256 + len(lefts)]
        vocabulary = self._tables.vocabulary
        kinds = vocabulary.kinds
        if not neutral.model.ignore_merges:  # then an added token that no merge makes is no other
            kinds = np.where(kinds & ADDED, kinds & ~np.uint8(TOKEN), kinds)
        for array in (lefts, rights, merged, vocabulary.starts, vocabulary.bytes, kinds):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def full_spec(self) -> TokenizerSpec:
        """Return the spec with its vocabulary and merges, as the source gave them."""
        model = self._spec.model
        merges = None if model.merges is None else tuple(self.merges())
        whole = BpeModel(
            tokens=self._tokens,
            merges=merges,
            opaque=self._opaque,
            ignore_merges=model.ignore_merges,
            unk=model.unk,
            fuse_unk=model.fuse_unk,
            byte_fallback=model.byte_fallback,
        )
        return dataclasses.replace(self._spec, model=whole)

    def template_ids(self) -> tuple[U32, U32]:
        """Return the ids that the template puts before and after a text."""
        parts = self._spec.template.single if self._spec.template else (TemplatePart(text="A"),)
        at = next(k for k, part in enumerate(parts) if part.text is not None)
        before, after = (
            [number for part in side for number in part.ids] for side in (parts[:at], parts[at:])
        )
        return np.array(before, np.uint32), np.array(after, np.uint32)

    def pair(self, first: U32, second: U32) -> tuple[U32, U32]:
        """Return the ids of a pair of texts in its template, and the type id of each."""
        plain = (TemplatePart(text="A"), TemplatePart(text="B", type_id=1))
        texts = {"A": first, "B": second}
        ids, types = [first[:0]], [first[:0]]  # a template may be empty
        for part in self._spec.template.pair if self._spec.template else plain:
            ids.append(np.array(part.ids, np.uint32) if part.text is None else texts[part.text])
            types.append(np.full(len(ids[-1]), part.type_id, np.uint32))
        return np.concatenate(ids), np.concatenate(types)


_SPELLING = dict(enumerate(byte_alphabet().tolist()))
