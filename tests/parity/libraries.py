"""tokenizers and tiktoken behind one interface, as oracles."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

Ids = list[int]


class Library(Protocol):
    """What a library makes of texts and of ids."""

    name: str
    has_streams: bool

    def encode(self, texts: Sequence[str], recognize: bool) -> list[Ids]:
        """Return the ids of texts, special tokens recognized or taken as plain text."""

    def template(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of texts with what the template puts around them."""

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Ids, Ids]]:
        """Return ids and type ids of pairs in the template."""

    def decode(self, rows: Sequence[Ids], skip_special: bool) -> list[str]:
        """Return the texts of rows of ids."""


class HuggingFace:
    """A tokenizers.Tokenizer."""

    has_streams = True

    def __init__(self, tokenizer: Any) -> None:
        import tokenizers

        self.name = f"tokenizers {tokenizers.__version__}"
        self.tokenizer = tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()

    @classmethod
    def of_file(cls, path: Path) -> HuggingFace:
        """Read a tokenizer.json."""
        return cls(pytest.importorskip("tokenizers").Tokenizer.from_file(str(path)))

    @classmethod
    def of_merges(cls, vocab: Path, merges: Path) -> HuggingFace:
        """Put GPT-2's two files together as transformers does."""
        tokenizers = pytest.importorskip("tokenizers")
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(vocab), str(merges)))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = tokenizers.decoders.ByteLevel()
        tokenizer.add_special_tokens([tokenizers.AddedToken("<|endoftext|>", normalized=False)])
        return cls(tokenizer)

    def encode(self, texts: Sequence[str], recognize: bool) -> list[Ids]:
        """Return the ids of texts without the template's."""
        self.tokenizer.encode_special_tokens = not recognize
        found = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def template(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of texts with what the post-processor adds."""
        self.tokenizer.encode_special_tokens = False
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Ids, Ids]]:
        """Return ids and type ids of pairs in the template."""
        self.tokenizer.encode_special_tokens = False
        return [(e.ids, e.type_ids) for e in self.tokenizer.encode_batch(list(pairs))]

    def decode(self, rows: Sequence[Ids], skip_special: bool) -> list[str]:
        """Return the texts of rows of ids."""
        return self.tokenizer.decode_batch(rows, skip_special_tokens=skip_special)

    def stream(self, ids: Ids, skip_special: bool) -> list[str | None]:
        """Return what the library's stream gives id by id, None where it waits."""
        from tokenizers.decoders import DecodeStream

        stream = DecodeStream(skip_special_tokens=skip_special)
        return [stream.step(self.tokenizer, i) for i in ids]


class TikToken:
    """A tiktoken.Encoding."""

    has_streams = False

    def __init__(
        self, name: str, pattern: str, ranks: dict[bytes, int], special: dict[str, int]
    ) -> None:
        tiktoken = pytest.importorskip("tiktoken")
        from importlib.metadata import version

        self.name = f"tiktoken {version('tiktoken')}"
        self._special = set(special.values())
        self.encoding = tiktoken.Encoding(
            name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special
        )

    @classmethod
    def of_ranks(cls, path: Path, meta: Path, special: dict[str, int]) -> TikToken:
        """Read a rank file, its pattern and its special tokens from meta.json if it names any."""
        facts = json.loads(meta.read_text())["files"][path.name]
        lines = (line.split() for line in path.read_bytes().splitlines() if line.strip())
        ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        named = facts.get("special") or special
        assert named == special, f"{path.name}: special tokens differ from meta.json's"
        return cls(path.stem, facts["pat_str"], ranks, named)

    @classmethod
    def of_tekken(cls, path: Path, special: dict[str, int]) -> TikToken:
        """Read a tekken.json as mistral-common does, ids already moved up by the special tokens."""
        whole = json.loads(path.read_text())
        config = whole["config"]
        n_special = config["default_num_special_tokens"]
        kept = whole["vocab"][: config["default_vocab_size"] - n_special]
        ranks = {base64.b64decode(e["token_bytes"]): e["rank"] + n_special for e in kept}
        return cls(path.stem, config["pattern"], ranks, special)

    def encode(self, texts: Sequence[str], recognize: bool) -> list[Ids]:
        """Return the ids of texts."""
        if recognize:
            return [self.encoding.encode(text, allowed_special="all") for text in texts]
        return [self.encoding.encode_ordinary(text) for text in texts]

    def template(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of texts: rank files have no template."""
        return self.encode(texts, recognize=True)

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Ids, Ids]]:
        """Return the ids of both texts, of types 0 and 1."""
        both = [self.encode(pair, recognize=True) for pair in pairs]
        return [(a + b, [0] * len(a) + [1] * len(b)) for a, b in both]

    def decode(self, rows: Sequence[Ids], skip_special: bool) -> list[str]:
        """Return the texts of rows of ids; tiktoken itself skips nothing."""
        if skip_special:
            rows = [[i for i in row if i not in self._special] for row in rows]
        return [self.encoding.decode(row) for row in rows]
