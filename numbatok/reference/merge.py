"""Byte pair encoding of one pretoken, by its definition: one merge at a time.

Of all pairs of neighbors that have a merge, the one with the lowest rank is joined, of several the
leftmost; until no pair has a merge.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TypeVar

from numbatok.errors import InvalidTokenizerFile
from numbatok.reference.atoms import byte_alphabet
from numbatok.reference.keeping import kept_for_last
from numbatok.spec import BpeModel

PairRule = tuple[int, int]
"""Rank of a merge and id of its product."""

Symbol = TypeVar("Symbol", int, bytes)


def merge_pretoken(model: BpeModel, pretoken: bytes) -> list[int]:
    """Return the ids of one pretoken.

    A byte without a token of its own is dropped, or becomes the unknown token if the model has one.
    """
    if not pretoken:
        return []
    if (model.ignore_merges or model.merges is None) and pretoken in model.tokens:
        return [model.tokens[pretoken]]
    if model.merges is None:
        return _merge_by_concatenation(model, pretoken)
    rules = pair_rules(model)

    def rule(left: int, right: int) -> PairRule | None:
        return rules.get((left, right))

    return _merge(first_symbols(model, pretoken), rule)


def _merge(
    symbols: list[Symbol], rule: Callable[[Symbol, Symbol], tuple[int, Symbol] | None]
) -> list[Symbol]:
    """Join neighbors until no rule applies; a rule gives the rank of a pair and its product."""
    while True:
        best: tuple[int, int, Symbol] | None = None
        for place, (left, right) in enumerate(pairwise(symbols)):
            found = rule(left, right)
            if found is not None and (best is None or found[0] < best[0]):
                best = (found[0], place, found[1])
        if best is None:
            return symbols
        _, place, joined = best
        symbols[place : place + 2] = [joined]


def _merge_by_concatenation(model: BpeModel, pretoken: bytes) -> list[int]:
    """Merge as a rank file means it: two tokens are one if their bytes are, and its id is the rank.

    The symbols are the bytes of tokens.
    """

    def rule(left: bytes, right: bytes) -> tuple[int, bytes] | None:
        rank = model.tokens.get(left + right)
        return None if rank is None else (rank, left + right)

    parts = [bytes([byte]) for byte in pretoken]
    known = [part for part in parts if part in model.tokens]
    return [model.tokens[token] for token in _merge(known, rule)]


@kept_for_last
def pair_rules(model: BpeModel) -> dict[tuple[int, int], PairRule]:
    """Return rank and product of each pair of ids that has a merge."""
    return {
        (model.tokens[left], model.tokens[right]): (rank, model.tokens[left + right])
        for rank, (left, right) in enumerate(model.merges or ())
    }


# --- bytes without a token ---


def first_symbols(model: BpeModel, pretoken: bytes) -> list[int]:
    """Return the ids that the merges start from: a byte each, where it has a token.

    A byte without one becomes its fallback tokens, or the unknown token, or nothing. The unknown
    token is held back until a byte with a token of its own follows; with `fuse_unk` those of
    neighbors are one. That it also comes after fallback tokens that stand behind it in the text is
    the behavior of tokenizers 0.23.3.
    """
    symbols: list[int] = []
    held: list[int] = []
    for byte in pretoken:
        known = model.tokens.get(bytes([byte]))
        if known is not None:
            symbols += [*held, known]
            held = []
            continue
        fallback = fallback_ids(model, byte) if model.byte_fallback else None
        if fallback is not None:
            symbols += fallback
        elif model.unk is not None and not (held and model.fuse_unk):
            symbols += held
            held = [unknown_id(model, model.unk)]
    return [*symbols, *held]


def fallback_ids(model: BpeModel, byte: int) -> list[int] | None:
    """Return the `<0xHH>` tokens of the character that stands for a byte; None unless it has all.

    The library sees the byte alphabet here, so byte 0x20 falls back to `<0xC4><0xA0>`.
    """
    spellings = [f"<0x{code:02X}>" for code in chr(byte_alphabet()[byte]).encode()]
    found = [id_of_string(model, spelling) for spelling in spellings]
    ids = [number for number in found if number is not None]
    return ids if len(ids) == len(found) else None


def unknown_id(model: BpeModel, unk: str) -> int:
    """Return the id of the unknown token."""
    found = id_of_string(model, unk)
    if found is None:
        raise InvalidTokenizerFile(
            f"unk_token {unk!r} is needed but not in the vocabulary; add it, or a token for each "
            "of the 256 bytes"
        )
    return found


def id_of_string(model: BpeModel, string: str) -> int | None:
    """Return the id of a vocabulary string as the file spells it."""
    spelled = bytes_of_string(string)
    return model.opaque.get(string) if spelled is None else model.tokens.get(spelled)


def bytes_of_string(string: str) -> bytes | None:
    """Return the bytes that a string of the byte alphabet stands for, None if it is none."""
    numbers = [_bytes_by_character().get(char) for char in string]
    known = [number for number in numbers if number is not None]
    return bytes(known) if len(known) == len(numbers) else None


@cache
def _bytes_by_character() -> dict[str, int]:
    return {chr(code): byte for byte, code in enumerate(byte_alphabet())}
