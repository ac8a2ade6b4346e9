"""Located: a tokenizer that was found but not read yet, with the digest of all that decides it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from numbatok.aside import Aside
from numbatok.cache import cache_directory, write_atomically
from numbatok.errors import InvalidTokenizerFile
from numbatok.formats.strict_json import MAX_BYTES, paused_collection
from numbatok.spec import TokenizerSpec

Kind = Literal["gpt2", "json", "pair", "ranks"]
Contents = Mapping[str, bytes]

WORTH_KEEPING = 1 << 20  # bytes of a file whose digest is kept: 1 ms
RESTED = 10 * 10**9  # nanoseconds without a change


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
        digest = Aside(lambda: self._digest_of(contents))
        with paused_collection():
            try:
                spec = _READERS[self.kind](self, contents)
            finally:
                if digest.result() != self.digest:
                    raise InvalidTokenizerFile(
                        f"{self.description} has changed since; load it again."
                    )
        return spec

    def _digest_of(self, contents: Contents) -> str:
        hashes = {role: hashlib.sha256(data).hexdigest() for role, data in contents.items()}
        return digest_of(self.kind, hashes, self.pattern, self.special_tokens, self.encoding)

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
    _check_file(path)
    return path.read_bytes()


def _check_file(path: Path) -> os.stat_result:
    if not path.is_file():
        raise InvalidTokenizerFile(f"{path} is no file; pass a tokenizer file or its folder.")
    status = path.stat()
    if status.st_size > MAX_BYTES:
        raise InvalidTokenizerFile(
            f"{path} has {status.st_size} bytes; tokenizer files above {MAX_BYTES} are refused."
        )
    return status


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a regular file, 64 hexadecimal digits.

    That of a file of megabytes is kept under the file's identity, size and times, and not computed
    again while these stay: 28 MB take 40 ms. A change always alters the time of the last change of
    status, unless it comes within the clock's resolution; so a file must have rested before.
    """
    status = _check_file(path)
    if status.st_size < WORTH_KEEPING or os.name != "posix":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    times = (status.st_mtime_ns, status.st_ctime_ns)
    identity = [os.path.abspath(path), status.st_dev, status.st_ino, status.st_size, *times]
    key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()
    kept = cache_directory() / "digests" / key
    with contextlib.suppress(OSError, ValueError):
        digest, check = kept.read_text("ascii").split(" ")
        if check == _check_of(key, digest):
            return digest
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if time.time_ns() - max(times) > RESTED:
        write_atomically(kept, [f"{digest} {_check_of(key, digest)}".encode()])
    return digest


def _check_of(key: str, digest: str) -> str:
    """Return what shows that a kept digest is whole and belongs to its key."""
    return hashlib.sha256(f"{key} {digest}".encode()).hexdigest()[:16]


def digest_of(
    kind: Kind,
    hashes: Mapping[str, str],
    pattern: str | None,
    special_tokens: tuple[tuple[str, int], ...] | None,
    encoding: str | None,
) -> str:
    """Return the digest of all that decides a tokenizer, given the SHA-256 of each file."""
    whole = [kind, hashes, pattern, special_tokens, encoding]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def _read_gpt2(located: Located, contents: Contents) -> TokenizerSpec:
    from numbatok.formats.gpt2 import read_gpt2

    return read_gpt2(contents["file"])


def _read_json(located: Located, contents: Contents) -> TokenizerSpec:
    from numbatok.formats.json_model import parse_large
    from numbatok.formats.tekken import is_tekken, read_tekken
    from numbatok.formats.tokenizer_json import read_tokenizer_json

    file = located.path("file")
    root = parse_large(contents["file"], file)
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
