"""Cutting atoms into pretokens by the rules of a pattern family."""

from __future__ import annotations

from collections.abc import Sequence

from numbatok.reference.atoms import Atom
from numbatok.reference.families import FAMILIES, Chain, Family, isolated
from numbatok.spec import ByteLevel, PreTokenizer


def pretokenize_gpt2(atoms: Sequence[Atom]) -> list[int]:
    """Return the end of each pretoken of GPT-2's pattern, in atoms."""
    return pretokenize_family(FAMILIES["gpt2"], atoms)


def pretokenize_family(family: Family, atoms: Sequence[Atom]) -> list[int]:
    """Return the end of each pretoken, in atoms; the pretokens cover the text.

    What no rule takes is a pretoken of its own, up to where a rule matches again.
    """
    ends: list[int] = []
    start = 0
    while start < len(atoms):
        limit = family.limit(atoms, start)
        end = _rule_end(family, atoms, start, limit)
        if end is None:
            end = start + 1
            while end < limit and _rule_end(family, atoms, end, limit) is None:
                end += 1
        ends.append(end)
        start = end
    return ends


def _rule_end(family: Family, atoms: Sequence[Atom], start: int, limit: int) -> int | None:
    for rule in family.rules:
        end = rule(atoms, start, limit)
        if end is not None:
            return end
    return None


def recognize(steps: tuple[PreTokenizer, ...], engine: str) -> str | None:
    """Return the name of the family that pre-tokenizers stand for, None if they are of no family.

    `engine` is that of TokenizerSpec.
    """
    chain: Chain = tuple(_without_offsets(step) for step in steps)
    if chain[-1:] == (ByteLevel(False, use_regex=False),):
        chain = chain[:-1]
    for name, family in FAMILIES.items():
        spellings = family.hub
        if engine == "tiktoken":
            spellings = tuple(isolated(pattern) for pattern in family.tiktoken)
        if chain in spellings:
            return name
    return None


def _without_offsets(step: PreTokenizer) -> PreTokenizer:
    if isinstance(step, ByteLevel):
        return ByteLevel(step.add_prefix_space, step.use_regex)
    return step
