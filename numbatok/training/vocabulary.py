"""Which ids the bytes, the merges and the special tokens get; the tokenizer that comes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Union

from numbatok.errors import InvalidType, InvalidValue
from numbatok.formats.byte_alphabet import to_bytes
from numbatok.spec import AddedToken, BpeModel, TokenizerSpec

MAX_VOCABULARY = (1 << 20) - 1024  # symbols have 20 bits in the tables of merges
SpecialTokens = Union[Sequence[str], Mapping[str, int]]
Merge = tuple[bytes, bytes]


@dataclasses.dataclass(frozen=True)
class Plan:
    """The ids of a vocabulary to come.

    base       what is kept as it is; its model has at least the 256 bytes
    first_id   no merge gets a smaller id
    specials   the new special tokens, with ids; -1: the first free id after the last merge
    n_merges   how many merges the vocabulary has room for
    """

    base: TokenizerSpec
    first_id: int
    specials: dict[str, int]
    n_merges: int

    def symbols(self) -> list[bytes]:
        """Return the tokens of the base by id: the symbols with which merging starts."""
        tokens = self.base.model.tokens
        return sorted((token for token in tokens if token), key=tokens.__getitem__)

    def forbidden(self) -> set[bytes]:
        """Return what no merge may make: tokens that exist, and what added tokens are or spell."""
        added = [*self.specials, *(token.content for token in self.base.added_tokens)]
        found = {token for token in self.base.model.tokens if len(token) > 1}
        for content in added:
            found.add(content.encode())
            found.add(to_bytes(content) or b"")
        return found

    def spec(self, merges: Sequence[Merge]) -> TokenizerSpec:
        """Return the tokenizer with these merges added."""
        model, ids = self.base.model, self._free_ids()
        tokens = dict(model.tokens)
        for left, right in merges:
            tokens[left + right] = next(ids)
        added = list(self.base.added_tokens)
        for content, number in sorted(self.specials.items(), key=lambda item: item[1]):
            added.append(AddedToken(content, next(ids) if number < 0 else number))
        whole = dataclasses.replace(
            model,
            tokens=tokens,
            merges=None if model.merges is None else (*model.merges, *merges),
        )
        return dataclasses.replace(self.base, model=whole, added_tokens=tuple(added), name=None)

    def _free_ids(self) -> Iterator[int]:
        taken = set(self.specials.values())
        number = self.first_id
        while True:
            if number not in taken:
                yield number
            number += 1


def plan_new(
    spec: TokenizerSpec, alphabet: Sequence[bytes], vocab_size: int, specials: SpecialTokens,
    specials_first: bool,
) -> Plan:  # fmt: skip
    """Plan a vocabulary of its own: bytes, merges and special tokens, vocab_size in all.

    Special tokens without ids come first, or after the merges. Errors: InvalidType, InvalidValue.
    """
    wanted = _named(specials, vocab_size)
    n_least = 256 + len(wanted)
    if vocab_size < n_least:
        raise InvalidValue(
            f"vocab_size is {vocab_size}; 256 bytes and {len(wanted)} special tokens need at "
            f"least {n_least}"
        )
    if specials_first and not isinstance(specials, Mapping):
        wanted = {content: number for number, content in enumerate(wanted)}
    plan = Plan(spec, 0, wanted, vocab_size - n_least)
    ids = plan._free_ids()
    model = BpeModel({byte: next(ids) for byte in alphabet}, merges=())
    first_id = max(model.tokens.values()) + 1
    return dataclasses.replace(plan, base=dataclasses.replace(spec, model=model), first_id=first_id)


def plan_extension(base: TokenizerSpec, vocab_size: int, specials: SpecialTokens) -> Plan:
    """Plan more merges for a tokenizer whose ids stay. Errors: InvalidType, InvalidValue."""
    model = base.model
    missing = [byte for byte in range(256) if bytes([byte]) not in model.tokens]
    if missing:
        raise InvalidValue(
            f"start_from has no token for {len(missing)} bytes, 0x{missing[0]:02x} first; only a "
            "byte-level vocabulary with all 256 can be extended"
        )
    known = {token.content for token in base.added_tokens}
    taken = {*model.tokens.values(), *model.opaque.values()}
    taken |= {token.id for token in base.added_tokens}
    wanted = _named(specials, vocab_size)
    for content, number in wanted.items():
        if content in known or to_bytes(content) in model.tokens or content in model.opaque:
            raise InvalidValue(f"special_tokens: start_from has {content!r} already")
        if number in taken:
            raise InvalidValue(f"special_tokens: id {number} of {content!r} is taken")
    size = max(taken) + 1
    n_inside = sum(0 <= number < size for number in wanted.values())  # they fill holes
    n_merges = vocab_size - size - len(wanted) + n_inside
    if n_merges < 0:
        raise InvalidValue(
            f"vocab_size is {vocab_size}; start_from has {size} ids, and {len(wanted)} special "
            "tokens are new: more are needed"
        )
    return Plan(base, size, wanted, n_merges)


def _named(specials: SpecialTokens, vocab_size: int) -> dict[str, int]:
    """Return special tokens with their ids, -1 where none is asked for."""
    if vocab_size > MAX_VOCABULARY:
        raise InvalidValue(f"vocab_size is {vocab_size:,}; at most {MAX_VOCABULARY:,} is possible")
    if isinstance(specials, str) or not isinstance(specials, (Mapping, Collection)):
        raise InvalidType(
            f"special_tokens is {specials!r:.60}; a list of str or a dict of ids is needed"
        )
    named: dict[str, int] = {}
    for content in specials:
        number = specials[content] if isinstance(specials, Mapping) else -1
        _check_special(content, number, isinstance(specials, Mapping), vocab_size)
        if content in named or (number >= 0 and number in named.values()):
            raise InvalidValue(f"special_tokens: {content!r} or its id {number} comes twice")
        named[content] = number
    return named


def _check_special(content: object, number: object, has_ids: bool, vocab_size: int) -> None:
    if not isinstance(content, str):
        raise InvalidType(f"special_tokens: {content!r:.60} ({type(content).__name__}) is no str")
    if len(content) < 2:
        raise InvalidValue(
            f"special_tokens: {content!r} has {len(content)} characters; at least 2 are needed, so "
            "that it is no spelling of a byte"
        )
    try:
        content.encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"special_tokens: {content!a} has a lone surrogate") from None
    if has_ids and (
        not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < vocab_size
    ):
        raise InvalidValue(
            f"special_tokens: the id of {content!r} is {number!r}; with vocab_size={vocab_size} "
            f"ids go from 0 to {vocab_size - 1}"
        )
