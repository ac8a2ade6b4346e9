"""Tokenizer: checks arguments, calls the kernels, raises."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from numbatok import formats, image, native, parallel, rows
from numbatok.batch import Side, TokenBatch, insert_around
from numbatok.compile import build_tables, punctuation_classes
from numbatok.decoding import Decoder, DecodeStream
from numbatok.encoder import NO_LIMIT, Encoder, Job
from numbatok.errors import InvalidType, InvalidValue
from numbatok.pattern import recognize
from numbatok.policy import (
    Invalid,
    Policies,
    Policy,
    Refusal,
    Special,
    special_token_error,
    to_bytes,
)
from numbatok.preparation import Preparation
from numbatok.spec import TokenizerSpec, UnicodeForm
from numbatok.tables import U8, U32, Tables
from numbatok.truncation import cut_between_characters, halve
from numbatok.utf8 import to_array
from numbatok.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from numbatok.compat.huggingface import HuggingFaceTokenizer
    from numbatok.compat.tiktoken import TiktokenEncoding
    from numbatok.files import Summary
    from numbatok.offsets import Encoding, Unit
    from numbatok.show import Shown
    from numbatok.verification import Report


def load(
    source: str | Path,
    *,
    pattern: str | None = None,
    special_tokens: dict[str, int] | None = None,
    download: bool = False,
) -> Tokenizer:
    """Return the tokenizer of a built-in name, a file, a directory or a Hub id in the local cache.

    `pattern` and `special_tokens` complete a rank file, which holds neither. The network is used
    only with `download=True`.

    Errors: UnknownTokenizerName, InvalidTokenizerFile, UnsupportedTokenizer.
    """
    return _open(
        formats.locate(source, pattern=pattern, special_tokens=special_tokens, download=download)
    )


def _open(located: formats.Located) -> Tokenizer:
    """Return a tokenizer from its table image, or from its files, whose image is then kept."""
    found = image.open_image(located.digest)
    if found is not None:
        load_kernels(found.spec)
        return Tokenizer(found.spec, found.tables, located)
    spec = located.read()
    load_kernels(spec, "build_merges")
    tables = build_tables(spec)
    image.save_image(located.digest, spec, tables)
    return Tokenizer(spec, tables, located)


def load_kernels(spec: TokenizerSpec, *others: str) -> None:
    """Load what the first text needs, and other entries; what was never compiled side by side."""
    names = ["encode_documents", "encode_object", *others, recognize(spec).scan]
    if any(isinstance(normalizer, UnicodeForm) for normalizer in spec.normalizers):
        names.append("normalize")
    native.load_together(names, parallel.n_threads())


class Tokenizer:
    """A tokenizer, made by `numbatok.load` or `numbatok.train`.

    Immutable; any number of threads and processes may use one at once. Every option is per call.
    Text is str or bytes; positions in text are byte offsets of its UTF-8.
    """

    __slots__ = ("__dict__", "__weakref__", "_frame")  # the last is for `encode` as a built-in

    def __init__(
        self, spec: TokenizerSpec, tables: Tables, located: formats.Located | None = None
    ) -> None:
        self._spec, self._tables, self._located = spec, tables, located
        self._pattern = recognize(spec)
        self._preparation = Preparation(spec, tables)
        self._encoder = Encoder(tables, self._pattern, self._preparation)
        self._small_call = self._encoder.small_calls.call
        self._encoder.small_calls.serve(self, "encode", _encode)
        punctuation = partial(punctuation_classes, self._pattern, tables)
        self._policies = Policies(spec.added_tokens, tables.classes.ill_formed, punctuation)
        self._strict, self._plain = self._policies.get("raise"), self._policies.get("plain")
        self._vocabulary = Vocabulary(spec, tables)
        self._decoder = Decoder(spec, tables.vocabulary, self._vocabulary.full_spec)

    # --- encode -----------------------------------------------------------------------------------

    def encode(
        self,
        text: str | bytes,
        special: Special = "raise",
        *,
        invalid: Invalid = "byte-alphabet",
        template: bool = False,
    ) -> NDArray[np.uint32]:
        """Return the ids of a text, uint32[n].

        special    what to do where the text contains a special token: "raise", "recognize" it as
                   one, take it as "plain" text, or a set of tokens to recognize, others raising
        invalid    what bytes are that are not UTF-8: "byte-alphabet", "punct", "replace", "error"
        template   add what the tokenizer puts around a text, such as begin and end tokens

        Errors: SpecialTokenError, InvalidType, InvalidValue, InvalidUtf8.
        """
        if special == "raise" and invalid == "byte-alphabet":
            policy = self._strict
        elif special == "plain" and invalid == "byte-alphabet":
            policy = self._plain  # found a tenth of a us earlier than among all
        else:
            policy = self._policies.get(special, invalid)
        ids = None
        if invalid == "byte-alphabet":
            ids = self._small_call(policy, text)
            if ids is None:
                ids = self._encoder.small_calls.again(policy, text)
            if ids is None:
                ids = self._encoder.encode_prepared(policy, text)
        if ids is None:
            ids = self._encode_one(to_array(text, invalid), policy)
        return self._with_template(ids) if template else ids

    def _encode_one(self, text: U8, policy: Policy) -> U32:
        job = self._job(text, _end(text), policy)
        self._refuse(job, single=True)
        assert job.ids is not None
        return job.ids

    def _job(
        self,
        text: U8,
        ends: NDArray[np.int64],
        policy: Policy,
        counting: bool = False,
        limit: int = NO_LIMIT,
    ) -> Job:
        """Encode texts on one core or on all."""
        tokens = self._spec.added_tokens
        return parallel.encode(
            self._encoder, text, ends, policy, tokens, counting=counting, limit=limit
        )

    def encode_pair(
        self,
        first: str | bytes,
        second: str | bytes,
        special: Special = "raise",
        *,
        invalid: Invalid = "byte-alphabet",
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the ids of two texts in the tokenizer's template for a pair, and their types.

        ids uint32[n]; types uint32[n], as the template says: 0 for the first text and 1 for the
        second without one. Options and errors as `encode`.
        """
        one = self.encode(first, special, invalid=invalid)
        return self._vocabulary.pair(one, self.encode(second, special, invalid=invalid))

    def encode_with_offsets(
        self,
        text: str | bytes,
        special: Special = "raise",
        *,
        invalid: Invalid = "byte-alphabet",
        template: bool = False,
        unit: Unit | None = None,
    ) -> Encoding:
        """Return the ids of a text with where each comes from: see numbatok.offsets.Encoding.

        `unit` is "chars" or "bytes"; unless given, a str has characters and bytes have bytes.

        Errors: as `encode`.
        """
        from numbatok.offsets import OffsetEncoder, unit_of

        unit, policy = unit_of(text, unit, invalid), self._policies.get(special, invalid)
        offset_encoder = OffsetEncoder(
            self._encoder, self._decoder.lengths, self._vocabulary, self._spec.offset_trimming
        )
        found = offset_encoder.encode(text, to_bytes(text, invalid), policy, unit, template)
        if isinstance(found, Refusal):
            raise special_token_error(found, self._spec.added_tokens[found.token], None)
        return found

    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        special: Special = "raise",
        *,
        invalid: Invalid = "byte-alphabet",
        template: bool = False,
    ) -> TokenBatch:
        """Return the ids of many texts, encoded on all cores when that pays; options as `encode`.

        Errors: as `encode`, naming the row.
        """
        job = self._encode_rows(texts, special, invalid, counting=False)
        assert job.ids is not None
        batch = TokenBatch(job.ids[: job.n_ids], job.offsets)
        return self._batch_with_template(batch) if template else batch

    def count(
        self, text: str | bytes, special: Special = "plain", *, invalid: Invalid = "byte-alphabet"
    ) -> int:
        """Return how many ids a text has, without building them."""
        return self._count(to_array(text, invalid), special, invalid, NO_LIMIT).n_ids

    def count_batch(
        self,
        texts: Iterable[str | bytes],
        special: Special = "plain",
        *,
        invalid: Invalid = "byte-alphabet",
    ) -> NDArray[np.int64]:
        """Return how many ids each text has, int64[n]."""
        return np.diff(self._encode_rows(texts, special, invalid, counting=True).offsets)

    def fits(
        self,
        text: str | bytes,
        n: int,
        special: Special = "plain",
        *,
        invalid: Invalid = "byte-alphabet",
    ) -> bool:
        """Tell whether a text has at most n ids, looking no further than needed."""
        limit = _natural("n", n)
        job = self._count(to_array(text, invalid), special, invalid, limit)
        return not job.passed_limit and job.n_ids <= limit

    @overload
    def truncate(self, text: str, n: int, side: Side = "right", special: Special = "plain", *,
                 invalid: Invalid = "byte-alphabet") -> str: ...  # fmt: skip
    @overload
    def truncate(self, text: bytes, n: int, side: Side = "right", special: Special = "plain", *,
                 invalid: Invalid = "byte-alphabet") -> bytes: ...  # fmt: skip

    def truncate(
        self,
        text: str | bytes,
        n: int,
        side: Side = "right",
        special: Special = "plain",
        *,
        invalid: Invalid = "byte-alphabet",
    ) -> str | bytes:
        """Return as much of a text as has at most n ids, cut off at `side` between characters.

        The result encodes to at most n ids.
        """
        limit = _natural("n", n)
        if side not in ("left", "right"):
            raise InvalidValue(f"side is {side!r}, 'left' or 'right' is needed")
        data = to_bytes(text, invalid)
        while not self.fits(data, limit, special, invalid=invalid):
            data = self._cut(data, limit, side, special, invalid)
        return data.decode(errors="replace") if isinstance(text, str) else data

    def _cut(
        self, data: bytes, limit: int, side: Side, special: Special, invalid: Invalid
    ) -> bytes:
        """Return the bytes of the first or last `limit` ids, less a character cut in two.

        What is left may encode otherwise than in its place: the caller counts again. It is shorter
        each time, because the ids left out had bytes. Where the ids have other bytes than the text
        (it is normalized, gets a space, has unknown or dropped bytes), by halving.
        """
        sizes = self._decoder.lengths[self.encode(data, special, invalid=invalid)]
        if int(sizes.sum()) != len(data):
            return halve(data, lambda part: self.fits(part, limit, special, invalid=invalid), side)
        kept = sizes[:limit] if side == "right" else sizes[len(sizes) - limit :]
        return cut_between_characters(data, int(kept.sum()), side)

    def _count(self, text: U8, special: Special, invalid: Invalid, limit: int) -> Job:
        policy = self._policies.get(special, invalid)
        job = self._job(text, _end(text), policy, counting=True, limit=limit)
        self._refuse(job, single=True)
        return job

    def _encode_rows(
        self, texts: Iterable[str | bytes], special: Special, invalid: Invalid, counting: bool
    ) -> Job:
        text, ends = rows.join(texts, invalid)
        job = self._job(text, ends, self._policies.get(special, invalid), counting)
        self._refuse(job)
        return job

    def _refuse(self, job: Job, single: bool = False) -> None:
        if job.refusal is not None:
            token = self._spec.added_tokens[job.refusal.token]
            row = None if single else job.refusal.document
            raise special_token_error(job.refusal, token, row)

    # --- columns and files ------------------------------------------------------------------------

    def encode_arrow(self, column: Any, special: Special = "raise", **options: Any) -> Any:
        """Return the ids of each row of an Arrow column; see `numbatok.encode_arrow`."""
        from numbatok.arrow import encode_arrow

        return encode_arrow(column, self, special, **options)

    def count_arrow(self, column: Any, special: Special = "plain", **options: Any) -> Any:
        """Return how many ids each row of an Arrow column has, int64; options as `count`."""
        from numbatok.arrow import count_arrow

        return count_arrow(column, self, special, **options)

    def decode_arrow(self, column: Any, skip_special: bool = False) -> Any:
        """Return the text of each row of an Arrow column of ids, large_string."""
        from numbatok.arrow import decode_arrow

        return decode_arrow(column, self, skip_special)

    def encode_files(self, sources: Any, output: str | Path, **options: Any) -> Summary:
        """Encode files of any size to files of ids; see `numbatok.files.encode_files`."""
        from numbatok.files import encode_files

        return encode_files(sources, output, self, **options)

    # --- pretokens --------------------------------------------------------------------------------

    def pretoken_ends(
        self, text: str | bytes, *, invalid: Invalid = "byte-alphabet"
    ) -> NDArray[np.int64]:
        """Return where the pretokens of a text end, byte offsets, int64[n]; no token is special.

        Where normalizers change the text, offsets are into the normalized one.
        """
        return self._pretokens(text, invalid)[2]

    def pretokenize(
        self, text: str | bytes, *, invalid: Invalid = "byte-alphabet"
    ) -> list[str] | list[bytes]:
        """Return the pretokens of a text, normalized, as str if the text is str."""
        data, starts, ends = self._pretokens(text, invalid)
        pieces = [data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        if isinstance(text, str):
            return [piece.decode(errors="replace") for piece in pieces]
        return pieces

    def _pretokens(
        self, text: str | bytes, invalid: Invalid
    ) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]]:
        """Return a text as the scan sees it, and where its pretokens start and end."""
        policy = self._policies.get("plain", invalid)
        pieces = self._preparation.alter(to_bytes(text, invalid), policy)
        spans = [self._encoder.pretoken_spans(piece, policy) for piece in pieces]
        if len(pieces) == 1:
            return pieces[0], *spans[0]
        bases = np.cumsum([0, *map(len, pieces[:-1])])
        starts = np.concatenate([base + span[0] for base, span in zip(bases, spans, strict=True)])
        ends = np.concatenate([base + span[1] for base, span in zip(bases, spans, strict=True)])
        return b"".join(pieces), starts, ends

    # --- decode -----------------------------------------------------------------------------------

    def decode(self, ids: Any, skip_special: bool = False) -> str:
        """Return the text of ids; bytes that are not UTF-8 become U+FFFD.

        Errors: UnknownIdError (which id, where), InvalidType for anything but integers.
        """
        return self._decoder.decode(ids, skip_special)

    def decode_bytes(self, ids: Any, skip_special: bool = False) -> bytes:
        """Return the bytes of ids; `decode_bytes(encode(data)) == data`."""
        return self._decoder.decode_bytes(ids, skip_special)

    def decode_batch(self, batch: Iterable[Any], skip_special: bool = False) -> list[str]:
        """Return the texts of a TokenBatch or of any sequence of ids; errors name the row."""
        return [self._decoder.decode(ids, skip_special, row) for row, ids in enumerate(batch)]

    def decode_stream(self, skip_special: bool = False) -> DecodeStream:
        """Return a decoder that takes one id at a time: `.push(id) -> str`, then `.flush()`."""
        return DecodeStream(self._decoder, skip_special)

    # --- views ------------------------------------------------------------------------------------

    def show(
        self,
        text: str | bytes,
        special: Special = "recognize",
        *,
        invalid: Invalid = "byte-alphabet",
        limit: int = 2000,
    ) -> Shown:
        """Return a view of the tokens of a text: HTML in a notebook, colors in a terminal.

        `limit` bounds how many tokens are shown. Errors: as `encode`.
        """
        from numbatok.show import show

        return show(self, text, special, invalid, _natural("limit", limit))

    # --- the vocabulary ---------------------------------------------------------------------------

    @property
    def vocab_size(self) -> int:
        """The largest id + 1, holes included: as many rows as an embedding needs."""
        return len(self._tables.vocabulary.kinds)

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids."""
        return {token.content: token.id for token in self._spec.added_tokens if token.special}

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merges in rank order, as pairs of bytes; of a rank file those that can happen."""
        return self._vocabulary.merges()

    @cached_property
    def fingerprint(self) -> str:
        """A digest (64 hexadecimal digits) of everything that decides an id or a decoded byte."""
        return self._vocabulary.fingerprint()

    def token_to_id(self, token: str | bytes) -> int | None:
        """Return the id of a token, as its file spells it (str) or by its bytes, or None."""
        return self._vocabulary.token_to_id(token)

    def id_to_token(self, i: int) -> str:
        """Return a token as its file spells it. Errors: UnknownIdError."""
        return self._vocabulary.id_to_token(operator.index(i))

    def token_bytes(self, i: int) -> bytes:
        """Return the bytes of a token. Errors: UnknownIdError."""
        return self._vocabulary.token_bytes(operator.index(i))

    def verify(self, reference: Any = None, texts: Iterable[str | bytes] | None = None) -> Report:
        """Compare with another implementation on seeded text of all kinds, for a few seconds.

        reference   a tokenizers.Tokenizer, a tiktoken.Encoding, the path of a file that one of
                    them reads, or None for the pipeline in plain Python (numbatok.reference)
        texts       the texts to compare on, instead of seeded ones

        The Report is true if all was equal; printed, it shows the counts and the first difference.

        Errors: InvalidType, UnsupportedTokenizer, ImportError if the library is not installed.
        """
        from numbatok.verification import verify

        return verify(self, self._vocabulary.full_spec, reference, texts)

    # --- the whole --------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the tokenizer: `tokenizer.json`, or ranks if the name ends in `.tiktoken`.

        Errors: UnsupportedTokenizer if the format cannot hold it, OSError.
        """
        formats.write(self._vocabulary.full_spec(), path)

    def forget(self) -> None:
        """Empty what was memorized while encoding; results do not change, memory and speed do."""
        self._encoder.forget()

    def as_tiktoken(self) -> TiktokenEncoding:
        """Return an object with the methods of tiktoken.Encoding: see numbatok.compat.tiktoken."""
        from numbatok.compat.tiktoken import TiktokenEncoding

        return TiktokenEncoding(self, self._name)

    def as_hf(self, **roles: str) -> HuggingFaceTokenizer:
        """Return an object with the methods of transformers' fast tokenizers.

        `roles` name special tokens, such as `pad_token="<|endoftext|>"`; see
        numbatok.compat.huggingface. Errors: InvalidValue for an unknown role or token.
        """
        from numbatok.compat.huggingface import HuggingFaceTokenizer

        return HuggingFaceTokenizer(self, self._vocabulary, self._name, roles)

    @property
    def _name(self) -> str:
        return self._spec.name or (self._located.description if self._located else "trained")

    def __repr__(self) -> str:
        return f"<numbatok.Tokenizer {self._name}: {self.vocab_size:,} ids>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._located is not None:
            return _open, (self._located,)
        return _from_spec, (self._vocabulary.full_spec(),)

    def _with_template(self, ids: U32) -> U32:
        before, after = self._vocabulary.template_ids()
        return np.concatenate([before, ids, after])

    def _batch_with_template(self, batch: TokenBatch) -> TokenBatch:
        before, after = self._vocabulary.template_ids()
        return TokenBatch(*insert_around(batch.ids, batch.offsets, before, after))


_encode = Tokenizer.encode  # in whose place a built-in method may be put


def _from_spec(spec: TokenizerSpec) -> Tokenizer:
    """Return the tokenizer of a spec that has no file."""
    return Tokenizer(spec, build_tables(spec))


def _natural(name: str, value: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidType(
            f"{name} is {value!r:.60} ({type(value).__name__}), not an integer"
        ) from None
    if number < 0:
        raise InvalidValue(f"{name} is {number}, at least 0 is needed")
    return number


def _end(text: U8) -> NDArray[np.int64]:
    return np.array([text.size], np.int64)
