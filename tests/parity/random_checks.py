"""One random tokenizer after the other: equal to tokenizers 0.23.3, or refused with a reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from numbatok.errors import NumbatokError
from numbatok.tokenizer import Tokenizer, _from_spec
from tests.formats.documents import hugging_face, read
from tests.parity.random_documents import Document, RandomDocuments

TEXTS = 12


@dataclass
class Outcome:
    """What became of random tokenizers."""

    equal: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # by the start of the reason
    only_here: int = 0  # tokenizers itself refuses the document
    compared: int = 0  # results
    failed_there: int = 0  # texts on which tokenizers panics or fails
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.equal} tokenizers equal in {self.compared:,} results, "
            f"{sum(self.refused.values())} refused, {self.only_here} refused by tokenizers, "
            f"{len(self.differences)} different; tokenizers failed on {self.failed_there} texts"
        )


def run(seed: int, count: int, make: Callable[[Document], Tokenizer] | None = None) -> Outcome:
    """Compare `count` random tokenizers."""
    documents, outcome = RandomDocuments(seed), Outcome()
    for number in range(count):
        value = documents.document()
        texts = documents.texts(value, TEXTS)
        compare(outcome, value, texts, f"seed {seed}, number {number}", make or tokenizer_of)
    return outcome


def tokenizer_of(value: Document) -> Tokenizer:
    """Return numbatok's tokenizer of a document."""
    return _from_spec(read(value))


def compare(
    outcome: Outcome,
    value: Document,
    texts: list[str],
    place: str,
    make: Callable[[Document], Tokenizer],
) -> None:
    """Compare one random tokenizer."""
    theirs = hugging_face(value)
    try:
        ours = make(value)
    except NumbatokError as error:
        outcome.refused[reason(error)] += 1
        return
    if theirs is None:
        outcome.only_here += 1
        return
    found = 0
    for call, argument, expect, have in calls(theirs, ours, texts):
        try:
            expected = expect()
        except BaseException as error:  # a panic is no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            outcome.failed_there += 1
            continue
        try:
            result = have()
        except NumbatokError as error:
            outcome.refused[reason(error)] += 1
            return
        found += 1
        if expected != result:
            outcome.differences.append(
                f"{place}: {call} of {argument!r}: expected {expected}, got {result}\n"
                f"{json.dumps(without_alphabet(value), ensure_ascii=False)}"
            )
            return
    outcome.equal += 1
    outcome.compared += found


Call = tuple[str, Any, Callable[[], Any], Callable[[], Any]]


def calls(theirs: Any, ours: Tokenizer, texts: list[str]) -> Iterator[Call]:
    """Yield name and argument of a call, and the two ways to make it."""

    def encode(text: str, plain: bool, template: bool) -> Any:
        theirs.encode_special_tokens = plain
        return theirs.encode(text, add_special_tokens=template).ids

    def pair(one: str, other: str) -> Any:
        theirs.encode_special_tokens = False
        both = theirs.encode(one, other)
        return both.ids, both.type_ids

    for k, text in enumerate(texts):
        for plain in (False, True):
            special = "plain" if plain else "recognize"
            yield (
                f"encode {special}",
                text,
                lambda t=text, p=plain: encode(t, p, False),
                lambda t=text, s=special: ours.encode(t, s).tolist(),
            )
        yield (
            "template",
            text,
            lambda t=text: encode(t, False, True),
            lambda t=text: ours.encode(t, "recognize", template=True).tolist(),
        )
        other = texts[k - 1]
        yield (
            "pair",
            (text, other),
            lambda t=text, o=other: pair(t, o),
            lambda t=text, o=other: tuple(
                side.tolist() for side in ours.encode_pair(t, o, "recognize")
            ),
        )
    yield (
        "encode_batch",
        texts,
        lambda: [encode(text, False, False) for text in texts],
        lambda: ours.encode_batch(texts, "recognize").to_list(),
    )
    rows = ours.encode_batch(texts[:6], "recognize").to_list()
    known = sorted(set(theirs.get_vocab().values()))
    rows += [known[start :: len(known) // 12 + 1] for start in range(4)]
    for row in rows:
        for skip in (False, True):
            yield (
                f"decode, skip {skip}",
                row,
                lambda r=row, s=skip: theirs.decode(r, skip_special_tokens=s),
                lambda r=row, s=skip: ours.decode(r, s),
            )
            yield (
                f"stream, skip {skip}",
                row,
                lambda r=row, s=skip: theirs.decode(r, skip_special_tokens=s),
                lambda r=row, s=skip: streamed(ours, r, s),
            )


def streamed(tokenizer: Tokenizer, row: list[int], skip_special: bool) -> str:
    """Return what a stream gives for a row of ids."""
    stream = tokenizer.decode_stream(skip_special)
    return "".join([*(stream.push(i) for i in row), stream.flush()])


def reason(error: NumbatokError) -> str:
    """Return what a message is about, without what differs from file to file."""
    text = str(error).removeprefix("t.json: ")
    return text[:70]


def without_alphabet(value: Document) -> Document:
    """Return a document in which the vocabulary shows only what is not one byte."""
    model = value["model"]
    vocab = {token: i for token, i in model["vocab"].items() if len(token) > 1}
    return {**value, "model": {**model, "vocab": vocab, "bytes": len(model["vocab"]) - len(vocab)}}
