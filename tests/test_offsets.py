import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbatok
from numbatok.verification.texts import sample_texts


@pytest.fixture(scope="module")
def variant(gpt2, tmp_path_factory):
    """Return a function that makes GPT-2's tokenizer.json with some fields changed."""
    plain = tmp_path_factory.mktemp("gpt2") / "tokenizer.json"
    gpt2.save(plain)
    root = json.loads(plain.read_text())

    def make(name, **fields):
        path = plain.with_name(f"{name}.json")
        path.write_text(json.dumps({**root, **fields}))
        return path

    return make


def spans(tokenizer, text, **options):
    return [tuple(span) for span in tokenizer.encode_with_offsets(text, **options).offsets.tolist()]


# --- the public cases -----------------------------------------------------------------------------


def test_tokens_that_share_a_character_all_report_it(gpt2):
    encoding = gpt2.encode_with_offsets("i ⭢ j")

    assert encoding.ids.tolist() == [72, 2343, 255, 95, 474]
    assert encoding.offsets.tolist() == [[0, 1], [1, 3], [2, 3], [2, 3], [3, 5]]
    assert spans(gpt2, "i ⭢ j", unit="bytes") == [(0, 1), (1, 3), (3, 4), (4, 5), (5, 7)]


def test_trimming_leaves_white_space_out(variant):
    step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    trimmed = numbatok.load(variant("trimmed", post_processor=step))

    assert spans(trimmed, "hi  there ") == [(0, 2), (3, 3), (4, 9), (10, 10)]
    step["trim_offsets"] = False
    assert spans(numbatok.load(variant("whole", post_processor=step)), "hi  there ") == [
        (0, 2), (2, 3), (3, 9), (9, 10),
    ]  # fmt: skip
    step["add_prefix_space"] = True
    prefixed = numbatok.load(variant("prefixed", pre_tokenizer=step, post_processor=step))
    assert spans(prefixed, "hi  there") == [(0, 2), (2, 3), (3, 9)]
    assert spans(prefixed, " hi") == [(0, 3)]


def test_what_a_normalizer_made_of_several_characters_has_them_all(variant):
    composed = numbatok.load(variant("composed", normalizer={"type": "NFC"}))

    assert spans(composed, "e\u0301x \u1100\u1161") == [
        (0, 2), (2, 3), (3, 4), (4, 6), (4, 6), (4, 6),
    ]  # fmt: skip


def test_what_stays_beside_a_change_keeps_its_place(variant):
    """As in tokenizers: only what changes shares a span."""
    composed = numbatok.load(variant("composed", normalizer={"type": "NFC"}))

    assert spans(composed, "b\u212a") == [(0, 1), (1, 2)]  # the Kelvin sign becomes K
    assert spans(composed, "b\u212a\u0316") == [(0, 1), (1, 2), (2, 3), (2, 3)]
    assert spans(composed, "\u212a\u212ab") == [(0, 2), (2, 3)]


def test_starts_are_those_of_decode_with_offsets(gpt2):
    assert [start for start, _ in spans(gpt2, "👍a")] == [0, 0, 1]
    assert [start for start, _ in spans(gpt2, "\u2028 ok")] == [0, 0, 1]
    assert spans(gpt2, b"a\xff b") == [(0, 1), (1, 2), (2, 4)]


# --- the rest of an Encoding ----------------------------------------------------------------------


def test_an_encoding_has_a_row_per_id(gpt2):
    encoding = gpt2.encode_with_offsets("Hello, world<|endoftext|>!", "recognize")

    assert encoding.ids.tolist() == [15496, 11, 995, 50256, 0]
    assert encoding.tokens == ("Hello", ",", "Ġworld", "<|endoftext|>", "!")
    assert encoding.word_ids.tolist() == [0, 1, 2, 3, 4]
    assert encoding.special_mask.tolist() == [0] * 5
    assert encoding.offsets.tolist()[3:] == [[12, 25], [25, 26]]
    assert (encoding.unit, len(encoding)) == ("chars", 5)
    assert repr(encoding) == "Encoding(5 ids, offsets in chars)"
    assert encoding.ids.dtype == np.uint32 and encoding.special_mask.dtype == np.uint8
    assert encoding.offsets.dtype == encoding.word_ids.dtype == np.int64


def test_an_empty_text_has_no_rows(gpt2):
    encoding = gpt2.encode_with_offsets("")

    assert encoding.offsets.shape == (0, 2) and len(encoding) == 0 and encoding.tokens == ()


def test_surrogates_count_as_the_str_counts_them(gpt2):
    """A pair is two characters of the str and one of the text; a lone one is U+FFFD."""
    assert spans(gpt2, "\ud83d\udc4da\ud800b") == [(0, 2), (0, 2), (2, 3), (3, 4), (4, 5)]
    assert gpt2.encode_with_offsets("a\ud83d").ids.tolist() == [64, 4210]


def test_errors_are_those_of_encode(gpt2):
    with pytest.raises(numbatok.SpecialTokenError, match="at byte 3"):
        gpt2.encode_with_offsets("é <|endoftext|>")
    with pytest.raises(numbatok.InvalidType, match="text is None"):
        gpt2.encode_with_offsets(None)
    with pytest.raises(numbatok.InvalidValue, match="unit is 'words'"):
        gpt2.encode_with_offsets("a", unit="words")
    with pytest.raises(numbatok.InvalidValue, match="'replace' changes it"):
        gpt2.encode_with_offsets(b"a", invalid="replace")


@given(data=st.binary(max_size=60))
def test_spans_tile_any_bytes(gpt2, data):
    encoding = gpt2.encode_with_offsets(data)
    starts, ends = encoding.offsets.T.tolist()

    assert encoding.ids.tolist() == gpt2.encode(data).tolist()
    assert [0, *ends] == [*starts, len(data)]
    pieces = [data[a:b] for a, b in zip(starts, ends, strict=True)]
    assert pieces == [gpt2.token_bytes(i) for i in encoding.ids.tolist()]


@given(text=st.text(max_size=60))
def test_words_are_the_pretokens(gpt2, text):
    encoding = gpt2.encode_with_offsets(text, unit="bytes")
    starts = encoding.offsets[:, 0]
    ends = gpt2.pretoken_ends(text)

    assert encoding.word_ids.tolist() == np.searchsorted(ends, starts, side="right").tolist()


# --- against tokenizers ---------------------------------------------------------------------------

ADDED = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
END = {**ADDED, "id": 50256, "content": "<|endoftext|>", "special": True}
MARKS = [
    {**END, "lstrip": True, "rstrip": True},
    {**ADDED, "id": 50257, "content": "qux", "special": False, "single_word": True},
    {**ADDED, "id": 50258, "content": "<s>", "special": True},
]
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {
        "<s>": {"id": "<s>", "ids": [50258], "tokens": ["<s>"]},
        "<|endoftext|>": {"id": "<|endoftext|>", "ids": [50256], "tokens": ["<|endoftext|>"]},
    },
}
TRIM = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
BYTE_LEVEL = {**TRIM, "add_prefix_space": False, "use_regex": False}
VARIANTS = {
    "plain": {},
    "prefix space": {"pre_tokenizer": TRIM},
    "prefix space, trim": {"pre_tokenizer": TRIM, "post_processor": TRIM},
    "dropped white space": {
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, BYTE_LEVEL],
        }
    },
    "trim": {"post_processor": TRIM},
    "trim with marks": {"post_processor": TRIM, "added_tokens": MARKS},
    "marks and template": {"post_processor": TEMPLATE, "added_tokens": MARKS},
    "one for one": {
        "added_tokens": [END],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Lowercase"},
                {"type": "Replace", "pattern": {"String": "e"}, "content": "xyz"},
                {"type": "Strip", "strip_left": True, "strip_right": True},
                {"type": "Prepend", "prepend": "_"},
            ],
        },
    },
}


def differences(tokenizer, reference, texts):
    """The texts whose encodings differ in any column, and how many were compared."""
    different, compared = [], 0
    for text in texts:
        ours = tokenizer.encode_with_offsets(text, "recognize", template=True)
        theirs = reference.encode(text)
        compared += 1
        if (
            ours.ids.tolist() != theirs.ids
            or [tuple(span) for span in ours.offsets.tolist()] != theirs.offsets
            or list(ours.tokens) != theirs.tokens
            or ours.special_mask.tolist() != theirs.special_tokens_mask
            or [None if w < 0 else w for w in ours.word_ids.tolist()] != theirs.word_ids
        ):
            different.append(text)
    return different, compared


@pytest.mark.oracle
@pytest.mark.parametrize("name", VARIANTS)
def test_encodings_equal_tokenizers(variant, name):
    tokenizers = pytest.importorskip("tokenizers")
    path = variant(name, **VARIANTS[name])
    added = ["<|endoftext|>", "<s>", "qux", " qux "]
    texts = [
        text
        for group in sample_texts([b" foo"], added, with_bytes=False, rounds=1)
        for text in group
    ]

    different, compared = differences(
        numbatok.load(path), tokenizers.Tokenizer.from_file(str(path)), texts[::5]
    )

    print(f"{name}: {compared} encodings compared")
    assert compared > 1000
    assert different == []


@pytest.mark.oracle
def test_the_comparison_sees_a_span_that_is_off_by_one(gpt2, variant):
    tokenizers = pytest.importorskip("tokenizers")
    plain = tokenizers.Tokenizer.from_file(str(variant("plain")))

    class OffByOne:
        def encode_with_offsets(self, *arguments, **options):
            encoding = gpt2.encode_with_offsets(*arguments, **options)
            encoding.offsets[-1, 1] += 1
            return encoding

    assert differences(OffByOne(), plain, ["a b"]) == (["a b"], 1)
