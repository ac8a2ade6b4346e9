"""The whole pipeline on published tokenizers, and the contract on bytes that are not UTF-8."""

from __future__ import annotations

import random

import pytest
import tiktoken
from tokenizers import Tokenizer

from numbatok import reference
from numbatok.errors import InvalidUtf8, SpecialTokenError
from numbatok.formats import load_spec
from numbatok.spec import BpeModel, ByteLevel, Template, TemplatePart, TokenizerSpec
from tests.reference.comparing import assert_equal, differences
from tests.reference.hard_texts import NASTY, REPRESENTATIVES, random_bytes, random_strings

HUB_FILES = {
    "gpt2": "tokenizer.json",
    "llama3": "tokenizer.json",
    "deepseek_coder": "tokenizer.json",
    "deepseek_v3": "tokenizer.json",
    "command-r-plus": "tokenizer.json",
    "glm5": "tokenizer.json",
    "gpt-oss": "tokenizer.json",
    "minimax-m2": "tokenizer.json",
    "mistral-nemo": "tokenizer.json",
    "qwen2.5": "tokenizer.json",
    "qwen3.5": "tokenizer.json",
    "cl100k_base": "tokenizer.json",
    "o200k_base": "tokenizer.json",
    "olmo": "allenai_gpt-neox-olmo-dolma-v1_5.json",
}
QUICK = {"gpt2", "deepseek_coder", "qwen3.5"}
RANK_FILES = {
    "r50k_base": "gpt2/r50k_base.tiktoken",
    "cl100k_base": "cl100k_base/cl100k_base.tiktoken",
    "o200k_base": "o200k_base/o200k_base.tiktoken",
    "kimi_k2": "kimi_k2/tiktoken.model",
}
CORPORA = ("en", "code", "multilingual", "cjk", "web")

HUB = [
    pytest.param(name, file, marks=[] if name in QUICK else pytest.mark.slow, id=name)
    for name, file in HUB_FILES.items()
]
RANKS = [
    pytest.param(name, file, marks=[] if name != "o200k_base" else pytest.mark.slow, id=name)
    for name, file in RANK_FILES.items()
]


def texts_for(spec: TokenizerSpec, corpus, count: int) -> list[str]:
    """Return stretches of real texts with added tokens dropped into them, and hard strings."""
    chance = random.Random(1)
    texts = [*NASTY, *random_strings(2, 60, REPRESENTATIVES, 20)]
    for name in CORPORA:
        text = corpus(name)[:400_000].decode("utf-8", errors="ignore")
        for _ in range(count):
            start = chance.randrange(len(text) - 200)
            texts.append(text[start : start + 200])
    contents = [token.content for token in spec.added_tokens] or [""]
    for number in range(0, len(texts), 2):
        place = chance.randint(0, len(texts[number]))
        content = chance.choice(contents)
        texts[number] = texts[number][:place] + content + texts[number][place:]
    return texts


def library_result(library: Tokenizer, text: str):
    ids = library.encode(text, add_special_tokens=False).ids
    return ids, library.encode(text).ids, library.decode(ids, skip_special_tokens=False)


def reference_result(spec: TokenizerSpec, text: str):
    ids = reference.encode(spec, text, special="recognize")
    whole = reference.encode(spec, text, special="recognize", template=True)
    return ids, whole, reference.decode(spec, ids)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "file"), HUB)
def test_published_files_equal_hugging_face(name, file, vocab_file, corpus):
    path = vocab_file(name, file)
    spec, library = load_spec(path).spec, Tokenizer.from_file(str(path))
    library.no_truncation()
    library.no_padding()
    assert_equal(
        name,
        texts_for(spec, corpus, 5),
        lambda text: library_result(library, text),
        lambda text: reference_result(spec, text),
    )


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "file"), RANKS)
def test_rank_files_equal_tiktoken(name, file, vocab_file, corpus):
    spec = load_spec(vocab_file(*file.split("/"))).spec
    specials = {token.content: token.id for token in spec.added_tokens}
    library = tiktoken.Encoding(
        name,
        pat_str=spec.pre_tokenizers[0].pattern,
        mergeable_ranks=dict(spec.model.tokens),
        special_tokens=specials,
    )
    texts = texts_for(spec, corpus, 5)
    assert_equal(
        name,
        texts,
        lambda text: library.encode(text, allowed_special="all"),
        lambda text: reference.encode(spec, text, special="recognize"),
    )
    assert_equal(
        f"{name}, plain",
        texts,
        library.encode_ordinary,
        lambda text: reference.encode(spec, text, special="plain"),
    )
    assert_equal(
        f"{name}, decoded",
        [library.encode_ordinary(text) for text in texts],
        library.decode,
        lambda ids: reference.decode(spec, ids),
    )


@pytest.fixture(scope="module")
def gpt2_spec():
    return load_spec("gpt2").spec


@pytest.mark.oracle
def test_comparison_sees_two_merges_swapped(gpt2_spec, vocab_file, corpus):
    library = Tokenizer.from_file(str(vocab_file("gpt2", "tokenizer.json")))
    merges = list(gpt2_spec.model.merges)
    merges[0], merges[200] = merges[200], merges[0]
    model = BpeModel(gpt2_spec.model.tokens, tuple(merges))
    broken = TokenizerSpec(model, pre_tokenizers=gpt2_spec.pre_tokenizers)
    _, lines = differences(
        texts_for(broken, corpus, 12),
        lambda text: library.encode(text, add_special_tokens=False).ids,
        lambda text: reference.encode(broken, text),
    )
    assert lines


# --- bytes that are not UTF-8 ---

REPRODUCERS = {
    # the bytes and their pretokens, hexadecimal
    "e0407970": ["e0", "40", "7970"],
    "898881ab": ["898881", "ab"],
    "b12773": ["b127", "73"],
    "bd9b9ae9": ["bd", "9b9ae9"],
    "c328": ["c3", "28"],
    "e282": ["e282"],
    "eda080": ["eda080"],
    "c0af": ["c0", "af"],
    "f09f": ["f09f"],
    "ff": ["ff"],
    "20ff": ["20ff"],
    "20af": ["20af"],
    "636166c3a9ff20776f726c64": ["636166c3a9ff", "20776f726c64"],
}


@pytest.mark.parametrize(("text", "pretokens"), REPRODUCERS.items())
def test_minimal_reproducers(gpt2_spec, text, pretokens):
    found = reference.pretokenize(gpt2_spec, bytes.fromhex(text))
    assert [pretoken.hex() for pretoken in found] == pretokens
    punctuated = reference.pretokenize(gpt2_spec, bytes.fromhex(text), invalid="punct")
    assert b"".join(punctuated).hex() == text


IDS = {
    "898881ab": [231, 230, 223, 104],
    "b12773": [109, 6, 82],
    "bd9b9ae9": [121, 249, 21253],
    "610062": [64, 188, 65],
    "61ff62": [64, 187, 65],
    "fffefd": [187, 186, 185],
    "61c32862": [64, 127, 7, 65],
    "3c7c656e646f66746578747c3e": [50256],
}


@pytest.mark.parametrize(("text", "ids"), IDS.items())
def test_ids_of_reproducers(gpt2_spec, text, ids):
    assert reference.encode(gpt2_spec, bytes.fromhex(text), special="recognize") == ids


def test_all_bytes_in_order(gpt2_spec):
    assert len(reference.encode(gpt2_spec, bytes(range(256)))) == 222


@pytest.mark.parametrize("invalid", ["byte-alphabet", "punct"])
def test_any_bytes_come_back(gpt2_spec, invalid):
    texts = [
        *random_bytes(7, 1_000, 12),
        *(bytes([a, b]) for a in range(128, 256) for b in range(0, 256, 3)),
    ]

    def there_and_back(data):
        return reference.decode_bytes(gpt2_spec, reference.encode(gpt2_spec, data, invalid=invalid))

    assert_equal(f"round trips under {invalid}", texts, lambda data: data, there_and_back)


def test_valid_text_is_the_same_under_every_policy(gpt2_spec):
    for text in [*NASTY, *random_strings(8, 200, REPRESENTATIVES, 20)]:
        ids = reference.encode(gpt2_spec, text)
        for invalid in ("byte-alphabet", "punct", "replace", "error"):
            assert reference.encode(gpt2_spec, text.encode(), invalid=invalid) == ids


def test_replaced_bytes_are_the_ids_of_the_decoded_text(gpt2_spec):
    assert_equal(
        "replaced bytes",
        list(random_bytes(9, 1_000, 12)),
        lambda data: reference.encode(gpt2_spec, data.decode("utf-8", errors="replace")),
        lambda data: reference.encode(gpt2_spec, data, invalid="replace"),
    )


def test_an_error_on_request(gpt2_spec):
    with pytest.raises(InvalidUtf8, match="byte 0xFF at position 1"):
        reference.encode(gpt2_spec, b"a\xff", invalid="error")


# --- cases that people reported ---

REPORTED = [
    # (text, ids of r50k_base, of cl100k_base)
    (".data", [13, 7890], [2245]),
    ("Hello  World", [15496, 220, 2159], [9906, 220, 4435]),
    ("a  b", [64, 220, 275], [64, 220, 293]),
    ("/*\r\n//\n", [15211, 201, 198, 1003, 198], [16764, 2341]),
    ("don'ts", [9099, 470, 82], [15357, 956, 82]),
    ("I'LL'VE", [40, 6, 3069, 6, 6089], [40, 6, 4178, 6, 4592]),
    ("'tis", [470, 271], [956, 285]),
    ("''s", [7061, 82], [4708, 82]),
    ("2023", [1238, 1954], [2366, 18]),
    (" Cafe\u0301", [26965, 136, 223], [43873, 54939]),
    ("ju\x16", [14396, 210], [8783, 210]),
    ("\x00\x00abc", [188, 188, 39305], [188, 188, 13997]),
    ("Ġ", [128, 254], [128, 254]),
    ("\ud83d\udc4d", [41840, 235], [9468, 239, 235]),
    ("a\ud83d", [64, 4210], [64, 5809]),
    ("", [], []),
]


@pytest.mark.parametrize("number", [1, 2])
def test_reported_cases(number, vocab_file):
    file = ("r50k_base", "cl100k_base")[number - 1]
    spec = load_spec(vocab_file(*RANK_FILES[file].split("/"))).spec
    for case in REPORTED:
        assert reference.encode(spec, case[0]) == case[number], case[0]
    bad = reference.encode(spec, b"\xff\xfe a")
    assert bad == [[187, 186, 257], [187, 186, 264]][number - 1]


def test_special_tokens_of_a_rank_file(vocab_file):
    spec = load_spec(vocab_file("cl100k_base", "cl100k_base.tiktoken")).spec
    text = "a<|endoftext|><|fim_prefix|>"
    plain = [64, 27, 91, 8862, 728, 428, 91, 1822, 91, 69, 318, 14301, 91, 29]
    assert reference.encode(spec, text, special="recognize") == [64, 100257, 100258]
    assert reference.encode(spec, text, special="plain") == plain
    for special in ("raise", {"<|endoftext|>"}):
        with pytest.raises(SpecialTokenError):
            reference.encode(spec, text, special=special)


# --- templates and other arguments ---


def with_template() -> TokenizerSpec:
    a, b = TemplatePart(text="A"), TemplatePart(text="B", type_id=1)
    begin, end = TemplatePart((300,)), TemplatePart((301, 302))
    return TokenizerSpec(
        model=BpeModel({bytes([byte]): byte for byte in range(256)}, ()),
        pre_tokenizers=(ByteLevel(False, use_regex=True),),
        template=Template(single=(begin, a, end), pair=(begin, a, end, b, a, end)),
    )


def test_templates():
    spec = with_template()
    assert reference.encode(spec, "ab") == [97, 98]
    assert reference.encode(spec, "ab", template=True) == [300, 97, 98, 301, 302]
    assert reference.encode_pair(spec, "a", "b") == [300, 97, 301, 302, 98, 97, 301, 302]
    assert reference.encode_pair(spec, "a", "b", template=False) == [97, 98]
    assert reference.encode_pair(
        TokenizerSpec(spec.model, pre_tokenizers=spec.pre_tokenizers), "", "b"
    ) == [98]


@pytest.mark.oracle
def test_pairs_equal_hugging_face(vocab_file):
    for name in ("deepseek_coder", "llama3"):
        path = vocab_file(name, "tokenizer.json")
        library, spec = Tokenizer.from_file(str(path)), load_spec(path).spec
        for pair in (("a b", "c"), ("", "c"), ("a", "")):
            assert reference.encode_pair(spec, *pair) == library.encode(*pair).ids


def test_pretokens_are_those_of_the_normalized_text(vocab_file):
    spec = load_spec(vocab_file("qwen2.5", "tokenizer.json")).spec
    assert reference.pretokenize(spec, "e\u0301 1") == ["é".encode(), b" ", b"1"]
    assert reference.pretokenize(spec, "") == []
