"""The comparisons of one published file with its library.

Each check takes a Subject and a Scale and returns Tallies. CHECKS names them all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from numbatok import reference
from numbatok.cuts import cut_kinds, find_cut
from numbatok.errors import UnknownIdError
from tests.parity import texts
from tests.parity.comparing import Tally
from tests.parity.published import Subject

CHUNK = 20_000  # texts of one call
REACH = 40  # bytes on each side of a cut
SINGLE = 16  # of so many texts one is encoded by a call of its own, too


@dataclass(frozen=True)
class Scale:
    """How much is compared."""

    corpus: int | None  # bytes of each corpus, None for all
    atoms: str
    longest: int  # atoms of the longest of all short strings
    scalar_step: int
    fuzz: int
    glued: int
    vocabulary_step: int  # every so many-th token is encoded and decoded
    rows: int  # of ids to decode
    streams: int
    broken: int  # byte strings, compared with the plain Python pipeline


QUICK = Scale(30_000, texts.FEW_ATOMS, 3, 499, 2_000, 1_500, 41, 300, 30, 40)
FULL = Scale(None, texts.ALL_ATOMS, 4, 1, 20_000, 60_000, 1, 20_000, 500, 2_000)


def compare_ids(tally: Tally, subject: Subject, cases: Iterable[str], recognize: bool) -> None:
    """Compare how texts encode, in batches and by calls of their own."""
    special = "recognize" if recognize else "plain"
    cases = iter(cases)
    while chunk := list(islice(cases, CHUNK)):
        expected = subject.library.encode(chunk, recognize)
        found = subject.tokenizer.encode_batch(chunk, special).to_list()
        tally.compare(chunk, expected, found)
        ones = chunk[::SINGLE]
        found = [subject.tokenizer.encode(text, special).tolist() for text in ones]
        tally.compare(ones, expected[::SINGLE], found)


def corpora(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Real texts; special tokens that stand in them once as tokens, once as text."""
    for recognize in (True, False):
        tally = Tally(f"real texts, special tokens {'as tokens' if recognize else 'as text'}")
        compare_ids(tally, subject, texts.corpus_texts(scale.corpus), recognize)
        yield tally


def short_strings(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Every string of a few atoms."""
    tally = Tally(f"strings of up to {scale.longest} of {len(scale.atoms)} atoms")
    compare_ids(tally, subject, texts.short_strings(scale.atoms, scale.longest), False)
    yield tally


def scalars(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Every Unicode scalar in twelve contexts."""
    tally = Tally(f"every {scale.scalar_step}. scalar in {len(texts.CONTEXTS)} contexts")
    first = sum(subject.file.encode()) % scale.scalar_step  # each file samples others
    compare_ids(tally, subject, texts.scalars(scale.scalar_step, first), False)
    yield tally


def fuzz(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Random texts."""
    spelled = [token.decode(errors="replace") for token in known_tokens(subject).values()]
    for recognize in (True, False):
        tally = Tally(f"random texts, special tokens {'as tokens' if recognize else 'as text'}")
        made = texts.fuzz(20261129 + recognize, scale.fuzz, subject.added, spelled)
        compare_ids(tally, subject, made, recognize)
        yield tally


def glued(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Added tokens beside everything."""
    for recognize in (True, False):
        tally = Tally(f"added tokens glued, {'as tokens' if recognize else 'as text'}")
        made = texts.glued(7, scale.glued, subject.added)
        compare_ids(tally, subject, made, recognize)
        yield tally


def vocabulary(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Tokens as texts, and ids one by one."""
    known = known_tokens(subject)
    ids = list(known)[:: scale.vocabulary_step]
    tally = Tally("tokens as texts")
    compare_ids(tally, subject, (known[i].decode(errors="replace") for i in ids), True)
    yield tally
    tally = Tally("ids decoded one by one")
    compare_texts(tally, subject, [[i] for i in ids], False)
    compare_texts(tally, subject, [[i] for i in ids], True)
    yield tally


def decoding(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Rows of ids: those of texts, and random ones, which are hardly ever UTF-8."""
    rng, ids = random.Random(11), list(known_tokens(subject))
    rows = [rng.choices(ids, k=rng.randint(0, 20)) for _ in range(scale.rows)]
    specials = list(subject.tokenizer.special_tokens.values())
    rows += [[rng.choice(specials), *row, rng.choice(specials)] for row in rows[::4]]
    made = texts.fuzz(5, scale.rows, subject.added, ["token"])
    rows += subject.tokenizer.encode_batch(made, "recognize").to_list()
    for skip_special in (False, True):
        tally = Tally(f"rows decoded, special tokens {'left out' if skip_special else 'kept'}")
        for start in range(0, len(rows), CHUNK):
            compare_texts(tally, subject, rows[start : start + CHUNK], skip_special)
        yield tally


def compare_texts(
    tally: Tally, subject: Subject, rows: Sequence[list[int]], skip_special: bool
) -> None:
    """Compare how rows of ids decode."""
    expected = subject.library.decode(rows, skip_special)
    tally.compare(rows, expected, subject.tokenizer.decode_batch(rows, skip_special))


def streams(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Ids decoded one by one give the text of all, never later than the library's stream."""
    rng, ids = random.Random(13), list(known_tokens(subject))
    rows = [rng.choices(ids, k=rng.randint(1, 15)) for _ in range(scale.streams)]
    made = texts.fuzz(6, scale.streams, subject.added, ["token"])
    rows += subject.tokenizer.encode_batch(made, "recognize").to_list()
    whole = Tally("streams of ids: all pieces together")
    early = Tally("streams of ids: no piece later than the library's")
    for skip_special in (False, True):
        whole.compare(
            rows,
            subject.library.decode(rows, skip_special),
            ["".join(pieces(subject, row, skip_special)) for row in rows],
        )
        if subject.library.has_streams:
            for row in rows:
                compare_stream(early, subject, row, skip_special)
    yield whole
    if subject.library.has_streams:
        yield early


def pieces(subject: Subject, row: Sequence[int], skip_special: bool) -> list[str]:
    """Return what a stream gives for each id, and at the end."""
    stream = subject.tokenizer.decode_stream(skip_special)
    return [*(stream.push(i) for i in row), stream.flush()]


def compare_stream(tally: Tally, subject: Subject, row: list[int], skip_special: bool) -> None:
    """Check that at every id numbatok's stream gave at least what the library's did.

    The library's stream loses text behind bytes that are no UTF-8, so only clean rows count.
    """
    text = subject.library.decode([row], skip_special)[0]
    if "\ufffd" in text:
        return
    theirs = ours = ""
    given = subject.library.stream(row, skip_special)
    for i, (want, have) in enumerate(zip(given, pieces(subject, row, skip_special), strict=False)):
        theirs, ours = theirs + (want or ""), ours + have
        tally.compared += 1
        if not (ours.startswith(theirs) and text.startswith(ours)):
            tally.differ(row[: i + 1], theirs, ours)
            return


def templates(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """What the post-processor puts around one text and around two."""
    made = [*texts.fuzz(8, scale.fuzz // 10, subject.added, ["token"]), "", "a"]
    tally = Tally("texts in their template")
    tally.compare(
        made,
        subject.library.template(made),
        subject.tokenizer.encode_batch(made, "recognize", template=True).to_list(),
    )
    tally.compare(
        made,
        subject.library.template(made),
        [subject.tokenizer.encode(t, "recognize", template=True).tolist() for t in made],
    )
    yield tally
    pairs = list(zip(made, reversed(made), strict=True))
    found = [subject.tokenizer.encode_pair(*pair, "recognize") for pair in pairs]
    tally = Tally("pairs in their template")
    tally.compare(
        pairs,
        subject.library.pairs(pairs),
        [(ids.tolist(), types.tolist()) for ids, types in found],
    )
    yield tally


def arbitrary_bytes(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """Bytes that are no UTF-8, compared with the plain Python pipeline."""
    spec = subject.tokenizer._vocabulary.full_spec()
    made = [*texts.broken_bytes(9, scale.broken, subject.added), b"", b"\xff", b"a\xe4\xbd"]
    for invalid in ("byte-alphabet", "punct", "replace"):
        tally = Tally(f"any bytes, invalid={invalid!r}")
        batch = subject.tokenizer.encode_batch(made, "recognize", invalid=invalid)
        expected = [
            reference.encode(spec, data, special="recognize", invalid=invalid) for data in made
        ]
        tally.compare(made, expected, batch.to_list())
        yield tally
    alphabet = {bytes([byte]) for byte in range(256)}
    if not spec.normalizers and alphabet <= spec.model.tokens.keys():
        tally = Tally("any bytes survive")
        plain = subject.tokenizer.encode_batch(made, "plain")
        tally.compare(made, made, [subject.tokenizer.decode_bytes(ids) for ids in plain])
        yield tally


def known_tokens(subject: Subject) -> dict[int, bytes]:
    """Return the bytes of every id that the vocabulary has."""
    found = {}
    for i in range(subject.tokenizer.vocab_size):
        try:
            found[i] = subject.tokenizer.token_bytes(i)
        except UnknownIdError:
            continue
    return found


def cuts(subject: Subject, scale: Scale) -> Iterator[Tally]:
    """A text cut where it is said to be safe has the ids of the whole."""
    kinds = cut_kinds(subject.tokenizer._pattern, subject.tokenizer._tables.automaton)
    tally = Tally("texts cut where that is safe")
    encode = partial(subject.tokenizer.encode, special="plain")
    for text in texts.corpus_texts(max(scale.rows, 100) * 10):
        data = text.encode()
        content, at = np.frombuffer(data, np.uint8), 0
        while (at := find_cut(content, at + 1, len(data), kinds)) < len(data):
            near = slice(max(0, at - REACH), at), slice(at, at + REACH)
            parts = [data[side].decode(errors="ignore") for side in near]
            tally.compare(
                [parts],
                [encode("".join(parts)).tolist()],
                [[*encode(parts[0]).tolist(), *encode(parts[1]).tolist()]],
            )
    if tally.compared or kinds:
        yield tally


CHECKS: dict[str, Callable[[Subject, Scale], Iterator[Tally]]] = {
    "corpora": corpora,
    "short strings": short_strings,
    "scalars": scalars,
    "fuzz": fuzz,
    "glued": glued,
    "cuts": cuts,
    "vocabulary": vocabulary,
    "decoding": decoding,
    "streams": streams,
    "templates": templates,
    "bytes": arbitrary_bytes,
}
