"""Where other libraries keep tokenizer files on this machine: tiktoken's cache, and the Hub's."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from numbatok.cache import cache_directory
from numbatok.errors import UnknownTokenizerName
from numbatok.formats.encodings import Encoding

HUB_ID = re.compile(r"[A-Za-z0-9][\w.\-]{0,95}(?:/[A-Za-z0-9][\w.\-]{0,95})?")
COMMIT = re.compile(r"[0-9a-f]{40}")


def encoding_paths(encoding: Encoding) -> Iterator[Path]:
    """Yield where the rank file of a published encoding may be, our own cache last.

    tiktoken keeps it under the SHA-1 of its address, in TIKTOKEN_CACHE_DIR, else in
    DATA_GYM_CACHE_DIR, else in `data-gym-cache` in the temporary folder; an empty variable turns
    its cache off.
    """
    if encoding.url is None or encoding.file is None:
        return
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            folder = os.environ[variable]
            break
    else:
        folder = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    if folder:
        yield Path(folder) / hashlib.sha1(encoding.url.encode()).hexdigest()
    yield fetched_path(encoding.file)


def fetched_path(file: str) -> Path:
    """Return where numbatok keeps a rank file that it fetched."""
    return cache_directory() / "encodings" / file


def find_encoding(encoding: Encoding) -> Path | None:
    """Return a cached rank file whose content is the published one, or None.

    The content is checked because the temporary folder is anybody's to write to.
    """
    for path in encoding_paths(encoding):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if hashlib.sha256(content).hexdigest() == encoding.sha256:
            return path
    return None


def hub_cache() -> Path:
    """Return the Hub's cache folder: HF_HUB_CACHE, else `hub` in HF_HOME, else in its default."""
    chosen = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    home = os.environ.get("HF_HOME")
    if not home:
        home = os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    return Path(home).expanduser() / "hub"


def repository_folder(name: str) -> Path:
    """Return the folder of a model in the Hub's cache; it need not exist."""
    return hub_cache() / ("models--" + name.replace("/", "--"))


def find_snapshot(name: str) -> Path | None:
    """Return the newest local snapshot of a model (that of `refs/main`), or None.

    Raises:
        UnknownTokenizerName: there are several snapshots and no `refs/main` says which one counts.
    """
    folder = repository_folder(name)
    try:
        commit = (folder / "refs" / "main").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        commit = ""
    snapshots = folder / "snapshots"
    if COMMIT.fullmatch(commit):
        return snapshots / commit if (snapshots / commit).is_dir() else None
    try:
        present = sorted(path for path in snapshots.iterdir() if path.is_dir())
    except OSError:
        return None
    if len(present) > 1:
        raise UnknownTokenizerName(
            f"{name!r} has {len(present)} snapshots in {snapshots} and no refs/main; "
            "pass the path of the one you mean."
        )
    return present[0] if present else None
