"""The `model` of a tokenizer.json: byte-level BPE; every other model is refused by name."""

from __future__ import annotations

import json
import operator
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Union, cast

from numbatok.errors import InvalidTokenizerFile
from numbatok.formats.byte_alphabet import BYTE_BY_CHARACTER, to_bytes_of_all, to_spelling
from numbatok.formats.fields import Field
from numbatok.formats.strict_json import parse_json
from numbatok.spec import BpeModel, Merges

MAX_ID = (1 << 24) - 1
"""Tables are as long as the largest id; the largest published ones are about 262,000."""

MANY = 20_000
"""Merges that a kernel reads; shorter lists are read in plain Python, which compiles nothing."""

LARGE = 1 << 22
"""Bytes of a file whose merges a kernel reads."""

STUB = "numbatok reads these merges"
"""What stands in such a file for its list of merges."""

OTHER_MODELS = ("WordPiece", "WordLevel", "Unigram")

Strings = dict[str, int]
Spelled = dict[str, Union[bytes, None]]


class _WrongShape(Exception):
    """Merges are not all strings with one space, or not all pairs."""


def parse_large(data: bytes, file: str) -> object:
    """Return the value of a JSON file, in which model.merges may be Merges without ids.

    gpt-oss has 446,189 of them: lists and strings take 0.2 of 0.9 s, a kernel 0.02.

    Raises:
        InvalidTokenizerFile: as `parse_json`.
    """
    if len(data) < LARGE:
        return parse_json(data, file)
    from numbatok.flat_merges import cut_merges

    cut = cut_merges(data, json.dumps(STUB).encode())
    if cut is not None:
        text, merges = cut
        with suppress(InvalidTokenizerFile, KeyError, TypeError):  # then with the right line
            root = cast("dict[str, dict[str, object]]", parse_json(text, file))
            if root["model"]["merges"] == STUB:
                root["model"]["merges"] = merges
                return root
    return parse_json(data, file)


def read_bpe(model: Field) -> tuple[BpeModel, Strings]:
    """Return the model, and its vocabulary as it is spelled in the file.

    Raises:
        InvalidTokenizerFile: a part is missing, has a wrong type or contradicts another one.
        UnsupportedTokenizer: no BPE, or one with dropout, a prefix or a suffix.
    """
    refuse_other_models(model)
    _refuse_options(model)
    strings = read_vocabulary(model.get("vocab"))
    return replace(
        build_bpe(strings, model.get("merges")),
        ignore_merges=_flag(model, "ignore_merges"),
        unk=_unknown(model, strings),
        fuse_unk=_flag(model, "fuse_unk"),
        byte_fallback=_flag(model, "byte_fallback"),
    ), strings


def build_bpe(strings: Strings, merges: Field) -> BpeModel:
    """Return the model of a checked vocabulary and a list of merges.

    Merges of strings outside the byte alphabet are left out: no text leads to their parts.
    """
    spelled = to_bytes_of_all(strings)
    tokens = cast("dict[bytes, int]", dict(zip(spelled.values(), strings.values(), strict=True)))
    opaque: Strings = {}
    if tokens.pop(cast("bytes", None), None) is not None:
        opaque = {string: strings[string] for string, token in spelled.items() if token is None}
    found = _read_many(merges, tokens)
    if found is None:
        merges = _as_list(merges)
        pairs = _read_merges(merges, spelled)
        if opaque:
            pairs = [pair for pair in pairs if None not in pair]
        found = last_of_duplicates(cast("list[tuple[bytes, bytes]]", pairs))
    return BpeModel(tokens=tokens, opaque=opaque, merges=found)


def _read_many(merges: Field, tokens: dict[bytes, int]) -> Sequence[tuple[bytes, bytes]] | None:
    """Return a long list of merges that has nothing odd, else None: `_read_merges` looks closer."""
    if not isinstance(merges.value, Merges) and len(merges.list()) < MANY:
        return None
    from numbatok.flat_merges import flat_merges, numbered

    if isinstance(merges.value, Merges):
        return numbered(merges.value, tokens)
    try:
        return flat_merges(_parts_in_order(merges), tokens)
    except (TypeError, _WrongShape):
        return None


def _as_list(merges: Field) -> Field:
    """Return the field with merges that a kernel has read as lists of two strings."""
    if not isinstance(merges.value, Merges):
        return merges
    pairs = [[to_spelling(left), to_spelling(right)] for left, right in merges.value]
    return Field(pairs, merges.path, merges.file)


def last_of_duplicates(merges: list[tuple[bytes, bytes]]) -> tuple[tuple[bytes, bytes], ...]:
    """Return each pair once, at its last place, as Hugging Face ranks it."""
    once = dict.fromkeys(merges)
    if len(once) == len(merges):
        return tuple(once)
    return tuple(reversed(dict.fromkeys(reversed(merges))))


def read_vocabulary(vocab: Field) -> Strings:
    """Return an object of ids by string after checking that it is one."""
    strings = vocab.mapping()
    if not strings:
        raise vocab.invalid("is empty")
    ids = list(strings.values())
    if set(map(type, ids)) == {int}:
        numbers = cast("list[int]", ids)
        if min(numbers) >= 0 and max(numbers) <= MAX_ID and len(set(numbers)) == len(numbers):
            return cast("Strings", strings)
    owners: dict[int, str] = {}
    for string in strings:
        field = Field(strings[string], f"{vocab.path}[{string!r}]", vocab.file)
        number = field.integer(0, MAX_ID)
        if number in owners:
            raise field.invalid(f"is {number}, the id of {owners[number]!r} too")
        owners[number] = string
    raise AssertionError("a vocabulary that failed as a whole is sound entry by entry")


def _read_merges(merges: Field, spelled: Spelled) -> list[tuple[bytes | None, bytes | None]]:
    """Return the merges in rank order, None for a part outside the byte alphabet.

    An entry is a list of two strings, or one string with one space between its two parts; both
    parts and the joined string are in the vocabulary. Of the second kind, entries that begin with
    `#version` are no merges. Columns, and three look-ups a merge: 446,189 merges have 0.7 s.
    """
    try:
        parts = _parts_in_order(merges)
        lefts, rights = parts[0::2], parts[1::2]
        left_tokens = map(spelled.__getitem__, lefts)
        pairs = list(zip(left_tokens, map(spelled.__getitem__, rights), strict=True))
        if all(map(spelled.__contains__, map(operator.add, lefts, rights))):
            return pairs
    except (KeyError, TypeError, _WrongShape):
        pass
    for entry in merges.items():
        _check_merge(entry, spelled)
    raise AssertionError("merges that failed as a whole are sound entry by entry")


def _parts_in_order(merges: Field) -> list[str]:
    """Return left 0, right 0, left 1, right 1, ..."""
    entries = merges.list()
    kinds = set(map(type, entries))
    if kinds == {str}:
        texts = [text for text in cast("list[str]", entries) if not text.startswith("#version")]
        if any(text.count(" ") != 1 for text in texts):
            raise _WrongShape
        return " ".join(texts).split(" ") if texts else []
    if kinds <= {list}:
        pairs = cast("list[list[str]]", entries)
        if set(map(len, pairs)) - {2}:
            raise _WrongShape
        return list(chain.from_iterable(pairs))
    raise merges.invalid("must hold only strings or only lists of two strings")


def _check_merge(entry: Field, spelled: Spelled) -> None:
    """Raise the error of an entry that is no merge of this vocabulary."""
    if not isinstance(entry.value, str):
        if len(entry.list()) != 2:
            raise entry.invalid(f"has {len(entry.list())} parts, expected 2")
        parts = [part.string() for part in entry.items()]
    elif entry.value.startswith("#version"):
        return
    elif entry.value.count(" ") != 1:
        raise entry.invalid(
            f"is {entry.value[:60]!r}: without exactly one space it can be read in more than one "
            "way or in none (merges of tokens with spaces are written as lists of two strings)"
        )
    else:
        parts = entry.value.split(" ")
    for missing in (*parts, "".join(parts)):
        if missing not in spelled:
            left, right = (part[:60] for part in parts)
            raise entry.invalid(
                f"joins {left!r} and {right!r}, but {missing[:120]!r} is not in the vocabulary"
            )


def refuse_other_models(model: Field) -> None:
    """Raise UnsupportedTokenizer for a model that is no BPE; old files do not name its type."""
    kind = model.mapping().get("type", "BPE" if "merges" in model.mapping() else None)
    if kind == "BPE":
        return
    if kind is None and "type" not in model.mapping():
        raise model.unsupported("has no 'type' and no 'merges', so it is no BPE model")
    named = model.get("type")
    if named.choice(("BPE", *OTHER_MODELS)):
        raise named.unsupported(f"is {kind}")


def _refuse_options(model: Field) -> None:
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        affix = model.optional(key)
        if affix and affix.string():
            raise affix.unsupported(f"is {affix.string()[:60]!r} and not empty")
    dropout = model.optional("dropout")
    if dropout:
        if isinstance(dropout.value, bool) or not isinstance(dropout.value, (int, float)):
            raise dropout.invalid("is no number")
        if not 0 <= dropout.value <= 1:
            raise dropout.invalid(f"is {dropout.value}, expected 0..1")
        if dropout.value:
            raise dropout.unsupported(f"is {dropout.value}: ids would be random")


def _unknown(model: Field, strings: Strings) -> str | None:
    """Return the unknown token where it can arise: where a byte has no token of its own."""
    missing = [char for char in BYTE_BY_CHARACTER if char not in strings]
    fallback = model.optional("byte_fallback")
    if missing and fallback and fallback.boolean():
        raise fallback.unsupported(
            f"is true while {len(missing)} of the 256 bytes have no token ({missing[0]!r} first)"
        )
    unk = model.optional("unk_token")
    if unk is None:
        return None
    if unk.string() in strings:
        if missing and unk.string() in _parts(model.get("merges")):
            raise unk.unsupported(
                f"is {unk.string()[:60]!r}, a part of merges, which join it to its neighbors also "
                f"where it stands for a byte without a token ({missing[0]!r} first)"
            )
        return unk.string()
    if missing:
        raise unk.unsupported(
            f"is {unk.string()[:60]!r}, which is not in the vocabulary although it is needed: "
            f"{len(missing)} of the 256 bytes have no token ({missing[0]!r} first)"
        )
    return None


def _parts(merges: Field) -> set[str]:
    """Return all parts of a checked list of merges."""
    parts: set[str] = set()
    for entry in _as_list(merges).list():
        parts.update(entry.split(" ") if isinstance(entry, str) else cast("list[str]", entry))
    return parts


def _flag(model: Field, key: str) -> bool:
    field = model.optional(key)
    return field is not None and field.boolean()
