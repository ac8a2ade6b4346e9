"""Cases from public bug reports that are about files."""

import pytest

from numbatok.errors import InvalidTokenizerFile, InvalidValue, UnsupportedTokenizer
from numbatok.formats import load_spec, write
from numbatok.formats.write_json import to_document
from tests.formats.documents import ALPHABET, added, document, hugging_face, read
from tests.formats.merging import Merger

VOCAB = document()["model"]["vocab"]
FILES = {
    "gpt2": ("gpt2", "r50k_base.tiktoken"),
    "cl100k": ("cl100k_base", "cl100k_base.tiktoken"),
    "o200k": ("o200k_base", "o200k_base.tiktoken"),
}


@pytest.mark.parametrize(
    ("name", "pretokens", "ids", "end"),
    [
        ("gpt2", [b".", b"data"], [13, 7890], 50256),
        ("cl100k", [b".data"], [2245], 100257),
        ("o200k", [b".data"], [3885], 199999),
    ],
)
def test_a_rank_file_has_its_own_pattern_and_special_ids(name, pretokens, ids, end, vocab_file):
    spec = load_spec(vocab_file(*FILES[name])).spec
    merger = Merger(spec.model)
    assert [id for pretoken in pretokens for id in merger.encode(pretoken)] == ids
    assert spec.added_tokens[0].content == "<|endoftext|>"
    assert spec.added_tokens[0].id == end


def test_a_rank_file_of_unknown_name_is_never_cut_by_a_default(vocab_file, tmp_path):
    path = tmp_path / "gpt2.tiktoken"
    path.write_bytes(vocab_file(*FILES["gpt2"]).read_bytes() + b"IHh4eHh4 50256\n")
    with pytest.raises(InvalidValue, match="Pass pattern="):
        load_spec(path)


def test_a_new_token_after_a_hole_gets_the_number_of_entries():
    vocab = {"a": 0, "b": 5}
    spec = read(document(model_vocab=vocab, model_merges=[], added_tokens=[added("<s>", 6)]))
    assert spec.added_tokens[0].id == 2


def runs(*lengths):
    return ["Ġ" * length for length in lengths]


def test_two_merges_with_one_product():
    vocab = {run: id for id, run in enumerate(runs(1, 2, 3, 4))}
    merges = [runs(1, 1), runs(2, 2), runs(2, 1), runs(1, 3)]
    spec = read(document(model_vocab=vocab, model_merges=merges))
    assert Merger(spec.model).encode(b" " * 7) == [3, 2]
    assert hugging_face(to_document(spec)).encode(" " * 7 + "\n").ids[-2:] == [3, 2]


def test_a_merge_with_a_missing_part_names_it():
    with pytest.raises(InvalidTokenizerFile, match=r"model\.merges\[0\].*'q' is not in"):
        read(document(model_vocab={"a": 0, "b": 1, "xyz": 2}, model_merges=[["a", "q"]]))


def test_tokens_with_spaces_are_read_from_pairs_only():
    vocab = VOCAB | {" " * n: 300 + n for n in range(1, 5)}
    pairs = [[" ", " "], ["  ", "  "], ["  ", " "], [" ", "   "]]
    assert read(document(model_vocab=vocab, model_merges=pairs)).model.merges == ()
    with pytest.raises(InvalidTokenizerFile, match="can be read in more than one way"):
        read(document(model_vocab=vocab, model_merges=[" ".join(pair) for pair in pairs]))


def test_a_token_of_newlines_survives_writing(tmp_path):
    vocab = VOCAB | {"ĊĊ": 258}
    spec = read(document(model_vocab=vocab, model_merges=[["Ċ", "Ċ"]]))
    write(spec, tmp_path / "t.json")
    assert load_spec(tmp_path / "t.json").spec == spec
    assert spec.model.merges == ((b"\n", b"\n"),)


@pytest.mark.parametrize("dropout", [1.0, 0.5, 1e-9])
def test_dropout_is_refused(dropout):
    with pytest.raises(UnsupportedTokenizer, match="ids would be random"):
        read(document(model_dropout=dropout))


def test_dropout_of_nothing_is_no_dropout():
    assert read(document(model_dropout=0.0)) == read(document())


def test_unknown_and_fused():
    vocab = {c: i for i, c in enumerate(ALPHABET) if c not in "xy"} | {"<unk>": 300}
    spec = read(
        document(model_vocab=vocab, model_merges=[], model_unk_token="<unk>", model_fuse_unk=True)
    )
    assert (spec.model.unk, spec.model.fuse_unk) == ("<unk>", True)
    assert b"x" not in spec.model.tokens


def test_byte_fallback_in_a_file_that_lacks_bytes_is_refused():
    """tokenizers 0.23.3 puts the unknown token behind the bytes that follow it."""
    vocab = {"<unk>": 0, "a": 1, "<0x0A>": 2, "<0xC3>": 3}
    with pytest.raises(UnsupportedTokenizer, match=r"model\.byte_fallback is true"):
        read(document(model_vocab=vocab, model_merges=[], model_byte_fallback=True))
