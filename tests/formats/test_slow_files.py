"""vocab.json with merges.txt, and the configuration that says how their text is cut."""

import json

import pytest

from numbatok.errors import InvalidTokenizerFile, InvalidValue, UnsupportedTokenizer
from numbatok.formats import load_spec, locate
from numbatok.pattern_names import QWEN2
from numbatok.spec import ByteLevel, Split, Template, TemplatePart, UnicodeForm
from tests.formats.documents import ALPHABET
from tests.formats.merging import Merger

VOCAB = {char: id for id, char in enumerate(ALPHABET)}
VOCAB |= {"ab": 256, "Ġab": 257, "<|endoftext|>": 258, "<s>": 259, "</s>": 260}
VOCAB |= {"<unk>": 261, "<pad>": 262, "<mask>": 263}
MERGES = "#version: 0.2\na b\nĠ ab\n"
PLACES = {char: ALPHABET.index(char) for char in "abcd"}


def folder(path, vocab=VOCAB, merges=MERGES, **configs):
    (path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    (path / "merges.txt").write_text(merges, encoding="utf-8", newline="")
    for name, value in configs.items():
        (path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "merges",
    [MERGES, MERGES[:-1], MERGES.replace("\n", "\r\n"), MERGES + "\n", MERGES.split("\n", 1)[1]],
)
def test_vocabulary_and_merges(tmp_path, merges):
    spec = load_spec(folder(tmp_path, merges=merges), pattern="gpt2").spec
    assert spec.model.merges == ((b"a", b"b"), (b" ", b"ab"))
    assert spec.model.tokens[b" ab"] == 257


def test_either_file_leads_to_both(tmp_path):
    folder(tmp_path)
    digests = {
        locate(tmp_path / name, pattern="gpt2").digest for name in ("vocab.json", "merges.txt", "")
    }
    assert len(digests) == 1
    (tmp_path / "vocab.json").rename(tmp_path / "mine-vocab.json")
    (tmp_path / "merges.txt").rename(tmp_path / "mine-merges.txt")
    assert locate(tmp_path / "mine-merges.txt", pattern="gpt2").digest in digests


@pytest.mark.parametrize("lonely", ["vocab.json", "merges.txt"])
def test_one_without_the_other(tmp_path, lonely):
    folder(tmp_path)
    other = {"vocab.json": "merges.txt", "merges.txt": "vocab.json"}[lonely]
    (tmp_path / other).unlink()
    with pytest.raises(InvalidTokenizerFile, match=f"without {other}"):
        locate(tmp_path / lonely, pattern="gpt2")


def test_pattern_is_never_guessed(tmp_path):
    with pytest.raises(InvalidValue, match=r"Pass pattern=.*gpt2"):
        load_spec(folder(tmp_path))


def test_special_tokens_argument(tmp_path):
    folder(tmp_path)
    spec = load_spec(tmp_path, pattern="llama3", special_tokens={"<s>": 259, "<new>": 300}).spec
    assert [(t.content, t.id, t.special) for t in spec.added_tokens] == [
        ("<s>", 259, True),
        ("<new>", 300, True),
    ]
    for wrong in ({"<s>": 300}, {"<new>": 0}):
        with pytest.raises(InvalidValue, match="special_tokens"):
            load_spec(tmp_path, pattern="llama3", special_tokens=wrong)


@pytest.mark.parametrize(
    ("merges", "reason"),
    [
        ("a b\nab", r"merges.txt: lines\[1\] is 'ab'"),
        ("a b\n\nab c\n", r"merges.txt: lines\[1\] is ''"),
        ("a b c\n", r"merges.txt: lines\[0\]"),
        ("a q1\n", r"merges.txt: lines\[0\] joins 'a' and 'q1', but 'q1' is not in"),
        ("\ufeffa b\n", "byte order mark"),
    ],
)
def test_broken_merges(tmp_path, merges, reason):
    with pytest.raises(InvalidTokenizerFile, match=reason):
        load_spec(folder(tmp_path, merges=merges), pattern="gpt2")


@pytest.mark.parametrize(
    ("vocab", "reason"),
    [
        ({"a": 0, "b": 0}, r"vocab\['b'\] is 0, the id of 'a' too"),
        ({"a": 0, "b": "1"}, r"vocab\['b'\] is '1', expected an integer"),
        ({"a": -1}, r"vocab\['a'\] is -1"),
    ],
)
def test_broken_vocabulary(tmp_path, vocab, reason):
    with pytest.raises(InvalidTokenizerFile, match=reason):
        load_spec(folder(tmp_path, vocab=vocab), pattern="gpt2")


# --- classes --------------------------------------------------------------------------------------

END = {"content": "<|endoftext|>", "special": True, "normalized": True}


def test_gpt2_class(tmp_path):
    config = {
        "tokenizer_class": "GPT2TokenizerFast",
        "add_prefix_space": True,
        "added_tokens_decoder": {"258": END, "263": {"content": "<mask>", "lstrip": True}},
    }
    spec = load_spec(folder(tmp_path, tokenizer_config=config)).spec
    assert spec.pre_tokenizers == (ByteLevel(True, True),)
    assert [(t.content, t.id, t.special, t.normalized, t.lstrip) for t in spec.added_tokens] == [
        ("<|endoftext|>", 258, True, True, False),
        ("<mask>", 263, False, False, True),
    ]
    assert (spec.template, spec.normalizers) == (None, ())
    assert spec.offset_trimming == ByteLevel(True, True, trim_offsets=False)


def test_gpt2_class_of_older_files(tmp_path):
    folder(
        tmp_path,
        tokenizer_config={"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True},
        special_tokens_map={"bos_token": END, "additional_special_tokens": ["<pad>"]},
        added_tokens={"<extra>": 300},
    )
    spec = load_spec(tmp_path).spec
    assert [(t.content, t.id, t.special) for t in spec.added_tokens] == [
        ("<|endoftext|>", 258, True),
        ("<pad>", 262, True),
        ("<extra>", 300, False),
    ]
    start = TemplatePart((258,))
    assert spec.template == Template(
        (start, TemplatePart(text="A")),
        (start, TemplatePart(text="A"), TemplatePart(text="B", type_id=1)),
    )


def test_roberta_class(tmp_path):
    spec = load_spec(
        folder(tmp_path, tokenizer_config={"tokenizer_class": "RobertaTokenizer"})
    ).spec
    start, end = TemplatePart((259,)), TemplatePart((260,))
    text, second = TemplatePart(text="A"), TemplatePart(text="B")
    assert spec.template == Template((start, text, end), (start, text, end, end, second, end))
    assert {t.content: t.lstrip for t in spec.added_tokens}["<mask>"]
    assert spec.offset_trimming == ByteLevel(False, True, trim_offsets=True)


def test_qwen2_class(tmp_path):
    config = {"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {"258": END}}
    spec = load_spec(folder(tmp_path, tokenizer_config=config)).spec
    assert spec.normalizers == (UnicodeForm("NFC"),)
    assert spec.pre_tokenizers[0] == Split(QWEN2, True)


@pytest.mark.parametrize(
    ("config", "error", "reason"),
    [
        ({"tokenizer_class": "CLIPTokenizer"}, UnsupportedTokenizer, "a CLIPTokenizer, which"),
        ({"tokenizer_class": 3}, InvalidTokenizerFile, "tokenizer_class is 3"),
        (
            {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": {"1": END}},
            InvalidTokenizerFile,
            "gives '<|endoftext|>' id 1, but the vocabulary gives it 258".replace("|", r"\|"),
        ),
        (
            {"tokenizer_class": "GPT2Tokenizer", "added_tokens_decoder": {"x": END}},
            InvalidTokenizerFile,
            "has the key 'x', expected an id",
        ),
        (
            {"tokenizer_class": "GPT2Tokenizer", "bos_token": "<new>"},
            UnsupportedTokenizer,
            "names '<new>', whose id no file states",
        ),
    ],
)
def test_configuration_that_cannot_be_followed(tmp_path, config, error, reason):
    with pytest.raises(error, match=reason):
        load_spec(folder(tmp_path, tokenizer_config=config))


def test_configuration_counts_in_the_digest(tmp_path):
    first = locate(folder(tmp_path, tokenizer_config={"tokenizer_class": "GPT2Tokenizer"})).digest
    again = locate(folder(tmp_path, tokenizer_config={"tokenizer_class": "Qwen2Tokenizer"})).digest
    assert first != again


@pytest.mark.oracle
def test_ids_equal_tokenizers(tmp_path, vocab_file, corpus):
    """A GPT-2 folder of slow files against Hugging Face's own reader of the two files."""
    tokenizers = pytest.importorskip("tokenizers")
    paths = [str(vocab_file("gpt2", name)) for name in ("encoder.json", "vocab.bpe")]
    theirs = tokenizers.models.BPE.from_file(*paths)
    merger = Merger(load_spec(paths[0]).spec.model)
    words = sorted(set(corpus("en")[:100_000].decode(errors="ignore").split()))
    compared = 0
    for word in words:
        if word.isascii() and word.isalpha():
            ids = [token.id for token in theirs.tokenize("Ġ" + word)]
            assert ids == merger.encode(b" " + word.encode()), word
            compared += 1
    print(f"{compared} words equal")
    assert compared > 1000


# --- folders with rank files ----------------------------------------------------------------------


def rank_folder(path, name, **configs):
    import base64

    lines = [base64.b64encode(bytes([b])) + b" %d\n" % b for b in range(256)]
    (path / name).write_bytes(b"".join(lines))
    for key, value in configs.items():
        (path / f"{key}.json").write_text(json.dumps(value))
    return path


def test_rank_file_of_a_known_class(tmp_path):
    config = {
        "tokenizer_class": "ChatGLM4Tokenizer",
        "added_tokens_decoder": {"300": {"content": "[gMASK]", "special": True}},
    }
    spec = load_spec(rank_folder(tmp_path, "tokenizer.model", tokenizer_config=config)).spec
    assert [(t.content, t.id) for t in spec.added_tokens] == [("[gMASK]", 300)]
    assert spec.engine == "tiktoken"


def test_rank_file_of_an_unknown_class_names_it_and_the_choices(tmp_path):
    rank_folder(tmp_path, "x.tiktoken", tokenizer_config={"tokenizer_class": "NewTokenizer"})
    with pytest.raises(InvalidValue, match=r"of a NewTokenizer.*cl100k.*o200k_harmony"):
        load_spec(tmp_path)
    with pytest.raises(InvalidValue, match=r"does not say how text is cut"):
        load_spec(tmp_path / "x.tiktoken")
    assert load_spec(tmp_path, pattern="cl100k").spec.added_tokens == ()


def test_a_name_with_another_file(tmp_path):
    rank_folder(tmp_path, "x.tiktoken")
    with pytest.raises(InvalidValue, match="has 256 ranks, but o200k_harmony has 199998"):
        load_spec(tmp_path / "x.tiktoken", pattern="o200k_harmony")


def test_kimi_folder_renames_special_tokens(tmp_path, vocab_file):
    model = vocab_file("kimi_k2", "tiktoken.model").read_bytes()
    (tmp_path / "tiktoken.model").write_bytes(model)
    config = {
        "tokenizer_class": "TikTokenTokenizer",
        "added_tokens_decoder": {"163589": {"content": "<|new|>", "special": True}},
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    ids = {token.content: token.id for token in load_spec(tmp_path).spec.added_tokens}
    assert ids["<|new|>"] == 163589
    assert ids["[BOS]"] == 163584
    assert "<|reserved_token_163589|>" not in ids
    assert len(ids) == 256
