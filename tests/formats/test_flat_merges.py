"""Long lists of merges are read as short ones are."""

from __future__ import annotations

import sys

import pytest

from numbatok.compile import build_tables
from numbatok.errors import InvalidTokenizerFile, NumbatokError
from numbatok.formats import json_model, load_spec
from numbatok.memory import arrays_of
from numbatok.spec import Merges
from tests.formats.documents import document, read, read_or_error
from tests.parity.random_documents import RandomDocuments


def both_ways(monkeypatch, value):
    """Read a document as if its list were long, and as if it were short."""
    monkeypatch.setattr(json_model, "MANY", 1)
    flat = read_or_error(value)
    monkeypatch.setattr(json_model, "MANY", sys.maxsize)
    return flat, read_or_error(value)


def test_random_documents(monkeypatch):
    documents, n_flat, n_plain = RandomDocuments(5), 0, 0
    for _ in range(600):
        flat, plain = both_ways(monkeypatch, documents.document())
        if isinstance(plain, NumbatokError):
            assert str(flat) == str(plain)
            continue
        assert flat == plain
        n_flat += isinstance(flat.model.merges, Merges)
        n_plain += not isinstance(plain.model.merges, Merges)
    print(f"{n_flat} of {n_plain} lists read by the kernel, all equal")
    assert n_flat > 100
    assert n_plain > 300


VOCAB = {**document()["model"]["vocab"], "ca": 258, "é": 259, "a b": 260, "中": 261, "": 262}


@pytest.mark.parametrize(
    "merges",
    [
        *([["a", "b"], ["a", "b"]], [["a", "b"], ["ab", "c"], ["a", "b"]]),  # twice
        *([["a", "c"]], [["zz", "b"]], [["a", "zz"]], [["a", "中"]], [["中", "中"]]),  # missing
        *([["a", ""]], [["", "a"]], [["a", "b", "c"]], [["a"]], [["a", 1]], ["a  b"], ["ab"]),
        *(["a b", ["ab", "c"]], [{}], [None], ["#version: 0.2", "a b"], ["a b", "#version x"]),
        *([["Ġ", "a"]], [["c", "a"], ["a", "b"]], [["\ud83d", "a"]], [["😀", "a"]]),
    ],
)
def test_odd_lists(monkeypatch, merges):
    flat, plain = both_ways(monkeypatch, document(model_vocab=VOCAB, model_merges=merges))
    assert str(flat) == str(plain) if isinstance(plain, NumbatokError) else flat == plain


def test_a_broken_merge_in_a_long_list_is_named():
    merges = [["a", "b"]] * 30_000 + [["a", "q!"]]
    with pytest.raises(InvalidTokenizerFile, match=r"merges\[30000\] joins 'a' and 'q!'"):
        read(document(model_merges=merges))


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["gpt2", "llama3"])
def test_published_files(name, vocab_file, monkeypatch):
    path = vocab_file(name, "tokenizer.json")
    flat = load_spec(path).spec
    monkeypatch.setattr(json_model, "MANY", sys.maxsize)
    plain = load_spec(path).spec
    assert isinstance(flat.model.merges, Merges)
    assert flat == plain
    pairs = zip(arrays_of(build_tables(flat)), arrays_of(build_tables(plain)), strict=True)
    assert all(a.tobytes() == b.tobytes() for a, b in pairs)
