"""Unicode forms by kernels: against the definition, documents, long stretches, added tokens."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import pytest

import numbatok
from numbatok.normalization import Normalization, StretchStep
from numbatok.reference.atoms import join, split_atoms
from numbatok.reference.normalizers import apply
from numbatok.spec import UnicodeForm
from tests.formats.documents import added, document, hugging_face

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
PIECES = [
    *"aeoAE z\n", "é", "ế", "中文字", "かが", "\u3099", "가", "각", "\u1100", "\u1161", "\u11a8",
    "\u0301", "\u0316", "\u0338", "\u0323", "க", "\u0bbe", "\u0bc6", "क", "\u093c", "\u0958",
    "ﬁ", "\u212a", "\u1d160", "\U0001d160", "😀", "\u0344", "…", "日", "\u20d0",
]  # fmt: skip
STRAY = [b"\x80", b"\xcc", b"\xe4\xb8", b"\xf0\x9f", b"\xff", b"\xe3\x82"]


def texts(seed: int, count: int):
    """Yield bytes of marks, characters of all lengths, long ASCII runs and stray bytes."""
    chance = random.Random(seed)
    for _ in range(count):
        parts = []
        for _ in range(chance.randint(0, 30)):
            kind = chance.random()
            if kind < 0.7:
                parts.append(chance.choice(PIECES).encode())
            elif kind < 0.85:
                parts.append(b"x" * chance.randint(1, 70))
            else:
                parts.append(chance.choice(STRAY))
        yield b"".join(parts)


def step_of(form: str) -> StretchStep:
    (step,) = Normalization([UnicodeForm(form)]).stretch_steps()
    return step


def by_definition(form: str, text: bytes) -> bytes:
    return join(apply(UnicodeForm(form), split_atoms(text)))


@pytest.mark.parametrize("form", FORMS)
def test_steps_equal_the_definition(form):
    step, n_changed = step_of(form), 0
    cases = list(texts(FORMS.index(form), 3_000))
    for text in cases:
        expected = by_definition(form, text)
        assert step(text) == expected
        n_changed += expected != text
    print(f"{form}: {len(cases)} texts, {n_changed} change")
    assert n_changed > 500


def test_a_text_that_does_not_change_is_not_copied():
    text = np.frombuffer(("ab\u0bbe" + "zz க\u0bbe qக\u0bbe " * 30).encode(), np.uint8)
    ends = np.array([20, text.size])
    done = step_of("NFC").normalized(text, ends)
    assert done[0] is text and done[1] is ends


@pytest.mark.parametrize("form", FORMS)
def test_long_stretches_grow_the_work_space(form):
    """30,000 marks after one character, sorted by class; characters that grow elevenfold."""
    chance, step = random.Random(1), step_of(form)
    marks = "".join(chance.choices("\u0301\u0316\u0338\u0323\u05b0\u3099\u0345", k=30_000))
    for text in (f"xe{marks}y", "\ufdfa" * 9_000, "각" * 9_000, "\u1100\u1161\u11a8" * 3_000):
        expected = by_definition(form, text.encode())
        assert step(text.encode()) == expected
        assert step(expected) == expected


def test_documents_are_normalized_alone():
    chance, n_crossing = random.Random(9), 0
    for form in FORMS:
        step = step_of(form)
        for _ in range(150):
            rows = list(texts(chance.randrange(1 << 30), chance.randint(1, 6)))
            rows += [b""] * chance.randint(0, 2)
            chance.shuffle(rows)
            text = np.frombuffer(b"".join(rows), np.uint8)
            ends = np.cumsum([len(row) for row in rows])
            out, out_ends = step.normalized(text, ends)
            bounds = [0, *out_ends.tolist()]
            got = [out[a:b].tobytes() for a, b in pairwise(bounds)]
            assert got == [step(row) for row in rows]
            n_crossing += step(b"".join(rows)) != b"".join(got)
    assert n_crossing > 20


TOKENS = [added("<|x|>", 258), added("aKb", 259), added("e", 260), added("中", 261)]


@pytest.mark.oracle
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("normalized", [False, True])
def test_added_tokens_beside_changes(form, normalized, tmp_path):
    tokens = [{**token, "normalized": normalized} for token in TOKENS]
    vocabulary = document(normalizer={"type": form}, added_tokens=tokens)
    (tmp_path / "tokenizer.json").write_text(json.dumps(vocabulary))
    tokenizer = numbatok.load(tmp_path / "tokenizer.json")
    oracle = hugging_face(vocabulary)
    chance = random.Random(form)
    pieces = [*PIECES, "<|x|>", "<|x|", ">", "\u0338", "a\u212ab", "aKb", "K", "b"]
    cases = ["".join(chance.choices(pieces, k=chance.randint(1, 12))) for _ in range(2_000)]
    batch = tokenizer.encode_batch(cases, special="recognize")
    for case, ids in zip(cases, batch, strict=True):
        expected = oracle.encode(case, add_special_tokens=False).ids
        assert tokenizer.encode(case, special="recognize").tolist() == expected
        assert ids.tolist() == expected
    long = " ".join(cases)
    expected = oracle.encode(long, add_special_tokens=False).ids
    assert tokenizer.encode(long, special="recognize").tolist() == expected


def test_a_refused_token_is_placed_in_the_text_as_it_came(tmp_path):
    vocabulary = document(
        normalizer={"type": "NFC"}, added_tokens=[added("<|x|>", 258, special=True)]
    )
    (tmp_path / "tokenizer.json").write_text(json.dumps(vocabulary))
    tokenizer = numbatok.load(tmp_path / "tokenizer.json")
    text = "o\u0301" * 10_000 + " <|x|>"
    with pytest.raises(numbatok.SpecialTokenError, match="at byte 30001"):
        tokenizer.encode(text, special="raise")


def test_a_text_that_changes_is_counted_and_cut_as_encoded(tmp_path):
    vocabulary = document(normalizer={"type": "NFC"})
    (tmp_path / "tokenizer.json").write_text(json.dumps(vocabulary))
    tokenizer = numbatok.load(tmp_path / "tokenizer.json")
    text = "o\u0301 ab" * 20_000
    ids = tokenizer.encode(text)
    assert tokenizer.count(text) == ids.size
    assert tokenizer.decode(ids) == "ó ab" * 20_000
    assert tokenizer.fits(text, ids.size) and not tokenizer.fits(text, ids.size - 1)


@pytest.mark.oracle
def test_a_normalized_token_that_becomes_another_one(tmp_path):
    """What overlaps is what is searched, not what the file says."""
    cases = [
        ("NFC", added("aKb", 258), added("a\u212ab", 259, normalized=True), "aKb aKbc"),
        ("NFC", added("Kbc", 258), added("a\u212a", 259, normalized=True), "aKbc"),
        ("NFD", added("e", 258), added("é", 259, normalized=True), "xe\u0301 é e"),
    ]
    for form, raw, normalized, text in cases:
        vocabulary = document(normalizer={"type": form}, added_tokens=[raw, normalized])
        (tmp_path / "tokenizer.json").write_text(json.dumps(vocabulary))
        tokenizer = numbatok.load(tmp_path / "tokenizer.json")
        expected = hugging_face(vocabulary).encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text, special="recognize").tolist() == expected
        assert tokenizer.encode_with_offsets(text, special="recognize").ids.tolist() == expected


@pytest.mark.oracle
def test_offsets_of_a_token_in_white_space_that_another_took(tmp_path):
    tokens = [added("\n", 258, rstrip=True, normalized=True)]
    vocabulary = document(added_tokens=tokens)
    (tmp_path / "tokenizer.json").write_text(json.dumps(vocabulary))
    tokenizer, text = numbatok.load(tmp_path / "tokenizer.json"), "a\n\n b"
    expected = hugging_face(vocabulary).encode(text, add_special_tokens=False).ids
    found = tokenizer.encode_with_offsets(text, special="recognize")
    assert found.ids.tolist() == tokenizer.encode(text, special="recognize").tolist() == expected
