"""Which files of a folder, or beside a file, make up a tokenizer."""

from __future__ import annotations

from pathlib import Path

from numbatok.errors import InvalidTokenizerFile, UnknownTokenizerName
from numbatok.formats.sniff import kind_of
from numbatok.formats.sources import Kind, read_file

Files = tuple[tuple[str, Path], ...]

PARTNERS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
CONFIGS = ("tokenizer_config", "special_tokens_map", "added_tokens")
RANK_FILES = ("tiktoken.model", "tokenizer.model")
FOREIGN = ("spiece.model", "sentencepiece.bpe.model", "vocab.txt")
BEGINNING = 300_000
"""Bytes of a file that are looked at to tell its kind."""


def files_of_file(path: Path) -> tuple[Kind, Files]:
    """Return the kind of a file and the files that belong to it, it included, by role."""
    kind = kind_of(_beginning(path), str(path))
    if kind in ("json", "ranks"):
        return ("json" if kind == "json" else "ranks"), (("file", path),)
    for names in PARTNERS:
        for own, other in (names, names[::-1]):
            if not path.name.endswith(own):
                continue
            partner = path.with_name(path.name.removesuffix(own) + other)
            if not partner.is_file():
                continue
            vocab, merges = (path, partner) if kind == "vocab" else (partner, path)
            return "pair", (("vocab", vocab), ("merges", merges), *_configs(path.parent))
    needed = "merges.txt (or vocab.bpe)" if kind == "vocab" else "vocab.json (or encoder.json)"
    raise InvalidTokenizerFile(
        f"{path} holds {'a vocabulary' if kind == 'vocab' else 'merges'} without {needed} beside "
        "it; a tokenizer needs both. Put it there."
    )


def files_of_folder(folder: Path) -> tuple[Kind, Files]:
    """Return the kind and the files of a folder: tokenizer.json first, then what its class needs.

    Raises:
        UnknownTokenizerName: nothing in the folder is a tokenizer file.
        InvalidTokenizerFile: several files are, and nothing says which one counts.
    """
    fast = folder / "tokenizer.json"
    if fast.is_file():
        return files_of_file(fast)
    tekken = sorted(folder.glob("tekken*.json"))
    pairs = [
        folder / vocab
        for vocab, merges in PARTNERS
        if (folder / vocab).is_file() and (folder / merges).is_file()
    ]
    ranks = sorted(folder.glob("*.tiktoken"))
    ranks += [folder / name for name in RANK_FILES if (folder / name).is_file()]
    found = tekken or pairs[:1] or ranks
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise InvalidTokenizerFile(f"{folder} holds {names}; pass the path of the one you mean.")
    if not found:
        found = [folder / name for name in FOREIGN if (folder / name).is_file()][:1]
    if not found:
        raise UnknownTokenizerName(
            f"{folder} holds no tokenizer file; looked for tokenizer.json, tekken.json, vocab.json "
            "with merges.txt, *.tiktoken, tiktoken.model and tokenizer.model."
        )
    kind, files = files_of_file(found[0])
    return kind, (*files, *_configs(folder)) if kind == "ranks" else files


def _configs(folder: Path) -> Files:
    paths = ((role, folder / f"{role}.json") for role in CONFIGS)
    return tuple((role, path) for role, path in paths if path.is_file())


def _beginning(path: Path) -> bytes:
    if not path.is_file():
        return read_file(path)
    with path.open("rb") as file:
        return file.read(BEGINNING)
