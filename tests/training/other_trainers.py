"""Other trainers as oracles: each returns the products of its merges, in order."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from numbatok.reference.atoms import byte_alphabet

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_BYTE_OF = {chr(point): byte for byte, point in enumerate(byte_alphabet())}


def unspell(token: str) -> bytes:
    """Return the bytes of a token that is spelled in the byte alphabet."""
    return bytes(map(_BYTE_OF.__getitem__, token))


def huggingface(
    texts: Sequence[str], n_merges: int, specials: Sequence[str] = (), **options: object
) -> list[tuple[bytes, bytes]]:
    """Return the merges of tokenizers' BpeTrainer over GPT-2's byte-level pre-tokenizer."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=256 + n_merges + len(specials),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=list(specials),
        show_progress=False,
        **options,
    )
    tokenizer.train_from_iterator(texts, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(unspell(left), unspell(right)) for left, right in merges]


def rustbpe(texts: Sequence[str], n_merges: int) -> list[bytes]:
    """Return the products of rustbpe's merges."""
    trainer = pytest.importorskip("rustbpe").Tokenizer()
    trainer.train_from_iterator(iter(texts), 256 + n_merges, pattern=GPT2)
    return [token for token, rank in trainer.get_mergeable_ranks() if rank >= 256]


def bpeasy(texts: Sequence[str], n_merges: int) -> list[bytes]:
    """Return the products of bpeasy's merges; it prints, and wants a longest token."""
    library = pytest.importorskip("bpeasy")
    with _silence():
        ranks = library.train_bpe(iter(texts), GPT2, 1 << 30, 256 + n_merges)
    return [token for token, rank in sorted(ranks.items(), key=lambda item: item[1]) if rank >= 256]


def minbpe(words: Sequence[bytes], n_merges: int) -> list[tuple[bytes, bytes]]:
    """Return the merges of minbpe, by its rule: a dictionary of pairs in the order of the text.

    `words` are the pretokens of the text, repeated as they come. It is not on PyPI.
    """
    texts = [[bytes([byte]) for byte in word] for word in words]
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(n_merges):
        seen: dict[tuple[bytes, bytes], int] = {}
        for parts in texts:
            for k in range(len(parts) - 1):
                seen[parts[k], parts[k + 1]] = seen.get((parts[k], parts[k + 1]), 0) + 1
        if not seen:
            break
        most = max(seen.values())
        left, right = next(pair for pair, count in seen.items() if count == most)
        merges.append((left, right))
        for parts in texts:
            k = 0
            while k < len(parts) - 1:
                if parts[k] == left and parts[k + 1] == right:
                    parts[k : k + 2] = [left + right]
                k += 1
    return merges


@contextmanager
def _silence() -> Iterator[None]:
    """Send what a native library prints nowhere."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
