"""GPT-2's ids equal those of tiktoken and tokenizers: real texts, all short strings, fuzz."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.oracles import first_difference, hugging_face_of, tiktoken_of

pytestmark = pytest.mark.oracle

# one or two representatives of every class and of every letter that a contraction has
ATOMS = ["'", "s", "l", "e", "v", "A", "é", "中", "1", "²", " ", "\n", "\t", "\u00a0", "\u3000",
         "!", "😀", "\u0301", "\x00", "\u2028"]  # fmt: skip
CORPORA = ["en", "code", "multilingual", "cjk", "web", "bible"]
CHUNK = 20_000


@pytest.fixture(scope="module")
def tiktoken_gpt2(vocab_file):
    return tiktoken_of(vocab_file("gpt2", "r50k_base.tiktoken"), vocab_file("gpt2", "meta.json"))


@pytest.fixture(scope="module")
def hugging_face_gpt2(vocab_file):
    return hugging_face_of(vocab_file("gpt2", "tokenizer.json"))


@pytest.mark.parametrize("name", CORPORA)
def test_a_real_text(gpt2, tiktoken_gpt2, corpus, name):
    text = corpus(name).decode()
    expected = tiktoken_gpt2.encode_ordinary(text)
    assert len(expected) > 100_000
    assert expected == gpt2.encode(text, "plain").tolist()
    print(f"{name}: {len(expected)} ids equal tiktoken's")


@pytest.mark.parametrize("name", CORPORA)
def test_a_real_text_with_hugging_face(gpt2, hugging_face_gpt2, corpus, name):
    lines = corpus(name)[:1_000_000].decode(errors="ignore").splitlines(keepends=True)
    expected = [e.ids for e in hugging_face_gpt2.encode_batch(lines)]
    actual = gpt2.encode_batch(lines, "recognize").to_list()
    assert first_difference(lines, expected, actual) is None
    print(f"{name}: {sum(map(len, expected))} ids of {len(lines)} lines equal Hugging Face's")


def test_every_short_string(gpt2, tiktoken_gpt2, hugging_face_gpt2):
    compared = 0
    strings = ("".join(s) for n in range(5) for s in itertools.product(ATOMS, repeat=n))
    while chunk := list(itertools.islice(strings, CHUNK)):
        actual = gpt2.encode_batch(chunk).to_list()
        expected = [tiktoken_gpt2.encode_ordinary(text) for text in chunk]
        assert first_difference(chunk, expected, actual) is None
        if compared % (4 * CHUNK) == 0:  # the third opinion is slow: on every fourth chunk
            expected = [e.ids for e in hugging_face_gpt2.encode_batch(chunk)]
            assert first_difference(chunk, expected, actual) is None
        compared += len(chunk)
    print(f"{compared} strings compared")
    assert compared == sum(len(ATOMS) ** n for n in range(5))


def fuzz(seed: int, count: int) -> list[str]:
    """Return random texts of words, runs and any characters."""
    rng = random.Random(seed)
    pool = [*ATOMS, "the", " and", "'ll", "'re", "'ve", "  ", "\r\n", "ing", "naïve", "ǅ", "ſ"]
    texts = []
    for _ in range(count):
        parts = rng.choices(pool, k=rng.randint(1, 12))
        if rng.random() < 0.3:
            parts.append(
                chr(rng.choice([rng.randrange(0x80, 0xD800), rng.randrange(0xE000, 0x110000)]))
            )
        if rng.random() < 0.1:
            parts.append(rng.choice(pool) * rng.randint(1, 90))
        rng.shuffle(parts)
        texts.append("".join(parts))
    return texts


def test_fuzz(gpt2, tiktoken_gpt2, hugging_face_gpt2):
    texts = fuzz(20261129, 100_000)
    actual = gpt2.encode_batch(texts).to_list()
    expected = [tiktoken_gpt2.encode_ordinary(text) for text in texts]
    assert first_difference(texts, expected, actual) is None
    sample = texts[::10]
    expected = [e.ids for e in hugging_face_gpt2.encode_batch(sample)]
    assert first_difference(sample, expected, actual[::10]) is None
    assert [gpt2.decode(ids) for ids in actual] == texts
    print(f"{len(texts)} texts compared with tiktoken, {len(sample)} with Hugging Face")


def test_a_wrong_id_is_caught():
    texts, ids = ["a", "b c"], [[64], [65, 269]]
    assert first_difference(texts, ids, ids) is None
    assert "'b c'" in first_difference(texts, ids, [[64], [65, 270]])


def test_special_tokens(gpt2, hugging_face_gpt2):
    for text in ["a<|endoftext|>b", "<|endoftext|>", "<|endoftext|><|endoftext|> x", "<|endoftext"]:
        assert hugging_face_gpt2.encode(text).ids == gpt2.encode(text, "recognize").tolist()
