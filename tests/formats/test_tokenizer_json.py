import json

import pytest

from numbatok.compile import build_tables
from numbatok.errors import InvalidTokenizerFile, UnsupportedTokenizer
from numbatok.spec import (
    ByteLevel,
    CharDelimiterSplit,
    DecodeBpe,
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeFuse,
    DecodeMetaspace,
    DecodeStrip,
    DecodeWordPiece,
    Digits,
    FixedLength,
    Lowercase,
    Prepend,
    Punctuation,
    Replace,
    Split,
    Strip,
    StripAccents,
    Template,
    TemplatePart,
    UnicodeForm,
    UnicodeScripts,
    WhitespaceSplit,
    WhitespaceWords,
)
from numbatok.tokenizer import Tokenizer
from tests.formats.documents import ALPHABET, BYTE_LEVEL, added, document, hugging_face, read

VOCAB = document()["model"]["vocab"]
SPECIAL = [added("<s>", 258, special=True), added("</s>", 259, special=True)]
A, B = TemplatePart(text="A"), TemplatePart(text="B")
START, END = TemplatePart((258,)), TemplatePart((259,))


def special(id, type_id=0):
    return {"SpecialToken": {"id": id, "type_id": type_id}}


def text(id, type_id=0):
    return {"Sequence": {"id": id, "type_id": type_id}}


TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [special("<s>"), text("A")],
    "pair": [special("<s>"), text("A"), text("B", 1), special("</s>", 1)],
    "special_tokens": {
        "<s>": {"id": "<s>", "ids": [258], "tokens": ["<s>"]},
        "</s>": {"id": "</s>", "ids": [259, 7], "tokens": ["</s>", "x"]},
    },
}


def split(**changes):
    step = {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "Isolated", "invert": False}
    return {**step, **changes}


# --- what each field is read as -------------------------------------------------------------------


def test_smallest_file():
    spec = read({"model": document()["model"], "pre_tokenizer": BYTE_LEVEL})
    assert spec.model.tokens[b"abc"] == 257
    assert spec.model.tokens[b" "] == ALPHABET.index("Ġ")
    assert spec.model.merges == ((b"a", b"b"), (b"ab", b"c"))
    assert spec.decoders == ()
    assert (spec.added_tokens, spec.template, spec.normalizers) == ((), None, ())


@pytest.mark.parametrize("merges", [["a b", "ab c"], [["a", "b"], ["ab", "c"]]])
def test_both_encodings_of_merges(merges):
    assert read(document(model_merges=merges)).model.merges == ((b"a", b"b"), (b"ab", b"c"))


def test_version_lines_among_merges_are_no_merges():
    merges = ["#version: 0.2", "a b", "#version x y", "ab c"]
    assert len(read(document(model_merges=merges)).model.merges) == 2


def test_last_of_duplicate_merges_counts():
    vocab = {**VOCAB, "bc": 258}
    merges = ["a b", "b c", "ab c", "a b"]
    spec = read(document(model_vocab=vocab, model_merges=merges))
    assert spec.model.merges == ((b"b", b"c"), (b"ab", b"c"), (b"a", b"b"))
    assert hugging_face(document(model_vocab=vocab, model_merges=merges)).encode("abc").ids == [
        ALPHABET.index("a"),
        258,
    ]


def test_merges_of_tokens_with_spaces_are_read_from_pairs_and_left_out():
    vocab = {**VOCAB, "a ": 258, "a b": 259, " ": 260}
    spec = read(document(model_vocab=vocab, model_merges=[["a", " "], ["a ", "b"], ["a", "b"]]))
    assert spec.model.merges == ((b"a", b"b"),)
    assert spec.model.opaque == {"a ": 258, "a b": 259, " ": 260}


def test_vocabulary_with_holes_missing_bytes_and_opaque_strings():
    vocab = {char: 3 * id for id, char in enumerate(ALPHABET[:200])} | {"<｜x｜>": 1000, "": 1001}
    spec = read(document(model_vocab=vocab, model_merges=[]))
    assert len(spec.model.tokens) == 200
    assert spec.model.tokens[b"%"] == 3 * ALPHABET.index("%")
    assert spec.model.opaque == {"<｜x｜>": 1000, "": 1001}


def test_model_without_type():
    model = document()["model"]
    del model["type"]
    assert read(document(model=model)).model == read(document()).model


def test_model_flags():
    spec = read(document(model_ignore_merges=True, model_fuse_unk=True, model_byte_fallback=True))
    assert spec.model.ignore_merges and spec.model.fuse_unk and spec.model.byte_fallback
    nulls = document(model_ignore_merges=None, model_fuse_unk=None, model_byte_fallback=None)
    assert read(nulls).model == read(document()).model


def test_unknown_token_is_kept_where_it_can_arise():
    short = {string: id for string, id in VOCAB.items() if string != "d"} | {"<unk>": 258}
    assert read(document(model_vocab=short, model_unk_token="<unk>")).model.unk == "<unk>"
    assert read(document(model_unk_token="<unk>")).model.unk is None
    del short["<unk>"]
    with pytest.raises(UnsupportedTokenizer, match=r"model\.unk_token.*'d' first"):
        read(document(model_vocab=short, model_unk_token="<unk>"))


@pytest.mark.parametrize("value", [0, 0.0, None])
def test_no_dropout(value):
    assert read(document(model_dropout=value)).model == read(document()).model


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"type": "NFC"}, UnicodeForm("NFC")),
        ({"type": "NFD"}, UnicodeForm("NFD")),
        ({"type": "NFKC"}, UnicodeForm("NFKC")),
        ({"type": "NFKD"}, UnicodeForm("NFKD")),
        ({"type": "Lowercase"}, Lowercase()),
        ({"type": "Strip", "strip_left": True, "strip_right": False}, Strip(True, False)),
        ({"type": "StripAccents"}, StripAccents()),
        ({"type": "Prepend", "prepend": "_"}, Prepend("_")),
        (
            {"type": "Replace", "pattern": {"String": "a"}, "content": "b"},
            Replace("a", False, "b"),
        ),
        (
            {"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""},
            Replace("a+", True, ""),
        ),
    ],
)
def test_normalizers(step, expected):
    assert hugging_face(document(normalizer=step)) is not None
    assert read(document(normalizer=step)).normalizers == (expected,)
    inner = {"type": "Sequence", "normalizers": [step, step]}
    outer = {"type": "Sequence", "normalizers": [{"type": "NFC"}, inner, {"type": "NFD"}]}
    forms = UnicodeForm("NFC"), UnicodeForm("NFD")
    expected_chain = (forms[0], expected, expected, forms[1])
    assert read(document(normalizer=outer)).normalizers == expected_chain


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (split(), Split(r"\s+", True)),
        (split(pattern={"String": " "}, invert=True), Split(" ", False, "isolated", True)),
        (split(behavior="Removed"), Split(r"\s+", True, "removed")),
        (split(behavior="MergedWithPrevious"), Split(r"\s+", True, "merged_with_previous")),
        (split(behavior="MergedWithNext"), Split(r"\s+", True, "merged_with_next")),
        (split(behavior="Contiguous"), Split(r"\s+", True, "contiguous")),
        ({"type": "Digits", "individual_digits": True}, Digits(True)),
        ({"type": "Punctuation"}, Punctuation("isolated")),
        ({"type": "Punctuation", "behavior": "Contiguous"}, Punctuation("contiguous")),
        ({"type": "Whitespace"}, WhitespaceWords()),
        ({"type": "WhitespaceSplit"}, WhitespaceSplit()),
        ({"type": "CharDelimiterSplit", "delimiter": "-"}, CharDelimiterSplit("-")),
        ({"type": "FixedLength", "length": 3}, FixedLength(3)),
        ({"type": "FixedLength"}, FixedLength(5)),
        ({"type": "UnicodeScripts"}, UnicodeScripts()),
    ],
)
def test_pre_tokenizers(step, expected):
    byte_level = ByteLevel(False, True, True)
    after = {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, step]}
    nested = {
        "type": "Sequence",
        "pretokenizers": [{"type": "Sequence", "pretokenizers": [step]}, BYTE_LEVEL],
    }
    assert hugging_face(document(pre_tokenizer=after)) is not None
    assert read(document(pre_tokenizer=after)).pre_tokenizers == (byte_level, expected)
    assert read(document(pre_tokenizer=nested)).pre_tokenizers == (expected, byte_level)


def test_byte_level_without_use_regex_uses_it():
    step = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}
    assert read(document(pre_tokenizer=step)).pre_tokenizers == (ByteLevel(True, True, False),)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (BYTE_LEVEL, DecodeByteLevel()),
        ({"type": "Fuse"}, DecodeFuse()),
        ({"type": "ByteFallback"}, DecodeByteFallback()),
        ({"type": "Strip", "content": " ", "start": 1, "stop": 0}, DecodeStrip(" ", 1, 0)),
        ({"type": "Metaspace", "replacement": "_"}, DecodeMetaspace("_", "always")),
        (
            {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": False},
            DecodeMetaspace("_", "first"),
        ),
        ({"type": "WordPiece", "prefix": "##", "cleanup": True}, DecodeWordPiece("##", True)),
        ({"type": "BPEDecoder", "suffix": "</w>"}, DecodeBpe("</w>")),
        (
            {"type": "Replace", "pattern": {"String": "_"}, "content": " "},
            Replace("_", False, " "),
        ),
    ],
)
def test_decoders(step, expected):
    assert hugging_face(document(decoder=step)) is not None
    assert read(document(decoder=step)).decoders == (expected,)
    chain = {"type": "Sequence", "decoders": [step, {"type": "Sequence", "decoders": [step]}]}
    assert read(document(decoder=chain)).decoders == (expected, expected)


def test_no_decoder_and_an_empty_one():
    assert read(document(decoder=None)).decoders == ()
    assert hugging_face(document(decoder=None)).decode([0x21, 0x22]) == '! "'
    empty = {"type": "Sequence", "decoders": []}
    assert read(document(decoder=empty)).decoders == (DecodeFuse(),)
    assert hugging_face(document(decoder=empty)).decode([0x21, 0x22]) == '!"'


BERT = {"type": "BertProcessing", "cls": ["<s>", 258], "sep": ["</s>", 259]}
ROBERTA = {**BERT, "type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False}
TYPED_B, TYPED_END = TemplatePart(text="B", type_id=1), TemplatePart((259,), type_id=1)


@pytest.mark.parametrize(
    ("step", "template", "trimming"),
    [
        (None, None, None),
        (BYTE_LEVEL, None, ByteLevel(False, True, True)),
        (
            TEMPLATE,
            Template((START, A), (START, A, TYPED_B, TemplatePart((259, 7), type_id=1))),
            None,
        ),
        (BERT, Template((START, A, END), (START, A, END, TYPED_B, TYPED_END)), None),
        (
            ROBERTA,
            Template((START, A, END), (START, A, END, END, B, END)),
            ByteLevel(False, True, True),
        ),
    ],
)
def test_post_processors(step, template, trimming):
    spec = read(document(post_processor=step, added_tokens=SPECIAL))
    assert (spec.template, spec.offset_trimming) == (template, trimming)
    theirs = hugging_face(document(post_processor=step, added_tokens=SPECIAL))
    for texts, parts in ((("ab",), "single"), (("ab", "abc"), "pair")):
        encoding = theirs.encode(*texts)
        assert applied(template, parts, texts) == list(
            zip(encoding.ids, encoding.type_ids, strict=True)
        )


@pytest.mark.parametrize(
    "step",
    [
        {"strip_left": True, "strip_right": False, "normalizers": []},
        {"pattern": {"String": "a"}, "content": "b", "prepend": "x"},
        {"pattern": {"Regex": "a+"}, "content": ""},
        {"prepend": "x", "content": "y"},
        {"normalizers": [{"type": "NFC"}, {"prepend": "x"}]},
        {"normalizers": []},
    ],
)
def test_normalizers_without_a_type_are_told_apart_by_their_fields(step):
    same = hugging_face(document(normalizer=step))
    ours = Tokenizer(spec := read(document(normalizer=step)), build_tables(spec))
    for text in ["ab", " a b", "", "aab"]:
        assert ours.encode(text).tolist() == same.encode(text, add_special_tokens=False).ids


def test_a_bert_normalizer_without_a_type_is_refused_by_name():
    bare = {"clean_text": True, "handle_chinese_chars": True, "lowercase": True}
    with pytest.raises(UnsupportedTokenizer, match="normalizer is BertNormalizer"):
        read(document(normalizer=bare))


@pytest.mark.parametrize("step", [BERT, ROBERTA, TEMPLATE])
def test_post_processors_without_a_type_are_told_apart_by_their_fields(step):
    bare = {key: value for key, value in step.items() if key != "type"}
    assert hugging_face(document(post_processor=bare, added_tokens=SPECIAL)) is not None
    test_post_processors(
        bare,
        read(document(post_processor=step, added_tokens=SPECIAL)).template,
        read(document(post_processor=step, added_tokens=SPECIAL)).offset_trimming,
    )


def applied(template, parts, texts):
    """The ids and types that a template makes of "ab" and "abc"."""
    ids = {"A": 256, "B": 257}
    if template is None:
        return [(ids[name], place) for place, name in enumerate("AB"[: len(texts)])]
    return [
        (id, part.type_id)
        for part in getattr(template, parts)
        for id in (part.ids if part.text is None else (ids[part.text],))
    ]


def test_byte_level_and_template_in_a_sequence():
    both = {"type": "Sequence", "processors": [BYTE_LEVEL, TEMPLATE]}
    spec = read(document(post_processor=both, added_tokens=SPECIAL))
    assert spec.template is not None
    assert spec.offset_trimming == ByteLevel(False, True, True)


def test_truncation_and_padding_are_recorded():
    truncation = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    spec = read(document(truncation=truncation))
    assert spec.truncation == truncation
    assert spec.padding is None


# --- what is refused, with the field and the feature named ---------------------------------------


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"model_type": "WordPiece"}, "model.type is WordPiece"),
        ({"model_type": "Unigram"}, "model.type is Unigram"),
        ({"model_type": "WordLevel"}, "model.type is WordLevel"),
        ({"model_dropout": 0.1}, "model.dropout is 0.1"),
        ({"model_continuing_subword_prefix": "##"}, "model.continuing_subword_prefix is '##'"),
        ({"model_end_of_word_suffix": "</w>"}, "model.end_of_word_suffix is '</w>'"),
        ({"normalizer": {"type": "BertNormalizer"}}, "normalizer.type is BertNormalizer"),
        ({"normalizer": {"type": "Precompiled"}}, "normalizer.type is Precompiled"),
        ({"normalizer": {"type": "Nmt"}}, "normalizer.type is Nmt"),
        ({"normalizer": {"type": "ByteLevel"}}, "normalizer.type is ByteLevel"),
        ({"normalizer": {"type": "New"}}, "normalizer.type is 'New', an unknown type"),
        ({"pre_tokenizer": None}, "pre_tokenizer has no ByteLevel step"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer has no ByteLevel step"),
        ({"pre_tokenizer": {"type": "Metaspace"}}, "pre_tokenizer.type is Metaspace"),
        ({"pre_tokenizer": {"type": "BertPreTokenizer"}}, "pre_tokenizer.type is BertPreTokenizer"),
        (
            {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, BYTE_LEVEL]}},
            "2 ByteLevel steps",
        ),
        ({"decoder": {"type": "CTC"}}, "decoder.type is CTC"),
        (
            {"post_processor": {"type": "Sequence", "processors": [BERT, BERT]}},
            r"post_processor.processors\[1\] is the second step that adds ids",
        ),
        (
            {"model_byte_fallback": True, "model_vocab": {"a": 0}, "model_merges": []},
            "model.byte_fallback is true while 255 of the 256 bytes have no token",
        ),
    ],
)
def test_unsupported(changes, place):
    with pytest.raises(UnsupportedTokenizer, match=place) as caught:
        read(document(**changes))
    assert str(caught.value).startswith("t.json: ")


def without(key, value=None):
    value = document() if value is None else value
    return {name: inner for name, inner in value.items() if name != key}


INVALID = [
    (document(version="2.0"), "version is '2.0'"),
    (document(version=1.0), "version is 1.0, expected a string"),
    (document(foo=1), "foo is no field"),
    (document(added_tokens=None), "added_tokens is None, expected a list"),
    (without("model"), "the file has no 'model'"),
    (document(model=None), "model is None, expected an object"),
    (document(model=[]), "model is a list of 0, expected an object"),
    (document(model=without("vocab", document()["model"])), "model has no 'vocab'"),
    (document(model=without("merges", document()["model"])), "model has no 'merges'"),
    (document(model_vocab=[["a", 0]]), "model.vocab is a list of 1, expected an object"),
    (document(model_vocab={}), "model.vocab is empty"),
    (document(model_vocab={**VOCAB, "x1": 300.0}), r"model.vocab\['x1'\] is 300.0"),
    (document(model_vocab={**VOCAB, "x1": "300"}), r"model.vocab\['x1'\] is '300'"),
    (document(model_vocab={**VOCAB, "x1": True}), r"model.vocab\['x1'\] is True"),
    (document(model_vocab={**VOCAB, "x1": None}), r"model.vocab\['x1'\] is None"),
    (document(model_vocab={**VOCAB, "x1": -1}), r"model.vocab\['x1'\] is -1, expected 0"),
    (document(model_vocab={**VOCAB, "x1": 2**31}), r"model.vocab\['x1'\] is 2147483648"),
    (document(model_vocab={**VOCAB, "x1": 10**4000}), r"model.vocab\['x1'\] is an integer of 13"),
    (document(model_vocab={**VOCAB, "x1": 257}), r"model.vocab\['x1'\] is 257, the id of 'abc'"),
    (document(model_merges={"a": "b"}), "model.merges is an object of 1, expected a list"),
    (document(model_merges=["a b", ["ab", "c"]]), "model.merges must hold only strings or only"),
    (document(model_merges=[1, 2]), "model.merges must hold only strings or only"),
    (document(model_merges=["a b", "a b c"]), r"model.merges\[1\] is 'a b c': without exactly"),
    (document(model_merges=["ab"]), r"model.merges\[0\] is 'ab': without exactly one space"),
    (document(model_merges=[""]), r"model.merges\[0\] is '': without exactly one space"),
    (document(model_merges=["a\tb"]), r"model.merges\[0\]"),
    (document(model_merges=["a b", "a q1"]), r"model.merges\[1\] joins 'a' and 'q1', but 'q1'"),
    (document(model_merges=["a c"]), r"model.merges\[0\] joins 'a' and 'c', but 'ac' is not in"),
    (document(model_merges=[["a", "b"], ["a"]]), r"model.merges\[1\] has 1 parts, expected 2"),
    (document(model_merges=[["a", "b", "c"]]), r"model.merges\[0\] has 3 parts"),
    (document(model_merges=[["a", 1]]), r"model.merges\[0\]\[1\] is 1, expected a string"),
    (document(model_merges=[["a", ["b"]]]), r"model.merges\[0\]\[1\] is a list of 1"),
    (document(model_merges=[["", "a"]]), r"model.merges\[0\] joins '' and 'a', but '' is not"),
    (document(model_dropout=2), "model.dropout is 2, expected 0..1"),
    (document(model_dropout="x"), "model.dropout is no number"),
    (document(model_dropout=True), "model.dropout is no number"),
    (document(model_type="bpe"), "model.type is 'bpe', expected one of BPE"),
    (document(model_type=None), "model.type is None, expected a string"),
    (document(model_fuse_unk=1), "model.fuse_unk is 1, expected true or false"),
    (document(model_unk_token=3), "model.unk_token is 3, expected a string"),
    (document(normalizer=[]), "normalizer is a list of 0, expected an object"),
    (document(normalizer={}), "normalizer has no 'type'"),
    (document(normalizer={"type": "Sequence"}), "normalizer has no 'normalizers'"),
    (document(normalizer={"type": "Strip"}), "normalizer has no 'strip_left'"),
    (
        document(normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, 3]}),
        r"normalizer.normalizers\[1\] is 3, expected an object",
    ),
    (
        document(normalizer={"type": "Replace", "pattern": "a", "content": "b"}),
        "normalizer.pattern is 'a', expected an object",
    ),
    (document(pre_tokenizer=split(behavior="isolated")), "pre_tokenizer.behavior is 'isolated'"),
    (document(pre_tokenizer=split(invert=None)), "pre_tokenizer.invert is None"),
    (document(pre_tokenizer=split(pattern={})), "pre_tokenizer.pattern must have exactly one key"),
    (
        document(pre_tokenizer=split(pattern={"Regex": "a", "String": "b"})),
        "pre_tokenizer.pattern must have exactly one key",
    ),
    (document(pre_tokenizer=split(pattern={"regex": "a"})), "pre_tokenizer.pattern is 'regex'"),
    (
        document(pre_tokenizer={"type": "CharDelimiterSplit", "delimiter": "--"}),
        "pre_tokenizer.delimiter is '--', expected one character",
    ),
    (
        document(pre_tokenizer={"type": "FixedLength", "length": 0}),
        "pre_tokenizer.length is 0, expected 1",
    ),
    (document(pre_tokenizer=without("trim_offsets", BYTE_LEVEL)), "has no 'trim_offsets'"),
    (document(decoder={"type": "Strip", "content": "ab"}), "decoder.content is 'ab'"),
    (
        document(decoder={"type": "Metaspace", "replacement": "_", "add_prefix_space": False}),
        "decoder.add_prefix_space is false while prepend_scheme is 'always'",
    ),
    (
        document(post_processor={**TEMPLATE, "single": [special("x")]}),
        r"post_processor.single\[0\].SpecialToken.id is 'x', which special_tokens does not have",
    ),
    (document(post_processor={**TEMPLATE, "single": [text("B")]}), "single uses sequence B"),
    (document(post_processor={**TEMPLATE, "single": [text("C")]}), "id is 'C', expected one of"),
    (document(post_processor={**TEMPLATE, "single": ["$A"]}), r"single\[0\] is '\$A'"),
    (document(post_processor={**TEMPLATE, "single": [{}]}), r"single\[0\] must have exactly one"),
    (document(post_processor=without("pair", TEMPLATE)), "post_processor has no 'pair'"),
    (document(post_processor={**BERT, "cls": ["<s>"]}), "cls has 1 elements"),
    (document(post_processor={**BERT, "cls": ["<s>", -1]}), r"cls\[1\] is -1"),
    (document(truncation=[]), "truncation is a list of 0"),
    ([], "the file is a list of 0, expected an object"),
    (3, "the file is 3, expected an object"),
]


@pytest.mark.parametrize(("value", "place"), INVALID, ids=[place for _, place in INVALID])
def test_invalid(value, place):
    with pytest.raises(InvalidTokenizerFile, match=place) as caught:
        read(value)
    assert str(caught.value).startswith("t.json: ")
    assert len(str(caught.value)) < 600


def test_hugging_face_refuses_these_too_but_for_what_it_reads_carelessly():
    careless = (
        "the id of 'abc'",  # two strings with one id
        "2147483648",  # an id that would need a table of gigabytes
        "is empty",
        "expected 1",  # FixedLength(0) panics when it is used
        "special_tokens does not have",  # so do these two
        "single uses sequence B",
    )
    accepted = [
        place
        for value, place in INVALID
        if not any(word in place for word in careless) and hugging_face(value) is not None
    ]
    assert accepted == []
    print(f"{len(INVALID)} invalid files compared")
    assert len(INVALID) > 60


def test_deep_and_long_sequences_are_refused():
    step = {"type": "NFC"}
    for _ in range(100):
        step = {"type": "Sequence", "normalizers": [step]}
    assert read(document(normalizer=step)).normalizers == (UnicodeForm("NFC"),)
    many = {"type": "Sequence", "normalizers": [{"type": "NFC"}] * 2000}
    with pytest.raises(UnsupportedTokenizer, match="more than 1000 steps"):
        read(document(normalizer=many))


def test_large_names_do_not_make_large_messages():
    big = "x" * 1_000_000
    for value in (
        document(model_vocab={**VOCAB, big: -1}),
        document(model_merges=[[big, "a"]]),
        document(model_merges=[big]),
        document(model_type=big),
        document(normalizer={"type": big}),
        document(version=big),
        document(model_unk_token=big, model_vocab={"a": 0}, model_merges=[]),
        document(added_tokens=[added(big, 1) | {"id": big}]),
        json.dumps({big: 1}),
    ):
        with pytest.raises((InvalidTokenizerFile, UnsupportedTokenizer)) as caught:
            read(value)
        assert len(str(caught.value)) < 600
