"""A prefix space before every piece that other steps make, as tokenizers puts it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import numbatok
from numbatok import preparation, reference
from numbatok.image import open_image, save_image
from numbatok.spec import ByteLevel, Digits, Punctuation, Split, WhitespaceSplit
from numbatok.tokenizer import _from_spec
from tests.formats.documents import ALPHABET, BYTE_LEVEL, added, document, hugging_face, read
from tests.parity.random_documents import RandomDocuments

PREFIX = {**BYTE_LEVEL, "add_prefix_space": True}
WHOLE = {**PREFIX, "use_regex": False}
BYTES = ByteLevel(False, use_regex=False)
DIGITS = {"type": "Digits", "individual_digits": True}
WORDS = {"type": "WhitespaceSplit"}
SCRIPTS = {"type": "UnicodeScripts"}


def split(regex, behavior="Isolated"):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": False}


CHAINS = [
    [DIGITS, PREFIX],
    [WORDS, PREFIX],
    [{"type": "Punctuation", "behavior": "MergedWithPrevious"}, WHOLE, DIGITS],
    [split(r"\s+", "Removed"), WHOLE, {"type": "FixedLength", "length": 2}],
    [SCRIPTS, WHOLE],
    [split("a*"), DIGITS, PREFIX],
    [split(r"\p{N}{1,3}"), split("[一-龥]+"), split(r"\w+ ?"), PREFIX],
]
TOKENS = [
    added("<s>", 290, special=True),
    added("12", 291, normalized=True),
    added("é", 292, lstrip=True),
]
TEXT = [*"ab 1.é中", "<s>", "12", "  ", "\n", "e\u0301", "カ", "\u00a0", "'s"]


def made(*steps, **changes):
    tokens = dict.fromkeys([*ALPHABET, *("ab", "abc", "Ġa", "Ġab", "Ġ1", "ĠĠ", "Ġ.", "12", "Ġé")])
    value = document(
        pre_tokenizer={"type": "Sequence", "pretokenizers": list(steps)},
        model_vocab={token: i for i, token in enumerate(tokens)},
        model_merges=["a b", "ab c", "Ġ a", "Ġ ab", "Ġ 1", "Ġ Ġ", "Ġ .", "1 2"],
        added_tokens=[{**t, "id": len(tokens) + k} for k, t in enumerate(TOKENS)],
        **changes,
    )
    return value


def texts_of(seed, count):
    rng = random.Random(seed)
    return [
        "",
        " ",
        "<s>",
        *("".join(rng.choices(TEXT, k=rng.randint(1, 14))) for _ in range(count)),
    ]


def differences(values, texts):
    """Return how many results were compared, and those that differ from tokenizers'."""
    compared, found = 0, []
    for value in values:
        theirs, ours = hugging_face(value), _from_spec(read(value))
        for plain in (True, False):
            theirs.encode_special_tokens = plain
            special = "plain" if plain else "recognize"
            whole = [theirs.encode(text, add_special_tokens=False) for text in texts]
            ids = [encoding.ids for encoding in whole]
            pairs = [
                (ids, ours.encode_batch(texts, special).to_list()),
                (ids, [ours.encode(text, special).tolist() for text in texts]),
                ([len(row) for row in ids], [ours.count(text, special) for text in texts]),
                ([len(row) for row in ids], ours.count_batch(texts, special).tolist()),
                (
                    [encoding.tokens for encoding in whole],
                    [list(ours.encode_with_offsets(text, special).tokens) for text in texts],
                ),
            ]
            for expected, have in pairs:
                compared += len(texts)
                found += [
                    (value["pre_tokenizer"], text)
                    for text, a, b in zip(texts, expected, have, strict=True)
                    if a != b
                ]
    return compared, found


@pytest.mark.oracle
def test_chains_equal_tokenizers():
    pytest.importorskip("tokenizers")
    values = [made(*steps) for steps in CHAINS]
    values += [made(*steps, normalizer={"type": "NFC"}) for steps in CHAINS]

    compared, found = differences(values, texts_of(1, 120))

    print(f"{compared:,} results compared")
    assert compared > 15_000
    assert not found, found[:5]


@pytest.mark.oracle
def test_the_comparison_sees_lost_pieces(monkeypatch):
    pytest.importorskip("tokenizers")
    find = preparation.find_pieces
    monkeypatch.setattr(preparation, "find_pieces", lambda *of: find(*of)[:3])
    assert differences([made(DIGITS, PREFIX)], texts_of(1, 40))[1]


@pytest.mark.oracle
def test_pretokens_of_random_chains_equal_those_of_tokenizers():
    pytest.importorskip("tokenizers")
    documents, compared = RandomDocuments(5), 0
    for _ in range(150):
        steps = [documents.pre_tokenizer(), documents.rng.choice([PREFIX, WHOLE])]
        steps += [documents.pre_tokenizer()] * documents.chance(0.4)
        value = document(pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
        theirs = hugging_face(value)
        try:
            ours = _from_spec(read(value))
        except numbatok.NumbatokError:
            continue
        for text in documents.texts(value, 8):
            expected = [piece for piece, _ in theirs.pre_tokenizer.pre_tokenize_str(text)]
            found = ours.pretokenize(text.encode())
            spelled = ["".join(ALPHABET[byte] for byte in piece) for piece in found]
            assert spelled == expected, (steps, text)
            assert len(ours.pretoken_ends(text)) == len(found)
            compared += 1
    print(f"{compared:,} texts compared")
    assert compared > 800


def test_offsets_leave_the_space_out():
    tokenizer = _from_spec(read(made(DIGITS, WHOLE)))
    encoding = tokenizer.encode_with_offsets("ab1 é2")
    assert encoding.tokens == ("Ġab", "Ġ1", " é", "Ġ", "2")
    assert encoding.offsets.tolist() == [[0, 2], [2, 3], [3, 5], [5, 6], [5, 6]]


@pytest.mark.parametrize("invalid", ["byte-alphabet", "punct", "replace"])
def test_any_bytes_equal_the_plain_pipeline(invalid):
    rng, compared = random.Random(3), 0
    for steps in CHAINS:
        spec = read(made(*steps))
        tokenizer = _from_spec(spec)
        for _ in range(60):
            data = b"".join(
                rng.choices([b"\xb2", b"\xe4", b"\xbd\xa0", b"a", b"1", b" ", b".", b"\xa1"], k=9)
            )
            options = {"special": "recognize", "invalid": invalid}
            expected = reference.encode(spec, data, **options)
            assert tokenizer.encode(data, **options).tolist() == expected
            assert tokenizer.pretokenize(data, invalid=invalid) == reference.pretokenize(
                spec,
                data if invalid != "replace" else data.decode(errors="replace"),
                invalid=invalid,
            )
            compared += 2
    assert compared == 840


def test_long_texts_and_large_batches():
    spec = read(made(split(r"\s+"), WHOLE, DIGITS))
    tokenizer = _from_spec(spec)
    long = "ab" * 3000 + " " + "1" * 30 + "  é" * 3000
    assert tokenizer.encode(long, "plain").tolist() == reference.encode(spec, long, special="plain")
    texts = texts_of(4, 200) * 40
    batch = tokenizer.encode_batch(texts, "recognize")
    assert len(batch) == len(texts)
    once = tokenizer.encode_batch(texts[:203], "recognize").to_list()
    assert batch.to_list() == once * 40


def test_a_special_token_that_is_refused_is_named_with_its_place():
    tokenizer = _from_spec(read(made(DIGITS, PREFIX)))
    with pytest.raises(numbatok.SpecialTokenError, match=r"row 1 contains .*'<s>' at byte 4"):
        tokenizer.encode_batch(["a1 b", "a1 b<s>"])


def test_columns_and_training_see_the_pieces(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    tokenizer = _from_spec(read(made(DIGITS, PREFIX)))
    rows = ["a1b", None, "", "ab 12"]
    expected = [None if row is None else tokenizer.encode(row, "plain").tolist() for row in rows]
    assert tokenizer.encode_arrow(arrow.array(rows), "plain").to_pylist() == expected

    steps = (Digits(True), ByteLevel(True, use_regex=False))
    spec = numbatok.load("gpt2")._vocabulary.full_spec()
    started = _from_spec(spec.__class__(spec.model, pre_tokenizers=steps))
    more = numbatok.train(["x1x1x1"] * 9, started.vocab_size + 2, start_from=started)
    assert more.token_to_id(b" 1") is not None
    assert more.pretokenize("x1") == [" x", " 1"]


def test_the_image_holds_the_cutter(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBATOK_CACHE_DIR", str(tmp_path))
    spec = read(made(WORDS, PREFIX))
    tokenizer = _from_spec(spec)
    assert save_image("0" * 64, spec, tokenizer._tables)
    image = open_image("0" * 64)
    assert image is not None
    again = numbatok.tokenizer.Tokenizer(image.spec, image.tables)
    assert again.pretokenize("ab  é1") == tokenizer.pretokenize("ab  é1") == [" ab", " é", "1"]
    assert np.array_equal(again.encode("ab  a1"), tokenizer.encode("ab  a1"))


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([Digits(True), Split("(a)\\1", True), ByteLevel(True, use_regex=True)], "step 1: regex"),
        ([Digits(True), ByteLevel(True, use_regex=True), Split("(a)\\1", True)], "step 2: regex"),
        ([BYTES, WhitespaceSplit(), ByteLevel(True, use_regex=True)], "step 2: a second ByteLevel"),
        ([Punctuation(), ByteLevel(True, use_regex=True), BYTES], "step 2: a second ByteLevel"),
    ],
)
def test_what_is_refused_is_named(steps, reason):
    spec = read(document())
    with pytest.raises(numbatok.UnsupportedTokenizer, match=reason):
        _from_spec(spec.__class__(spec.model, pre_tokenizers=tuple(steps)))
