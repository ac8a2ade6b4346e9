"""What names lead to, and digests that depend on all that decides a tokenizer."""

import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numbatok.errors import (
    InvalidTokenizerFile,
    InvalidType,
    InvalidValue,
    UnknownTokenizerName,
    UnsupportedTokenizer,
)
from numbatok.formats import Located, load_spec, locate
from numbatok.formats.encodings import ENCODINGS
from numbatok.formats.local_caches import encoding_paths, hub_cache
from tests.formats.documents import document

SHA1_OF_CL100K = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
COMMIT = "a" * 40


@pytest.fixture
def quiet(tmp_path, monkeypatch):
    """No caches but empty ones, and an empty current folder."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setenv("NUMBATOK_CACHE_DIR", str(tmp_path / "numbatok"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return tmp_path


def save(path, **changes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document(**changes)), encoding="utf-8")
    return path


# --- names ----------------------------------------------------------------------------------------


def test_built_in_name(quiet):
    source = load_spec("gpt2")
    assert (source.spec.name, source.description) == ("gpt2", "gpt2")
    assert len(source.digest) == 64
    assert locate("gpt2").digest == source.digest


def test_a_name_wins_over_a_folder_here_and_a_path_over_the_name(quiet):
    save(Path("gpt2/tokenizer.json"))
    assert load_spec("gpt2").spec.name == "gpt2"
    assert load_spec("./gpt2").spec.name is None
    assert load_spec(Path("gpt2")).spec.name is None


def test_files_and_folders(quiet):
    path = save(quiet / "m" / "tokenizer.json")
    digests = {
        locate(path).digest,
        locate(str(path)).digest,
        locate(path.parent).digest,
        locate(os.path.relpath(path)).digest,
    }
    assert len(digests) == 1
    renamed = quiet / "anything.bin"
    path.rename(renamed)
    assert locate(renamed).digest in digests


def test_relative_paths_are_kept_absolute(quiet, monkeypatch):
    save(quiet / "here" / "t.json")
    located = locate("t.json")
    monkeypatch.chdir(quiet)
    assert located.read().model.tokens[b"ab"] == 256


def test_tokenizer_json_comes_first_in_a_folder(quiet):
    save(quiet / "m" / "tokenizer.json")
    for name in ("tekken.json", "x.tiktoken", "vocab.json", "merges.txt", "tokenizer.model"):
        (quiet / "m" / name).write_text("nonsense")
    assert [role for role, _ in locate(quiet / "m").files] == ["file"]
    assert locate(quiet / "m").files[0][1].name == "tokenizer.json"


def test_nothing_of_that_name(quiet):
    with pytest.raises(UnknownTokenizerName, match=r"There is no file or folder '\./x\.json'"):
        locate("./x.json")
    with pytest.raises(UnknownTokenizerName, match="There is no file or folder"):
        locate(Path("gpt2"))
    with pytest.raises(UnknownTokenizerName, match=r"'org/model' is no .*pass download=True") as e:
        locate("org/model")
    assert str(hub_cache()) in str(e.value)
    with pytest.raises(UnknownTokenizerName):
        locate("gpt3")
    with pytest.raises(InvalidValue, match="source is empty"):
        locate("")
    for name in ("a" * 5000, "a\0b", json.dumps(document())):
        with pytest.raises(UnknownTokenizerName, match="no file or folder") as caught:
            locate(name)
        assert len(str(caught.value)) < 300


def test_folder_with_nothing_in_it(quiet):
    with pytest.raises(UnknownTokenizerName, match=r"holds no tokenizer file; looked for"):
        locate(quiet / "here")


def test_folder_with_several_files(quiet):
    for name in ("a.tiktoken", "b.tiktoken"):
        (quiet / "here" / name).write_text("IQ== 0\n")
    with pytest.raises(InvalidTokenizerFile, match=r"holds a.tiktoken, b.tiktoken; pass the path"):
        locate(quiet / "here")


FOREIGN = {
    "vocab.txt": (b"[PAD]\n[UNK]\n[CLS]\nthe\n", UnsupportedTokenizer, "WordPiece vocabulary"),
    "x.model": (b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02", UnsupportedTokenizer, "SentencePiece"),
    "x.gguf": (b"GGUF\x03\0\0\0", UnsupportedTokenizer, "GGUF"),
    "x.spm": (b"PHBhZD4= 0.0 3\n", UnsupportedTokenizer, "SentencePiece vocabulary with scores"),
    "x.json.gz": (b"\x1f\x8b\x08\0", InvalidTokenizerFile, "packed with gzip"),
    "x.xz": (b"\xfd7zXZ\0", InvalidTokenizerFile, "packed with xz"),
    "x.zip": (b"PK\x03\x04", InvalidTokenizerFile, "packed with zip"),
    "empty": (b"", InvalidTokenizerFile, "is empty .0 bytes"),
    "blank": (b" \n\t", InvalidTokenizerFile, "is empty .3 bytes"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\n", InvalidTokenizerFile, "Git LFS"),
    "text": (b"Hello there, world\n", InvalidTokenizerFile, "no tokenizer file that numbatok"),
    "page": (b"<!DOCTYPE html>\n<html>", InvalidTokenizerFile, "without vocab.json"),
    "zeros": (bytes(1000), InvalidTokenizerFile, "begins with"),
    "list": (b"[1, 2]", InvalidTokenizerFile, "is JSON but no tokenizer"),
    "config": (b'{"tokenizer_class": "X"}', InvalidTokenizerFile, "pass the folder that it is in"),
    "object": (b'{"a": {"b": 1}}', InvalidTokenizerFile, "is JSON but no tokenizer"),
    "cut": (b'{"model": {', InvalidTokenizerFile, "is no JSON"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_other_kinds(quiet, name):
    content, error, reason = FOREIGN[name]
    path = quiet / name
    path.write_bytes(content)
    with pytest.raises(error, match=reason) as caught:
        load_spec(path)
    assert str(path) in str(caught.value)


def test_no_regular_file(quiet):
    if hasattr(os, "mkfifo"):
        os.mkfifo(quiet / "pipe")
        with pytest.raises(InvalidTokenizerFile, match="is no file"):
            locate(quiet / "pipe")
    if os.path.exists("/dev/zero"):
        with pytest.raises(InvalidTokenizerFile, match="is no file"):
            locate("/dev/zero")


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [None, 3, b"gpt2", ["gpt2"], object()])
def test_source_of_a_wrong_type(source):
    with pytest.raises(InvalidType, match="expected a name or a path"):
        locate(source)


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"pattern": 3}, InvalidType, "pattern is 3"),
        ({"pattern": "nonsense"}, InvalidValue, "'nonsense' is no known name"),
        ({"special_tokens": ["a"]}, InvalidType, "expected a mapping"),
        ({"special_tokens": {"a": "1"}}, InvalidType, "expected str: int"),
        ({"special_tokens": {1: 1}}, InvalidType, "expected str: int"),
        ({"special_tokens": {"a": True}}, InvalidType, "expected str: int"),
        ({"pattern": "gpt2"}, InvalidValue, "has its own pattern"),
        ({"special_tokens": {}}, InvalidValue, "has its own pattern"),
    ],
)
def test_options_that_cannot_be_used(options, error, reason):
    with pytest.raises(error, match=reason):
        locate("gpt2", **options)


def test_options_on_a_tokenizer_json(quiet):
    path = save(quiet / "t.json")
    with pytest.raises(InvalidValue, match="has its own pattern"):
        locate(path, pattern="llama3")


# --- digests --------------------------------------------------------------------------------------


def test_digest_depends_on_content_and_options(quiet):
    import base64

    lines = b"".join(base64.b64encode(bytes([b])) + b" %d\n" % b for b in range(256))
    path = quiet / "x.tiktoken"
    path.write_bytes(lines)
    digests = [
        locate(path, pattern="gpt2").digest,
        locate(path, pattern="llama3").digest,
        locate(path, pattern="gpt2", special_tokens={}).digest,
        locate(path, pattern="gpt2", special_tokens={"<a>": 300}).digest,
        locate(path, pattern="gpt2", special_tokens={"<a>": 301}).digest,
    ]
    path.write_bytes(lines + b"YWI= 256\n")
    digests.append(locate(path, pattern="gpt2").digest)
    assert len(set(digests)) == len(digests)


def test_located_is_small_can_be_pickled_and_notices_a_change(quiet):
    path = save(quiet / "t.json")
    located = locate(path)
    assert len(pickle.dumps(located)) < 1000
    again = pickle.loads(pickle.dumps(located))
    assert isinstance(again, Located)
    assert again == located
    assert again.read() == located.read()
    save(path, model_ignore_merges=True)
    with pytest.raises(InvalidTokenizerFile, match="has changed since"):
        located.read()
    path.unlink()
    with pytest.raises(InvalidTokenizerFile, match="is no file"):
        located.read()


def test_locating_parses_nothing(quiet):
    """Content that starts like a tokenizer.json is hashed only; JSON readers are not imported."""
    path = quiet / "t.json"
    path.write_bytes(b'{"model": ' + b"not JSON at all")
    code = (
        "import sys; from numbatok.formats import locate; locate(sys.argv[1]);"
        "print([m for m in sys.modules if m.endswith(('json_model', 'tokenizer_json', 'numba'))])"
    )
    run = [sys.executable, "-c", code, str(path)]
    root = Path(__file__).resolve().parents[2]
    found = subprocess.run(run, cwd=root, capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_locating_ten_megabytes_is_quick(quiet):
    path = quiet / "t.json"
    path.write_bytes(b'{"model": "' + b"x" * 10_000_000)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        locate(path)
        seconds.append(time.perf_counter() - start)
    print(f"{min(seconds) * 1000:.1f} ms")
    assert min(seconds) < 0.5  # 6 ms on an idle core with SHA instructions, 25 ms without


# --- local caches ---------------------------------------------------------------------------------


def test_tiktoken_cache(quiet, vocab_file, monkeypatch):
    with pytest.raises(UnknownTokenizerName, match=r"looked for .*" + SHA1_OF_CL100K) as caught:
        locate("cl100k_base")
    assert "download=True" in str(caught.value)
    cached = quiet / "tiktoken" / SHA1_OF_CL100K
    cached.parent.mkdir()
    published = vocab_file("cl100k_base", "cl100k_base.tiktoken").read_bytes()
    cached.write_bytes(published)
    assert load_spec("cl100k_base").spec.name == "cl100k_base"
    cached.write_bytes(published[:-1])
    with pytest.raises(UnknownTokenizerName):
        locate("cl100k_base")

    cached.unlink()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(quiet / "gym"))
    (quiet / "gym").mkdir()
    (quiet / "gym" / SHA1_OF_CL100K).write_bytes(published)
    assert load_spec("cl100k_base").spec.name == "cl100k_base"


def test_tiktoken_default_cache_and_none(quiet, monkeypatch):
    encoding = ENCODINGS["o200k_base"]
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert [path.name for path in encoding_paths(encoding)] == ["o200k_base.tiktoken"]
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    assert next(iter(encoding_paths(encoding))).parent.name == "data-gym-cache"


def test_encodings_without_an_address(quiet):
    with pytest.raises(UnknownTokenizerName, match=r"pattern='llama4' if it is not recognized"):
        locate("llama4")
    with pytest.raises(UnknownTokenizerName):
        locate("llama4", download=True)


def snapshot(root, name="org/model", commit=COMMIT, main=True):
    folder = root / ("models--" + name.replace("/", "--"))
    save(folder / "snapshots" / commit / "tokenizer.json")
    if main:
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs" / "main").write_text(commit)
    return folder


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"])
def test_hub_cache(quiet, monkeypatch, variable):
    root = quiet / "cache"
    inside = {"HF_HUB_CACHE": "", "HF_HOME": "hub", "XDG_CACHE_HOME": "huggingface/hub"}
    monkeypatch.setenv(variable, str(root))
    snapshot(root / inside[variable])
    snapshot(root / inside[variable], "plain")
    assert load_spec("org/model").description == "org/model"
    assert load_spec("plain").spec.model.tokens[b"ab"] == 256
    with pytest.raises(UnknownTokenizerName):
        locate("org/other")


def test_hub_cache_follows_main(quiet, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(quiet))
    folder = snapshot(quiet)
    snapshot(quiet, commit="b" * 40)
    assert locate("org/model").files[0][1].parent.name == "b" * 40
    (folder / "refs" / "main").unlink()
    with pytest.raises(UnknownTokenizerName, match=r"has 2 snapshots .* and no refs/main"):
        locate("org/model")
    (folder / "refs" / "main").write_text("c" * 40)
    with pytest.raises(UnknownTokenizerName, match="pass download=True"):
        locate("org/model")


def test_hub_cache_without_main_but_one_snapshot(quiet, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(quiet))
    snapshot(quiet, main=False)
    assert locate("org/model").files


@pytest.mark.parametrize("name", ["../x", "a/../b", "a/b/c", "a\\b", "a//b", "a b", "~", "é"])
def test_names_that_are_no_hub_ids(quiet, name):
    with pytest.raises(UnknownTokenizerName, match="There is no file or folder"):
        locate(name)
