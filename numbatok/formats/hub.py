"""Fetching a model's tokenizer files from the Hugging Face Hub into its own cache layout.

    models--org--name/refs/main                  the commit
    models--org--name/blobs/HASH                 the files
    models--org--name/snapshots/COMMIT/FILE      links to them

so that other libraries find them too. The Hub publishes a hash of every file (SHA-256 of large
ones, the Git blob's SHA-1 of others), and each file is checked against it.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from numbatok.errors import UnknownTokenizerName
from numbatok.formats.atomic import own_path, write_whole
from numbatok.formats.download import Check, DownloadError, fetch, fetch_bytes, hash_check
from numbatok.formats.fields import Field
from numbatok.formats.local_caches import COMMIT, repository_folder
from numbatok.formats.strict_json import parse_json

ENDPOINT = "https://huggingface.co"
COMPANIONS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
SLOW_FILES = re.compile(
    r"vocab\.json|merges\.txt|tekken[\w.\-]*\.json|[\w.\-]+\.tiktoken|(tiktoken|tokenizer)\.model"
)
HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class HubFile:
    """A file of a commit and its published hash: 64 digits of SHA-256, or 40 of a Git blob."""

    name: str
    hash: str


def fetch_model(name: str) -> Path:
    """Fetch the tokenizer files of a model's main branch and return its snapshot folder.

    HF_ENDPOINT names another server, HF_TOKEN a token for private and gated models, and
    HF_HUB_OFFLINE forbids the network.

    Raises:
        DownloadError: the server does not answer, or there is no such model.
        UnknownTokenizerName: the model has no tokenizer file.
        InvalidTokenizerFile: a file is not the published one.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise DownloadError(f"{name!r} is not in the cache and HF_HUB_OFFLINE is set.")
    endpoint = (os.environ.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
    commit, files = _tokenizer_files(endpoint, name)
    folder = repository_folder(name)
    snapshot = folder / "snapshots" / commit
    try:
        for file in files:
            blob = folder / "blobs" / file.hash
            if not blob.exists():
                url = f"{endpoint}/{name}/resolve/{commit}/{file.name}"
                fetch(url, blob, _check(file), _headers())
        snapshot.mkdir(parents=True, exist_ok=True)  # not before every file is here
        for file in files:
            _link(folder / "blobs" / file.hash, snapshot / file.name)
        (folder / "refs").mkdir(exist_ok=True)
        write_whole(folder / "refs" / "main", [commit.encode()])
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(f"{name!r} could not be kept in {folder}: {error}.") from error
    return snapshot


def _tokenizer_files(endpoint: str, name: str) -> tuple[str, list[HubFile]]:
    """Return the newest commit, and of its files those that make up the tokenizer."""
    api = f"{endpoint}/api/models/{name}"
    commit = _json(f"{api}/revision/main").get("sha")
    if not COMMIT.fullmatch(commit.string()):
        raise commit.invalid(f"is {commit.string()[:60]!r}, expected a commit")
    entries = list(_json(f"{api}/tree/{commit.string()}").items())
    names = {entry.get("path").string(): entry for entry in entries}
    wanted = ["tokenizer.json"]
    if "tokenizer.json" not in names:
        wanted = [file for file in names if SLOW_FILES.fullmatch(file)]
        wanted += [file for file in COMPANIONS if wanted and file in names]
    if not wanted:
        raise UnknownTokenizerName(f"{name!r} has no tokenizer file on {endpoint}.")
    return commit.string(), [HubFile(file, _hash(names[file])) for file in wanted]


def _hash(entry: Field) -> str:
    large = entry.optional("lfs")
    published = (large or entry).get("oid")
    if not HASH.fullmatch(published.string()):
        raise published.invalid(f"is {published.string()[:80]!r}, expected a hash")
    return published.string()


def _check(file: HubFile) -> Check:
    if len(file.hash) == 64:
        return hash_check("sha256", file.hash)
    return hash_check("sha1", file.hash, prefix=True)


def _json(url: str) -> Field:
    return Field(parse_json(fetch_bytes(url, _headers()), url), "", url)


def _headers() -> dict[str, str]:
    token = os.environ.get("HF_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


def _link(blob: Path, place: Path) -> None:
    """Link a file into a snapshot; where links are not allowed (Windows), copy it."""
    temporary = own_path(place, "link")
    temporary.unlink(missing_ok=True)
    try:
        temporary.symlink_to(os.path.relpath(blob, place.parent))
    except OSError:
        shutil.copyfile(blob, temporary)
    os.replace(temporary, place)
