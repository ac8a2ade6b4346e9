"""Located: a tokenizer that was found but not read yet, with the digest of all that decides it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from numbatok.errors import InvalidTokenizerFile
from numbatok.formats.strict_json import MAX_BYTES, paused_collection
from numbatok.spec import TokenizerSpec

Kind = Literal["gpt2", "json", "pair", "ranks"]
Contents = Mapping[str, bytes]


@dataclass(frozen=True)
class Located:
    """The files of a tokenizer and the options it was asked for with. Small, and may be pickled.

    files           path by role: "file" alone, or "vocab", "merges" and the files beside them
    pattern         as given: a name of `pattern_names`, of an encoding, or a regex
    special_tokens  as given: ids by content; None if not given
    encoding        the published encoding that was asked for by name
    digest          SHA-256 (64 hexadecimal digits) over kind, contents and options
    description     what a message calls it
    """

    kind: Kind
    files: tuple[tuple[str, Path], ...]
    pattern: str | None
    special_tokens: tuple[tuple[str, int], ...] | None
    encoding: str | None
    digest: str
    description: str

    def read(self) -> TokenizerSpec:
        """Read the files.

        Raises:
            InvalidTokenizerFile: a file is damaged, or is not the one that was located.
            UnsupportedTokenizer: a feature that numbatok does not reproduce exactly.
            OSError: a file cannot be read any more.
        """
        contents = {role: read_file(path) for role, path in self.files}
        options = (self.pattern, self.special_tokens, self.encoding)
        if digest_of(self.kind, contents, *options) != self.digest:
            raise InvalidTokenizerFile(f"{self.description} has changed since; load it again.")
        with paused_collection():
            return _READERS[self.kind](self, contents)

    def path(self, role: str) -> str:
        """Return the path of a role, for messages."""
        return str(dict(self.files)[role])


@dataclass(frozen=True)
class Source:
    """A tokenizer that was read: what it is, the digest of its files and options, and its name."""

    spec: TokenizerSpec
    digest: str
    description: str


def read_file(path: Path) -> bytes:
    """Return the content of a regular file of at most MAX_BYTES bytes."""
    if not path.is_file():
        raise InvalidTokenizerFile(f"{path} is no file; pass a tokenizer file or its folder.")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise InvalidTokenizerFile(
            f"{path} has {size} bytes; tokenizer files above {MAX_BYTES} are refused."
        )
    return path.read_bytes()


def digest_of(
    kind: Kind,
    contents: Contents,
    pattern: str | None,
    special_tokens: tuple[tuple[str, int], ...] | None,
    encoding: str | None,
) -> str:
    """Return the digest of all that decides a tokenizer; a 10 MB file takes about 6 ms."""
    hashes = {role: hashlib.sha256(data).hexdigest() for role, data in contents.items()}
    whole = [kind, hashes, pattern, special_tokens, encoding]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def _read_gpt2(located: Located, contents: Contents) -> TokenizerSpec:
    from numbatok.formats.gpt2 import read_gpt2

    return read_gpt2(contents["file"])


def _read_json(located: Located, contents: Contents) -> TokenizerSpec:
    from numbatok.formats.strict_json import parse_json
    from numbatok.formats.tekken import is_tekken, read_tekken
    from numbatok.formats.tokenizer_json import read_tokenizer_json

    file = located.path("file")
    root = parse_json(contents["file"], file)
    if isinstance(root, dict) and "model" in root:
        return read_tokenizer_json(root, file)
    if is_tekken(root):
        return read_tekken(root, file)
    hint = "Known are tokenizer.json (with a 'model') and tekken.json (with 'config' and 'vocab')."
    if isinstance(root, dict) and "tokenizer_class" in root:
        hint = "It looks like a tokenizer_config.json; pass the folder that it is in."
    raise InvalidTokenizerFile(f"{file} is JSON but no tokenizer. {hint}")


def _read_pair(located: Located, contents: Contents) -> TokenizerSpec:
    from numbatok.formats.slow_files import read_pair

    return read_pair(located, contents)


def _read_ranks(located: Located, contents: Contents) -> TokenizerSpec:
    from numbatok.formats.slow_files import read_rank_file

    return read_rank_file(located, contents)


_READERS: dict[Kind, Callable[[Located, Contents], TokenizerSpec]] = {
    "gpt2": _read_gpt2,
    "json": _read_json,
    "pair": _read_pair,
    "ranks": _read_ranks,
}
