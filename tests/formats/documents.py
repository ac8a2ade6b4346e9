"""Small tokenizer.json documents, and how they are read here and by Hugging Face."""

from __future__ import annotations

import copy
import json
from typing import Any

from numbatok.errors import NumbatokError
from numbatok.formats.byte_alphabet import CHARACTER_BY_BYTE
from numbatok.formats.strict_json import parse_json
from numbatok.formats.tokenizer_json import read_tokenizer_json
from numbatok.spec import TokenizerSpec

ALPHABET = [CHARACTER_BY_BYTE[byte] for byte in range(256)]
BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}


def document(**changes: Any) -> dict[str, Any]:
    """A tokenizer.json of 258 tokens; `model_x=` changes field x of its model."""
    vocab = {char: id for id, char in enumerate(ALPHABET)} | {"ab": 256, "abc": 257}
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "vocab": vocab,
        "merges": ["a b", "ab c"],
    }
    whole = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": model,
    }
    for key, value in copy.deepcopy(changes).items():
        if key.startswith("model_"):
            model[key.removeprefix("model_")] = value
        else:
            whole[key] = value
    return whole


def added(content: str, id: int, **flags: bool) -> dict[str, Any]:
    """An entry of added_tokens."""
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": id, "content": content, **dict.fromkeys(names, False), **flags}


def read(value: Any) -> TokenizerSpec:
    """Read a document, or JSON text, as numbatok does."""
    text = value if isinstance(value, (str, bytes)) else json.dumps(value, ensure_ascii=False)
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return read_tokenizer_json(parse_json(data, "t.json"), "t.json")


def read_or_error(value: Any) -> TokenizerSpec | NumbatokError:
    try:
        return read(value)
    except NumbatokError as error:
        return error


def hugging_face(value: Any) -> Any:
    """Return the tokenizer that `tokenizers` makes of a document, or None if it refuses it."""
    import tokenizers

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    try:
        return tokenizers.Tokenizer.from_str(text)
    except BaseException as error:  # a panic is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None
