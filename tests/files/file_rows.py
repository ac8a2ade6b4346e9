"""What the tests of files share: rows in files of every kind, and what their output must hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="files need pyarrow")
import pyarrow.parquet as pq  # noqa: E402

EOS = 50256
WORDS = ["the", " tokenizer", "\n\n", "  ", " 2024", "日本語", "'s", " zq", "é", " word", "\t"]


def some_texts(n_rows, seed=0, longest=40, nulls=True):
    """Return texts of words, some empty and some None."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(n_rows):
        if nulls and number % 7 == 3:
            texts.append(None)
        else:
            n_words = int(rng.integers(0, longest))
            texts.append("".join(WORDS[i] for i in rng.integers(0, len(WORDS), n_words)))
    return texts


def write_parquet(path, texts, kind=None, **options):
    column = pa.array(texts, kind or pa.string())
    numbers = pa.array(range(len(texts)), pa.int32())
    options.setdefault("row_group_size", 50)
    pq.write_table(pa.table({"id": numbers, "text": column}), path, **options)
    return path


def write_json_lines(path, texts):
    lines = [json.dumps({"id": i, "text": t}) for i, t in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def ids_of(tok, texts, special="plain"):
    return [None if text is None else tok.encode(text, special).tolist() for text in texts]


def stream_of(tok, texts, eos=EOS):
    """Return the ids of all documents, each with eos behind it."""
    flat = []
    for ids in ids_of(tok, texts):
        if ids is not None:
            flat += [*ids, eos] if eos is not None else ids
    return flat
