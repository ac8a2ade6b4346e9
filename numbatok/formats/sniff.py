"""What kind of file some bytes are, told from their beginning and never from a name."""

from __future__ import annotations

import re
from typing import Literal

from numbatok.errors import InvalidTokenizerFile, UnsupportedTokenizer

Kind = Literal["json", "vocab", "merges", "ranks"]

FIRST_NUMBER = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*-?[0-9]')
"""An object whose first value is a number: a vocab.json; a tokenizer.json has none such."""

RANK_LINE = re.compile(rb"[A-Za-z0-9+/]*={0,2}[ \t]+[0-9]{1,8}\r?")
MERGE = re.compile(rb"[^ \r\n]+ [^ \r\n]+\r?")

PACKED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"BZh": "bzip2"}
PACKED |= {b"\x28\xb5\x2f\xfd": "zstd"}


def kind_of(data: bytes, file: str) -> Kind:
    """Return the kind of a file: an object of JSON, ids by token, merges by line, or ranks.

    Raises:
        UnsupportedTokenizer: it is a tokenizer of another kind, such as SentencePiece's.
        InvalidTokenizerFile: it is none of these.
    """
    _refuse_foreign(data, file)
    start = data[:100_000].lstrip(b" \t\r\n")
    if start.startswith((b"{", b"[", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return "vocab" if FIRST_NUMBER.match(start) else "json"
    line = start.split(b"\n", 1)[0]
    if RANK_LINE.fullmatch(line):
        return "ranks"
    if line.startswith(b"#version") or MERGE.fullmatch(line):
        return "merges"
    raise InvalidTokenizerFile(
        f"{file} is no tokenizer file that numbatok knows: it begins with {data[:40]!r}. Known are "
        "tokenizer.json, tekken.json, rank files (.tiktoken) and vocab.json with merges.txt."
    )


def _refuse_foreign(data: bytes, file: str) -> None:
    if not data.strip():
        raise InvalidTokenizerFile(f"{file} is empty ({len(data)} bytes); get it again.")
    for magic, name in PACKED.items():
        if data.startswith(magic):
            raise InvalidTokenizerFile(f"{file} is packed with {name}; unpack it first.")
    if data.startswith(b"version https://git-lfs"):
        raise InvalidTokenizerFile(
            f"{file} is a Git LFS pointer and not the file it stands for; fetch it with `git lfs`."
        )
    named = None
    if data[0] == 0x0A and b"\x00" in data[:4096]:
        named = "a SentencePiece model"
    elif re.match(rb"[A-Za-z0-9+/=]+ -?[0-9.]+ [0-9]\n", data):
        named = "a SentencePiece vocabulary with scores"
    elif data.startswith(b"GGUF"):
        named = "a GGUF model"
    elif re.match(rb"(?:[^\s]{1,100}\r?\n){4}", data) and b"\n[UNK]" in data[:200_000]:
        named = "a WordPiece vocabulary, one token a line"
    if named:
        raise UnsupportedTokenizer(
            f"{file} is {named}; numbatok reads byte-level BPE only. "
            "Use the library that made the file."
        )
