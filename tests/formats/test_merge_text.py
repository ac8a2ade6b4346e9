"""Lists of merges that a kernel reads from JSON text, compared with what Python makes of them."""

from __future__ import annotations

import json
import random

import pytest

from numbatok.errors import InvalidTokenizerFile, NumbatokError
from numbatok.flat_merges import cut_merges
from numbatok.formats import json_model
from numbatok.formats.byte_alphabet import to_spelling
from numbatok.formats.json_model import parse_large
from numbatok.formats.strict_json import parse_json
from numbatok.formats.tokenizer_json import read_tokenizer_json
from tests.formats.documents import ALPHABET, document

STUB = b'"stub"'
ODD = [
    [["a b", "c"]], [["a", ""]], ["ab"], ["a b c"], ["a "], [" a"], [["a", "b", "c"]], [["a"]],
    ["#version: 0.2", "a b"], [["a", 1]], [], [["中", "a"]], [["a", "\n"]], [["a", "ƀ"]],
    ["a b", ["a", "b"]],
]  # fmt: skip


def texts_of(value):
    """Return the ways in which JSON is written."""
    yield json.dumps(value, ensure_ascii=False)
    yield json.dumps(value)
    yield json.dumps(value, ensure_ascii=False, indent=2)
    yield json.dumps(value, separators=(",", ":")).replace('"merges":[', '"merges" \t:\r\n[ \n')


def random_pairs(rng):
    def token():
        return "".join(rng.choices(ALPHABET, k=rng.choice([1, 1, 2, 3, 9])))

    return [[token(), token()] for _ in range(rng.randint(1, 40))]


def test_merges_and_what_is_around_them():
    rng, compared = random.Random(5), 0
    for _ in range(150):
        pairs = random_pairs(rng)
        for listed in (pairs, [" ".join(pair) for pair in pairs]):
            value = {"model": {"vocab": {"merges": 1, "[": 2}, "merges": listed}, "é": ["]"]}
            for text in texts_of(value):
                short, merges = cut_merges(text.encode(), STUB)
                found = [[to_spelling(left), to_spelling(right)] for left, right in merges]
                assert found == pairs
                assert json.loads(short) == {**value, "model": {**value["model"], "merges": "stub"}}
                compared += 1
    print(f"{compared} lists compared")
    assert compared == 1200


@pytest.mark.parametrize("merges", ODD)
def test_anything_odd_is_left_to_python(merges):
    for text in texts_of({"merges": merges}):
        assert cut_merges(text.encode(), STUB) is None


def test_damaged_text_is_left_to_python():
    whole = json.dumps({"merges": [["\u0120", '"'], ["a", "\\"]]}).encode()
    end = whole.index(b"]]") + 2
    for size in range(whole.index(b"[") + 1, end):
        assert cut_merges(whole[:size], STUB) is None
    assert cut_merges(whole[:end], STUB) is not None
    assert cut_merges(whole.replace(b"0120", b"01x0"), STUB) is None
    assert cut_merges(whole.replace(b"], [", b"],, ["), STUB) is None
    assert cut_merges(whole.replace(b'"a"', b'"stub"'), STUB) is None
    assert cut_merges(b'{"merges": 1}', STUB) is None


def outcome(parse, text):
    try:
        model = read_tokenizer_json(parse(text.encode(), "t.json"), "t.json").model
    except NumbatokError as error:
        return str(error)
    return model.tokens, tuple(model.merges)


DOCUMENTS = [
    {},
    {"model_merges": [["a", "b"], ["ab", "c"], ["a", "b"]]},  # twice
    {"model_merges": [["a", "b"], ["b", "a"]]},  # makes no token
    {"model_merges": [["a", "b"], ["ab", "x"]]},
    {"model_merges": 7},
    {"model_unk_token": "a", "model_vocab": {c: i for i, c in enumerate([*ALPHABET[1:], "ab"])}},
    {"model_type": "Unigram"},
]  # fmt: skip


@pytest.mark.parametrize("changes", DOCUMENTS)
def test_a_document_means_the_same(changes, monkeypatch):
    monkeypatch.setattr(json_model, "LARGE", 0)
    if "model_vocab" in changes:
        changes = {**changes, "model_merges": [["a", "b"]]}
    for text in texts_of(document(**changes)):
        found, expected = outcome(parse_large, text), outcome(parse_json, text)
        assert found == expected


def test_merges_elsewhere_and_broken_files(monkeypatch):
    monkeypatch.setattr(json_model, "LARGE", 0)
    for value in ([["merges"]], {"merges": [["a", "b"]]}, {"model": [], "merges": [["a", "b"]]}):
        data = json.dumps(value).encode()
        assert parse_large(data, "t.json") == value
    for data in (
        b'{"merges": [["a", "b"]],\n}',
        b'{"model": {"merges": [["a", "b"]], "merges": [["a", "b"]]}}',
    ):
        with pytest.raises(InvalidTokenizerFile) as expected:
            parse_json(data, "t.json")
        with pytest.raises(InvalidTokenizerFile) as found:
            parse_large(data, "t.json")
        assert str(found.value) == str(expected.value)
