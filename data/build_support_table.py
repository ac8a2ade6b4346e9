"""Write the README's table of published tokenizers: what loads, and what is refused and why.

    python data/build_support_table.py

The files are read from `../shared/vocabs`, or `vocabs` under NUMBATOK_SHARED. Each is loaded; that
its ids are right is what the tests compare. A test compares the README with what this writes.
"""

from __future__ import annotations

import lzma
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numbatok  # noqa: E402

README = ROOT / "README.md"
VOCABS = Path(os.environ.get("NUMBATOK_SHARED", ROOT.parent / "shared")) / "vocabs"
BEGIN, END = "<!-- loads:begin -->", "<!-- loads:end -->"

FILES = {
    "GPT-2": ("gpt2/tokenizer.json", "gpt2/r50k_base.tiktoken"),
    "GPT-4 (cl100k_base)": ("cl100k_base/cl100k_base.tiktoken", "cl100k_base/tokenizer.json"),
    "GPT-4o (o200k_base)": ("o200k_base/o200k_base.tiktoken", "o200k_base/tokenizer.json"),
    "gpt-oss": ("gpt-oss/tokenizer.json",),
    "Llama 3": ("llama3/tokenizer.json", "llama3/tokenizer.model"),
    "Qwen 2.5": ("qwen2.5/tokenizer.json",),
    "Qwen 3.5": ("qwen3.5/tokenizer.json",),
    "DeepSeek V3": ("deepseek_v3/tokenizer.json",),
    "DeepSeek Coder": ("deepseek_coder/tokenizer.json",),
    "GLM 5": ("glm5/tokenizer.json",),
    "Kimi K2": ("kimi_k2/tiktoken.model",),
    "MiniMax M2": ("minimax-m2/tokenizer.json",),
    "Mistral Nemo": ("mistral-nemo/tokenizer.json",),
    "Mistral tekken": ("mistral-tekken/tekken_240911.json",),
    "OLMo": ("olmo/allenai_dolma2.json", "olmo/allenai_gpt-neox-olmo-dolma-v1_5.json"),
    "Command R+": ("command-r-plus/tokenizer.json",),
    "Whisper": ("whisper/multilingual.tiktoken", "whisper/gpt2.tiktoken"),
    "ModernBERT": ("modernbert/modernbert.tiktoken",),
    "Gemma 3": ("gemma3/tokenizer.json",),
    "Llama 2": ("llama2/tokenizer.json",),
    "BERT": ("bert-uncased/tokenizer.json",),
    "Jiutian": ("jiutian-139moe/tokenizer.json",),
    "a SentencePiece model": ("sentencepiece-test/test_model.model",),
}


def outcome(packed: Path, folder: Path) -> str:
    """Return "loads", or what a file is refused for."""
    path = folder / packed.name.removesuffix(".xz")
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    try:
        numbatok.load(path)
    except numbatok.NumbatokError as error:
        return f"refused: {shortened(str(error).replace(str(path), '').strip(': '))}"
    return "loads"


def shortened(reason: str) -> str:
    """Return the first clause of a message, fit for a cell."""
    first = re.split(r"[.;](?:\s|$)|, which", reason)[0].removeprefix("is ")
    return first.replace("|", "\\|")[:120]


def table() -> str:
    """Return the table: a row for the files of a tokenizer that have the same outcome."""
    rows = ["| tokenizer | file | |", "|---|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        for label, files in FILES.items():
            by_outcome: dict[str, list[str]] = {}
            for file in files:
                found = outcome(VOCABS / f"{file}.xz", Path(name))
                by_outcome.setdefault(found, []).append(f"`{Path(file).name}`")
            rows += [f"| {label} | {', '.join(n)} | {found} |" for found, n in by_outcome.items()]
    return "\n".join(rows)


def with_table(text: str, made: str) -> str:
    """Return a README with the table between its marks."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8"), table()), encoding="utf-8")
