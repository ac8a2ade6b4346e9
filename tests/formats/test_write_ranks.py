"""What is written as .tiktoken is what was published, or is refused with the reason."""

import random
from dataclasses import replace

import pytest

from numbatok.errors import UnsupportedTokenizer
from numbatok.formats import load_spec, write
from numbatok.formats.gpt2 import read_gpt2
from numbatok.formats.ranks import read_ranks
from numbatok.formats.write_ranks import exportable_ranks
from numbatok.spec import AddedToken, BpeModel, Lowercase, TokenizerSpec
from tests.formats.documents import document, read
from tests.formats.merging import Merger

VOCAB = document()["model"]["vocab"]
SAME = {
    ("gpt2", "tokenizer.json"): ("gpt2", "r50k_base.tiktoken"),
    ("cl100k_base", "tokenizer.json"): ("cl100k_base", "cl100k_base.tiktoken"),
    ("olmo", "allenai_dolma2.json"): ("cl100k_base", "cl100k_base.tiktoken"),
    ("whisper", "multilingual.tiktoken"): ("whisper", "multilingual.tiktoken"),
    ("o200k_base", "tokenizer.json"): ("o200k_base", "o200k_base.tiktoken"),
    ("llama3", "tokenizer.json"): ("llama3", "tokenizer.model"),
    ("gpt-oss", "tokenizer.json"): ("o200k_base", "o200k_base.tiktoken"),
    ("kimi_k2", "tiktoken.model"): ("kimi_k2", "tiktoken.model"),
}
SLOW = ("olmo", "o200k_base", "llama3", "gpt-oss", "kimi_k2")


@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=pytest.mark.slow) if f[0] in SLOW else f for f in SAME],
    ids="/".join,
)
def test_published_files_are_reproduced_byte_for_byte(file, vocab_file, tmp_path):
    """A tokenizer.json leads to the rank file that it was once made from."""
    path = tmp_path / "x.tiktoken"
    write(load_spec(vocab_file(*file)).spec, path)
    assert path.read_bytes() == vocab_file(*SAME[file]).read_bytes()


def test_embedded_gpt2(vocab_file, tmp_path):
    write(read_gpt2(), tmp_path / "x.tiktoken")
    published = vocab_file("gpt2", "r50k_base.tiktoken").read_bytes()
    assert (tmp_path / "x.tiktoken").read_bytes() == published


def test_tekken_keeps_its_ids(vocab_file, tmp_path):
    spec = load_spec(vocab_file("mistral-tekken", "tekken_240911.json")).spec
    write(spec, tmp_path / "x.tiktoken")
    assert read_ranks((tmp_path / "x.tiktoken").read_bytes(), "x") == spec.model.tokens


def changed(**changes):
    return read(document(**changes))


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (replace(read(document()), normalizers=(Lowercase(),)), "text is normalized first"),
        (changed(model_vocab={**VOCAB, "a b": 300}), "not spelled in the byte alphabet .'a b'"),
        (
            changed(model_vocab={c: i for c, i in VOCAB.items() if c != "d"}),
            "1 bytes have no token .0x64 first",
        ),
        (
            changed(model_vocab={**VOCAB, "ab": 257, "abc": 256}),
            "ids do not rise with the order of merges .merge 1, of b'ab' and b'c', makes id 256",
        ),
        (
            changed(model_vocab={**VOCAB, "bc": 258}),
            r"a token is not its own encoding|a merge would be added .b'b' and b'c'",
        ),
        (
            changed(model_vocab={**VOCAB, "bc": 258}, model_ignore_merges=True),
            "a merge would be added .b'b' and b'c' join to id 258",
        ),
        (
            changed(model_vocab={**VOCAB, "xyz": 258}),
            "a token is not its own encoding .b'xyz', id 258",
        ),
    ],
)
def test_what_ranks_cannot_say(spec, reason):
    with pytest.raises(UnsupportedTokenizer, match=reason):
        exportable_ranks(spec)


def test_whole_tokens_are_returned_by_both_when_merges_are_ignored():
    spec = changed(model_vocab={**VOCAB, "xyz": 258}, model_ignore_merges=True)
    assert exportable_ranks(spec)[b"xyz"] == 258


def test_special_tokens_are_left_out_but_for_those_that_merges_use():
    spec = replace(
        read(document(model_vocab={**VOCAB, "<s>": 258})),
        added_tokens=(AddedToken("<s>", 258), AddedToken("ab", 256), AddedToken("a", VOCAB["a"])),
    )
    ranks = exportable_ranks(spec)
    assert b"<s>" not in ranks
    assert (ranks[b"ab"], ranks[b"a"]) == (256, VOCAB["a"])


def random_spec(rng):
    """A model of random merges over abc, with ids in their order or not quite."""
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    for _ in range(rng.randrange(1, 9)):
        left, right = (rng.choice([t for t in tokens if set(t) <= set(b"abc")]) for _ in "xx")
        merges.append((left, right))
        if left + right not in tokens:
            tokens.append(left + right)
    ids = list(range(len(tokens)))
    if rng.random() < 0.3:
        ids[256:] = rng.sample(ids[256:], len(ids) - 256)
    model = BpeModel(
        dict(zip(tokens, ids, strict=True)),
        tuple(dict.fromkeys(merges)),
        ignore_merges=rng.random() < 0.5,
    )
    return TokenizerSpec(model)


def test_random_models_give_the_same_ids_or_are_refused():
    rng = random.Random(17)
    exported = refused = compared = 0
    for _ in range(1500):
        spec = random_spec(rng)
        try:
            ranks = exportable_ranks(spec)
        except UnsupportedTokenizer:
            refused += 1
            continue
        exported += 1
        merges = Merger(spec.model)
        by_rank = Merger(BpeModel(ranks, None, ignore_merges=True))
        for _ in range(30):
            text = bytes(rng.choices(b"abc", k=rng.randrange(1, 12)))
            assert merges.encode(text) == by_rank.encode(text), (spec.model.merges, text)
            compared += 1
    print(f"{compared} texts of {exported} models equal, {refused} models refused")
    assert exported > 200
    assert refused > 200


def test_refusals_are_needed():
    """Without the checks some of the refused models would give other ids."""
    rng = random.Random(17)
    different = 0
    for _ in range(400):
        spec = random_spec(rng)
        try:
            exportable_ranks(spec)
        except UnsupportedTokenizer:
            merges = Merger(spec.model)
            by_rank = Merger(BpeModel(spec.model.tokens, None, ignore_merges=True))
            texts = [bytes(rng.choices(b"abc", k=rng.randrange(1, 12))) for _ in range(100)]
            different += any(merges.encode(text) != by_rank.encode(text) for text in texts)
    assert different > 50
