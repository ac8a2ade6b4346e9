"""The comparison: the same texts through numbatok and through a reference."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from numbatok.verification.references import Reference, as_reference
from numbatok.verification.report import Difference, Report, Result
from numbatok.verification.texts import Text, sample_texts

if TYPE_CHECKING:
    from numbatok.spec import TokenizerSpec
    from numbatok.tokenizer import Tokenizer


def verify(
    tokenizer: Tokenizer,
    spec: Callable[[], TokenizerSpec],
    reference: object = None,
    texts: Iterable[Text] | None = None,
) -> Report:
    """Compare a tokenizer with a reference; see Tokenizer.verify.

    `spec` gives the whole TokenizerSpec, which the plain Python pipeline needs.
    """
    other = as_reference(reference, spec())
    comparison = Comparison(tokenizer, other)
    started = time.monotonic()
    if texts is None:
        tokens, added = tokens_of(tokenizer), [token.content for token in spec().added_tokens]
        for group in sample_texts(tokens, added, other.takes_bytes, other.rounds):
            comparison.compare(group, added)
    else:
        comparison.compare(list(texts), [token.content for token in spec().added_tokens])
    comparison.report.seconds = time.monotonic() - started
    return comparison.report


def tokens_of(tokenizer: Tokenizer) -> list[bytes]:
    """Return the bytes of every id that the vocabulary has."""
    from numbatok.errors import UnknownIdError

    found = []
    for i in range(tokenizer.vocab_size):
        try:
            found.append(tokenizer.token_bytes(i))
        except UnknownIdError:
            continue
    return found


def _contains(text: Text, content: str) -> bool:
    return content in text if isinstance(text, str) else content.encode() in text


class Comparison:
    """Counts results that are equal and keeps the first that are not."""

    def __init__(self, tokenizer: Tokenizer, reference: Reference) -> None:
        self._tokenizer, self._reference = tokenizer, reference
        self.report = Report(repr(tokenizer), reference.name)

    def compare(self, texts: list[Text], added: list[str]) -> None:
        """Compare how texts encode, with special tokens as text and as tokens, and ids decode."""
        encoded = []
        for text in texts:
            ids = self._encode(text, recognize=False)
            if any(_contains(text, content) for content in added):
                ids = self._encode(text, recognize=True)
            encoded.append(ids)
            self.report.texts += 1
            self.report.bytes += len(text.encode() if isinstance(text, str) else text)
            self.report.ids += len(ids)
        if self._reference.slow_to_start:
            encoded = [[i for ids in encoded for i in ids]]
        for ids in encoded:
            self._decode(ids)

    def _encode(self, text: Text, recognize: bool) -> list[int]:
        special = "recognize" if recognize else "plain"
        found: list[int] = self._tokenizer.encode(text, special).tolist()
        call = "encode, special tokens recognized" if recognize else "encode"
        self._check(call, text, found, lambda: self._reference.encode(text, recognize))
        return found

    def _decode(self, ids: list[int]) -> None:
        found = self._tokenizer.decode(ids)
        self._check("decode", found, found, lambda: self._reference.decode(ids))

    def _check(self, call: str, text: Text, found: Result, expect: Callable[[], Result]) -> None:
        report = self.report
        try:
            expected = expect()
        except KeyboardInterrupt:
            raise
        except BaseException:  # a panic of a Rust library is no Exception
            report.refused += 1
            return
        report.comparisons += 1
        if expected != found:
            report.differences += 1
            if report.first is None:
                pretokens: tuple[Text, ...] = tuple(self._tokenizer.pretokenize(text))
                report.first = Difference(call, text, pretokens, expected, found)
