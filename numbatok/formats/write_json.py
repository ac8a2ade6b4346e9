"""Writing a tokenizer.json that Hugging Face's `tokenizers` loads and gives the same ids with."""

from __future__ import annotations

import json
import os
from typing import Any

from numbatok.errors import UnsupportedTokenizer
from numbatok.formats.atomic import write_whole
from numbatok.formats.byte_alphabet import to_spelling
from numbatok.formats.canonical import canonical_merges
from numbatok.formats.json_steps import (
    decoder_json,
    normalizer_json,
    post_processor_json,
    pre_tokenizer_json,
)
from numbatok.spec import AddedToken, TokenizerSpec

Json = dict[str, Any]


def write_tokenizer_json(spec: TokenizerSpec, path: str | os.PathLike[str]) -> None:
    """Write a tokenizer to `path` as tokenizer.json.

    The merges of a rank file are the ones that can happen in it, `ignore_merges` returns whole
    tokens, and added tokens whose ids Hugging Face would number otherwise are put into the
    vocabulary, where it takes ids from.

    Raises:
        UnsupportedTokenizer: the format cannot hold this tokenizer; the message names why.
        OSError: the file cannot be written.
    """
    text = json.dumps(to_document(spec), ensure_ascii=False, separators=(",", ":"))
    write_whole(path, [text.encode("utf-8"), b"\n"])


def to_document(spec: TokenizerSpec) -> Json:
    """Return the value that a tokenizer.json holds."""
    return {
        "version": "1.0",
        "truncation": spec.truncation,
        "padding": spec.padding,
        "added_tokens": [_added_json(token) for token in _by_id(spec)],
        "normalizer": normalizer_json(spec.normalizers),
        "pre_tokenizer": pre_tokenizer_json(spec.pre_tokenizers, spec.engine),
        "post_processor": post_processor_json(spec.template, spec.offset_trimming, names_of(spec)),
        "decoder": decoder_json(spec.decoders),
        "model": _model_json(spec),
    }


def names_of(spec: TokenizerSpec) -> dict[int, str]:
    """Return the string of each id as tokenizer.json spells it; of added tokens their content."""
    model = spec.model
    names = {id: to_spelling(token) for token, id in model.tokens.items()}
    names.update({id: string for string, id in model.opaque.items()})
    names.update({token.id: token.content for token in spec.added_tokens})
    return names


def _model_json(spec: TokenizerSpec) -> Json:
    model = spec.model
    merges = model.merges if model.merges is not None else canonical_merges(model.tokens)
    vocab = _vocabulary(spec)
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": model.unk,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": model.fuse_unk,
        "byte_fallback": model.byte_fallback,
        "ignore_merges": model.ignore_merges,
        "vocab": dict(sorted(vocab.items(), key=lambda item: item[1])),
        "merges": [[to_spelling(left), to_spelling(right)] for left, right in merges],
    }


def _vocabulary(spec: TokenizerSpec) -> dict[str, int]:
    """Return the vocabulary, with the added tokens whose ids do not follow from its size."""
    vocab = {to_spelling(token): id for token, id in spec.model.tokens.items()}
    vocab.update(spec.model.opaque)
    owners = {id: string for string, id in vocab.items()}
    for token in spec.added_tokens:
        if vocab.get(token.content, token.id) != token.id:
            raise _refused(token, f"whose string has id {vocab[token.content]} in the vocabulary")
        if owners.setdefault(token.id, token.content) != token.content:
            raise _refused(token, f"an id that {owners[token.id]!r} has too")
    if not _follow(spec, vocab):
        vocab.update({token.content: token.id for token in spec.added_tokens})
    return vocab


def _follow(spec: TokenizerSpec, vocab: dict[str, int]) -> bool:
    """Return whether Hugging Face numbers the added tokens as they are (see `json_added`)."""
    new = [token.id for token in _by_id(spec) if token.content not in vocab]
    return new == list(range(len(vocab), len(vocab) + len(new)))


def _by_id(spec: TokenizerSpec) -> list[AddedToken]:
    return sorted(spec.added_tokens, key=lambda token: token.id)


def _added_json(token: AddedToken) -> Json:
    return {
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }


def _refused(token: AddedToken, reason: str) -> UnsupportedTokenizer:
    return UnsupportedTokenizer(
        f"A tokenizer.json cannot hold the added token {token.content!r} with id {token.id}, "
        f"{reason}."
    )
