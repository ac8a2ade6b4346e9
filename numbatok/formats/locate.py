"""From what a user names to the files that decide: `locate`. Nothing is parsed here.

In this order: a built-in name; the name of a published encoding (its rank file in a local cache);
a path that exists, a file or a folder; a model in the Hub's local cache. With `download=True` what
is missing is fetched: published encodings and models of the Hub.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from numbatok.errors import InvalidType, InvalidValue, UnknownTokenizerName
from numbatok.formats.encodings import ENCODINGS
from numbatok.formats.local_caches import (
    HUB_ID,
    encoding_paths,
    find_encoding,
    find_snapshot,
    hub_cache,
)
from numbatok.formats.model_files import files_of_file, files_of_folder
from numbatok.formats.sources import Kind, Located, Source, digest_of, hash_file
from numbatok.pattern_names import named_pattern

Files = tuple[tuple[str, Path], ...]


def load_spec(
    source: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    download: bool = False,
) -> Source:
    """Find and read a tokenizer; the arguments and errors are those of `locate` and its `read`."""
    located = locate(source, pattern=pattern, special_tokens=special_tokens, download=download)
    return Source(located.read(), located.digest, located.description)


def locate(
    source: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    download: bool = False,
) -> Located:
    """Find the files of a tokenizer and compute the digest that its table image is kept under.

    Args:
        source: "gpt2"; a published encoding such as "cl100k_base"; a file; a folder; a Hub id.
            A name wins over a file in the current folder: write `./gpt2` for the file.
        pattern: for a rank file or vocab.json with merges.txt, how text is cut: a name of
            `numbatok.pattern_names`, an encoding's name (its special tokens too), or a regex.
        special_tokens: ids by content, instead of those that a known file has.
        download: whether the network may be used for what is not on this machine.

    Raises:
        UnknownTokenizerName: nothing of that name is here; the message says where it looked.
        InvalidTokenizerFile: a file that is no tokenizer.
        UnsupportedTokenizer: a tokenizer of another kind, or the class of its folder is unknown.
        InvalidType, InvalidValue: an argument that cannot be used.
        OSError: a file cannot be read.
    """
    special = _check_options(source, pattern, special_tokens)
    encoding = None
    if source == "gpt2":
        from numbatok.formats.gpt2 import DATA_FILE

        kind: Kind = "gpt2"
        files: Files = (("file", DATA_FILE),)
    elif isinstance(source, str) and source in ENCODINGS:
        encoding = source
        kind, files = "ranks", (("file", _encoding_file(source, download)),)
    else:
        kind, files = _files(source, download)
    if kind in ("gpt2", "json") and (pattern is not None or special is not None):
        raise InvalidValue(
            f"{os.fspath(source)!r} has its own pattern and special tokens; "
            "pattern= and special_tokens= are for rank files and for vocab.json with merges.txt."
        )
    hashes = {role: hash_file(path) for role, path in files}
    digest = digest_of(kind, hashes, pattern, special, encoding)
    return Located(kind, files, pattern, special, encoding, digest, os.fspath(source))


def _check_options(
    source: object, pattern: object, special_tokens: object
) -> tuple[tuple[str, int], ...] | None:
    """Check the types of the arguments and return special tokens as pairs."""
    if not isinstance(source, (str, os.PathLike)) or not isinstance(os.fspath(source), str):
        raise InvalidType(
            f"source is {source!r:.60} ({type(source).__name__}), expected a name or a path."
        )
    if not os.fspath(source):
        raise InvalidValue("source is empty, expected a name or a path.")
    if pattern is not None:
        if not isinstance(pattern, str):
            raise InvalidType(f"pattern is {pattern!r:.60}, expected a name or a regex.")
        if pattern not in ENCODINGS:
            named_pattern(pattern)
    if special_tokens is None:
        return None
    if not isinstance(special_tokens, Mapping):
        raise InvalidType(
            f"special_tokens is {special_tokens!r:.60}, expected a mapping of ids by content."
        )
    for content, id in special_tokens.items():
        if not isinstance(content, str) or not isinstance(id, int) or isinstance(id, bool):
            raise InvalidType(f"special_tokens holds {content!r}: {id!r}, expected str: int.")
    return tuple(special_tokens.items())


def _encoding_file(name: str, download: bool) -> Path:
    encoding = ENCODINGS[name]
    found = find_encoding(encoding)
    if found is None and download and encoding.file is not None:
        from numbatok.formats.download import fetch_encoding

        found = fetch_encoding(encoding)
    if found is None:
        places = [str(path) for path in encoding_paths(encoding)]
        raise UnknownTokenizerName(
            f"{name!r} is a published encoding, but its rank file is not on this machine"
            + (f" (looked for {' and '.join(places)}). " if places else ". ")
            + (
                "Pass download=True to fetch it, or the path of the file."
                if places
                else f"Pass the path of the file, with pattern={name!r} if it is not recognized."
            )
        )
    return found


def _files(source: str | os.PathLike[str], download: bool) -> tuple[Kind, Files]:
    path = Path(source).absolute()
    if os.path.isdir(path):  # unlike Path.is_dir, false for a name that no file can have
        return files_of_folder(path)
    if os.path.exists(path):
        return files_of_file(path)
    if not isinstance(source, str) or not HUB_ID.fullmatch(source):
        raise UnknownTokenizerName(f"There is no file or folder {os.fspath(source)!r:.200}.")
    snapshot = find_snapshot(source)
    if snapshot is not None:
        try:
            return files_of_folder(snapshot)
        except UnknownTokenizerName:  # the model is here without its tokenizer
            if not download:
                raise
    if download:
        from numbatok.formats.hub import fetch_model

        return files_of_folder(fetch_model(source))
    raise UnknownTokenizerName(
        f"{source!r} is no built-in name (gpt2), no published encoding "
        f"({', '.join(name for name, entry in ENCODINGS.items() if entry.file)}), no file here, "
        f"and no model in the Hub's cache ({hub_cache()}). "
        "If it is a model of the Hub, pass download=True."
    )
