"""The tokenizers and texts that are measured: a table of names, and how to find their files."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.libraries import Files
from benchmarks.places import unpacked

TEXTS = ("en", "code", "multilingual", "cjk", "web")
OTHER_TEXT = {"en": "code"}  # what "after another text" encodes first; every other text: en


@dataclass(frozen=True)
class Entry:
    """One tokenizer of the benchmark."""

    folder: str  # of the shared vocabularies
    json: str | None = "tokenizer.json"
    ranks: str | None = None  # a rank file whose pattern and special tokens meta.json holds
    oracle: str = "tokenizers 0.23.3"  # the library whose ids are right
    names: dict[str, str] = field(default_factory=dict)  # library -> its own name for it


TOKENIZERS = {
    "gpt2": Entry(
        "gpt2", ranks="r50k_base.tiktoken", oracle="tiktoken", names={"numbatok": "gpt2"}
    ),
    "cl100k": Entry(
        "cl100k_base",
        ranks="cl100k_base.tiktoken",
        oracle="tiktoken",
        names={"quicktok": "cl100k_base"},
    ),
    "o200k": Entry(
        "o200k_base",
        ranks="o200k_base.tiktoken",
        oracle="tiktoken",
        names={"quicktok": "o200k_base"},
    ),
    "llama3": Entry("llama3", ranks="tokenizer.model", names={"quicktok": "llama3"}),
    "qwen2.5": Entry("qwen2.5", names={"quicktok": "qwen3"}),  # the same vocabulary and pattern
    "qwen3.5": Entry("qwen3.5"),
    "deepseek_v3": Entry("deepseek_v3"),
    "glm5": Entry("glm5"),
    "kimi_k2": Entry(
        "kimi_k2",
        json=None,
        ranks="tiktoken.model",
        oracle="tiktoken",
        names={"gigatoken": "kimi"},
    ),
    "mistral-nemo": Entry("mistral-nemo"),
}


def files_of(name: str) -> Files:
    """Return the unpacked files of a tokenizer of the table.

    Raises:
        MissingData: the shared folder does not hold one of them.
    """
    entry = TOKENIZERS[name]
    meta = {}
    if entry.ranks:
        content = unpacked(f"vocabs/{entry.folder}/meta.json").read_bytes()
        meta = json.loads(content)["files"][entry.ranks]
    return Files(
        tokenizer=name,
        json=str(unpacked(f"vocabs/{entry.folder}/{entry.json}")) if entry.json else None,
        ranks=str(unpacked(f"vocabs/{entry.folder}/{entry.ranks}")) if entry.ranks else None,
        pattern=meta.get("pat_str"),
        special_tokens=meta.get("special", {}),
        names=entry.names,
    )


def text_path(name: str) -> Path:
    """Return the path of a text of the shared corpora.

    Raises:
        MissingData: the shared folder does not hold it.
    """
    return unpacked(f"corpora/{name}.txt")


def read_text(path: Path, limit: int) -> str:
    """Return the whole lines of a UTF-8 file that fit into `limit` bytes, line ends untouched.

    Where the first line is longer than that, its first characters.
    """
    data = path.read_bytes()
    if len(data) > limit:
        data = data[: data.rfind(b"\n", 0, limit) + 1 or limit]
        return data.decode("utf-8", errors="ignore")  # of a character that was cut in two
    return data.decode("utf-8")


def sha256(data: bytes) -> str:
    """Return the hexadecimal SHA-256 of data."""
    return hashlib.sha256(data).hexdigest()
