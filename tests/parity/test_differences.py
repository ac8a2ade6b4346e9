"""The smallest documents of differences that random tokenizers have shown."""

from __future__ import annotations

import pytest

from numbatok.errors import UnsupportedTokenizer
from numbatok.tokenizer import _from_spec
from tests.formats.documents import ALPHABET, BYTE_LEVEL, added, document, hugging_face, read

pytest.importorskip("tokenizers")

WHOLE = {**BYTE_LEVEL, "use_regex": False}


def compare(value, *texts):
    ours, theirs = _from_spec(read(value)), hugging_face(value)
    expected = [theirs.encode(text).ids for text in texts]
    assert ours.encode_batch(texts, "recognize").to_list() == expected
    assert [ours.encode(text, "recognize").tolist() for text in texts] == expected


TAKERS = [
    [added("\n", 258, lstrip=True, rstrip=True)],
    [added("  ", 258, lstrip=True, rstrip=True, normalized=True)],
    [added("é", 258, rstrip=True), added("\n", 259, lstrip=True)],
    [added("é", 258, rstrip=True), added("\n", 259)],
]


@pytest.mark.parametrize("tokens", TAKERS)
@pytest.mark.parametrize("prefix", [False, True])
def test_white_space_that_is_taken_twice(tokens, prefix):
    """With the prefix space texts are prepared, without it the driver finds the tokens."""
    value = document(added_tokens=tokens, pre_tokenizer={**BYTE_LEVEL, "add_prefix_space": prefix})
    compare(value, "x\n\ny", "x \n\r\ny", "\n\n\n", "ab    _", "é \n", "é\n", "x é\né \n")


@pytest.mark.parametrize("pattern", [{"Regex": "^"}, {"Regex": "b*"}, {"String": ""}])
def test_a_replacement_of_nothing_is_refused(pattern):
    replace = {"type": "Replace", "pattern": pattern, "content": "x"}
    with pytest.raises(UnsupportedTokenizer, match=r"Replace: .* can match nothing"):
        _from_spec(read(document(normalizer=replace)))
    compare(document(normalizer={**replace, "content": ""}), "ab", "b", "é b")


def test_an_unknown_token_that_merges_is_refused():
    vocab = {c: i for i, c in enumerate(ALPHABET) if c != "A"} | {"'a": 256, "<unk>": 257}
    merges = [["'", "a"]]
    fields = {"model_vocab": vocab, "model_merges": merges, "pre_tokenizer": WHOLE}
    value = document(**fields, model_unk_token="a")
    assert hugging_face(value).encode("'A").ids == [256]
    with pytest.raises(UnsupportedTokenizer, match="'a', a part of merges"):
        read(value)
    compare(document(**fields, model_unk_token="<unk>"), "'A'a")


def test_added_tokens_that_normalization_leaves_nothing_or_the_same_of_are_refused():
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    nothing = [added("\n", 258, normalized=True)]
    with pytest.raises(UnsupportedTokenizer, match="nothing is left of it"):
        _from_spec(read(document(normalizer=strip, added_tokens=nothing)))
    twins = [added("HI", 258, normalized=True), added("hi", 259, normalized=True)]
    with pytest.raises(UnsupportedTokenizer, match="'HI' and 'hi' are the same"):
        _from_spec(read(document(normalizer={"type": "Lowercase"}, added_tokens=twins)))
    compare(document(added_tokens=twins), "HIhi")


def test_words_with_bytes_that_have_no_token():
    """With ignore_merges they are found in full buckets of the table, and among long words."""
    texts = [a + b + c for a in "AB" for b in "abcdefghij" for c in "abcdefghij"]
    texts += ["A" * n for n in (14, 15, 16, 17, 40)] + ["AbA", "AA", "xAy", ""]
    vocab = {c: i for i, c in enumerate(ALPHABET) if c != "A"}
    vocab |= {text: 300 + i for i, text in enumerate(texts[:-4])}
    fields = {"model_vocab": vocab, "model_merges": [], "pre_tokenizer": WHOLE}
    for unk in (None, "<unk>"):
        vocab["<unk>"] = 299
        compare(document(**fields, model_ignore_merges=True, model_unk_token=unk), *texts)
        compare(document(**fields, model_ignore_merges=False, model_unk_token=unk), *texts)


def template(single, pair):
    """Return a template whose parts are texts, and ids 3 where there is a dot."""
    special = {"s": {"id": "s", "ids": [3], "tokens": [ALPHABET[3]]}}
    single, pair = (
        [
            {"SpecialToken": {"id": "s", "type_id": 0}}
            if name == "."
            else {"Sequence": {"id": name, "type_id": number}}
            for number, name in enumerate(side)
        ]
        for side in (single, pair)
    )
    fields = {"single": single, "pair": pair, "special_tokens": special}
    return {"type": "TemplateProcessing", **fields}


@pytest.mark.parametrize("single", ["AA", ".A.A", ".", ""])
def test_a_template_with_a_text_twice_or_never_is_refused(single):
    value = document(post_processor=template(single, "AB"))
    repeated = hugging_face(value).encode("ab", add_special_tokens=False).ids
    assert repeated == [256] * single.count("A")
    with pytest.raises(UnsupportedTokenizer, match=f"has the text {single.count('A')} times"):
        _from_spec(read(value))


@pytest.mark.parametrize("pair", ["AB", "BA", ".B.A.B", "A", ".", "", "AAB"])
def test_a_template_of_a_pair_may_have_texts_anywhere(pair):
    value = document(post_processor=template(".A", pair))
    ours, theirs = _from_spec(read(value)), hugging_face(value)
    for texts in [("ab", "cab"), ("", "a"), ("", "")]:
        ids, types = ours.encode_pair(*texts)
        expected = theirs.encode(*texts)
        assert (ids.tolist(), types.tolist()) == (expected.ids, expected.type_ids)


def test_a_prefix_space_is_no_added_token():
    """It is put there after the search, also where the text goes the quick way."""
    space = {"added_tokens": [added(" ", 258, normalized=True, single_word=True)]}
    value = document(**space, pre_tokenizer={**WHOLE, "add_prefix_space": True})
    compare(value, "\t\tab", "ab", "\u3000 ab", "ab ", "")
