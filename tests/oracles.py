"""The libraries that numbatok's ids must equal; a test is skipped where one is not installed."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest


def tiktoken_of(ranks: Path, meta: Path):
    """Return tiktoken's encoding of a published rank file, its pattern and specials from meta."""
    tiktoken = pytest.importorskip("tiktoken")
    facts = json.loads(meta.read_text())["files"][ranks.name]
    lines = (line.split() for line in ranks.read_bytes().splitlines() if line.strip())
    return tiktoken.Encoding(
        ranks.stem,
        pat_str=facts["pat_str"],
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
        special_tokens=facts.get("special") or {},
    )


def hugging_face_of(path: Path):
    """Return Hugging Face's tokenizer of a tokenizer.json."""
    return pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))


def first_difference(texts, expected, actual) -> str | None:
    """Return a description of the first text whose ids differ, or None."""
    for text, one, other in zip(texts, expected, actual, strict=True):
        if list(one) != list(other):
            return f"{text!r}: expected {list(one)[:40]}, got {list(other)[:40]}"
    return None
