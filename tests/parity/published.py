"""The published files: which library says what each one means, or why it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numbatok
from numbatok.errors import InvalidTokenizerFile, InvalidValue, UnsupportedTokenizer
from tests.conftest import unpacked
from tests.parity.libraries import HuggingFace, Library, TikToken

# the library that defines the ids of each file that loads
LOADS = {
    "cl100k_base/tokenizer.json": "tokenizers",
    "command-r-plus/tokenizer.json": "tokenizers",
    "deepseek_coder/tokenizer.json": "tokenizers",
    "deepseek_v3/tokenizer.json": "tokenizers",
    "glm5/tokenizer.json": "tokenizers",
    "gpt-oss/tokenizer.json": "tokenizers",
    "gpt2/tokenizer.json": "tokenizers",
    "gpt2/encoder.json": "tokenizers",
    "gpt2/vocab.bpe": "tokenizers",
    "llama3/tokenizer.json": "tokenizers",
    "minimax-m2/tokenizer.json": "tokenizers",
    "mistral-nemo/tokenizer.json": "tokenizers",
    "o200k_base/tokenizer.json": "tokenizers",
    "olmo/allenai_dolma2.json": "tokenizers",
    "olmo/allenai_eleuther-ai-gpt-neox-20b-pii-special.json": "tokenizers",
    "olmo/allenai_gpt-neox-olmo-dolma-v1_5.json": "tokenizers",
    "qwen2.5/tokenizer.json": "tokenizers",
    "qwen3.5/tokenizer.json": "tokenizers",
    "cl100k_base/cl100k_base.tiktoken": "tiktoken",
    "gpt2/r50k_base.tiktoken": "tiktoken",
    "kimi_k2/tiktoken.model": "tiktoken",
    "llama3/tokenizer.model": "tiktoken",
    "o200k_base/o200k_base.tiktoken": "tiktoken",
    "qwen3.5/qwen3_6.tiktoken": "tiktoken",
    "whisper/gpt2.tiktoken": "tiktoken",
    "whisper/multilingual.tiktoken": "tiktoken",
    "mistral-tekken/tekken_240718.json": "tiktoken",
    "mistral-tekken/tekken_240911.json": "tiktoken",
    "modernbert/modernbert.tiktoken": "tiktoken",
}
MODERNBERT = {"[UNK]": 50280, "[CLS]": 50281, "[SEP]": 50282, "[PAD]": 50283, "[MASK]": 50284}
OPTIONS: dict[str, dict[str, Any]] = {  # what a rank file does not say
    "modernbert/modernbert.tiktoken": {"pattern": "gpt2", "special_tokens": MODERNBERT},
}

# the error and the words by which every other tokenizer file is refused
SENTENCEPIECE = (UnsupportedTokenizer, "is a SentencePiece model; numbatok reads byte-level BPE")
NO_BYTE_LEVEL = (UnsupportedTokenizer, "pre_tokenizer has no ByteLevel step")
SPELLED = (InvalidTokenizerFile, "spelled in GPT-2's byte alphabet")
REFUSED = {
    "bert-uncased/tokenizer.json": (UnsupportedTokenizer, "model.type is WordPiece"),
    "bert-uncased/vocab.txt": (UnsupportedTokenizer, "is a WordPiece vocabulary"),
    "clip/bpe_simple_vocab_16e6.txt.gz": (InvalidTokenizerFile, "packed with gzip"),
    "deepseek_v3/deepseek_v3.tiktoken": SPELLED,
    "gemma3/gemma3.spm": (UnsupportedTokenizer, "is a SentencePiece vocabulary with scores"),
    "gemma3/tokenizer.json": NO_BYTE_LEVEL,
    "jiutian-139moe/tokenizer.json": (UnsupportedTokenizer, "model.type is Unigram"),
    "llama2/tokenizer.json": NO_BYTE_LEVEL,
    "mistral-nemo/mistral_v3_tekken.tiktoken": SPELLED,
    "mistral-spm/tokenizer.model.v1": SENTENCEPIECE,
    "mistral-spm/mistral_instruct_tokenizer_240216.model.v2": SENTENCEPIECE,
    "mistral-spm/mistral_instruct_tokenizer_240323.model.v3": SENTENCEPIECE,
    "mistral-spm/mistral_instruct_tokenizer_241114.model.v7": SENTENCEPIECE,
    "modernbert/modernbert.tiktoken": (InvalidValue, "does not say how text is cut"),
    "sentencepiece-test/test_model.model": SENTENCEPIECE,
    "sentencepiece-test/test_ja_model.model": SENTENCEPIECE,
    "sentencepiece-test/seqio_1000_bpe_or_unigram.model": SENTENCEPIECE,
}
NO_TOKENIZER = (
    "meta.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "LICENSE",
    "botchan.txt",
)


@dataclass(frozen=True)
class Subject:
    """A loaded file and the library that it must equal."""

    file: str
    tokenizer: numbatok.Tokenizer
    library: Library
    added: tuple[str, ...]  # contents of all added tokens, special or not

    @property
    def pair_of_libraries(self) -> str:
        """Who is compared, for a message."""
        return f"{self.file} with {self.library.name}"


@cache
def path_of(file: str) -> Path:
    """Return the unpacked file, its neighbors beside it where one file is not enough."""
    if file in ("gpt2/encoder.json", "gpt2/vocab.bpe"):
        unpacked("vocabs/gpt2/encoder.json"), unpacked("vocabs/gpt2/vocab.bpe")
    return unpacked(f"vocabs/{file}")


def open_subject(file: str) -> Subject:
    """Load a file in numbatok and in its library."""
    tokenizer = numbatok.load(path_of(file), **OPTIONS.get(file, {}))
    added = tuple(token.content for token in tokenizer._spec.added_tokens)
    return Subject(file, tokenizer, library_of(file, tokenizer.special_tokens), added)


def library_of(file: str, special: dict[str, int]) -> Library:
    """Return the library's tokenizer of a file.

    `special` are the special tokens of a rank file whose meta.json names none.
    """
    path = path_of(file)
    if file in ("gpt2/encoder.json", "gpt2/vocab.bpe"):
        return HuggingFace.of_merges(path_of("gpt2/encoder.json"), path_of("gpt2/vocab.bpe"))
    if LOADS[file] == "tokenizers":
        return HuggingFace.of_file(path)
    if "tekken" in path.name:
        return TikToken.of_tekken(path, special)
    return TikToken.of_ranks(path, path_of(f"{file.split('/')[0]}/meta.json"), special)
