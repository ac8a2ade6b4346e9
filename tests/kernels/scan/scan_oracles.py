"""What the pretokens of a pattern are, in bytes: by the rules, and by the libraries' regexes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from numbatok.reference.atoms import InvalidPolicy, split_atoms
from numbatok.reference.families import FAMILIES, isolated
from numbatok.reference.patterns import pretokenize_family
from tests.reference.library_oracles import library_ends, pre_tokenizer, tiktoken_pieces


def rule_ends(name: str, text: bytes, invalid: InvalidPolicy = "byte-alphabet") -> list[int]:
    """Return where the pretokens of any bytes end, by the rules of the reference."""
    atoms = split_atoms(text, invalid)
    positions = [0, *accumulate(len(atom.data) for atom in atoms)]
    return [positions[end] for end in pretokenize_family(FAMILIES[name], atoms)]


def regex_ends(name: str, texts: Sequence[str]) -> list[list[int]]:
    """Return where the pretokens of texts end, by the library's regex.

    By tokenizers, which reads the regex of Kimi as tiktoken does; for cl100k by tiktoken, texts of
    up to 40 characters.
    """
    family = FAMILIES[name]
    if name == "cl100k":
        pieces = tiktoken_pieces(family.tiktoken[0], texts)
        return [list(accumulate(len(piece.encode()) for piece in each)) for each in pieces]
    library = pre_tokenizer(family.hub[0] if family.hub else isolated(family.tiktoken[0]))
    return [_in_bytes(text, library_ends(library, text)) for text in texts]


def _in_bytes(text: str, ends: Sequence[int]) -> list[int]:
    if text.isascii():
        return list(ends)
    positions = [0, *accumulate(len(char.encode()) for char in text)]
    return [positions[end] for end in ends]
