"""Normalizers: text to text, over atoms.

A byte of an ill-formed sequence passes through all of them, and nothing composes or reorders across
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numbatok.errors import UnsupportedTokenizer
from numbatok.reference.atoms import Atom, characters
from numbatok.reference.compose import normal_form
from numbatok.reference.regex_parse import literal_regex, parse_regex
from numbatok.reference.rules import white
from numbatok.spec import (
    Lowercase,
    Normalizer,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from numbatok.unicode.normalization import is_accent, lowercase


def normalize(normalizers: Sequence[Normalizer], atoms: Sequence[Atom]) -> list[Atom]:
    """Return a text after all normalizers, in order."""
    text = list(atoms)
    for step in normalizers:
        text = apply(step, text)
    return text


def apply(step: Normalizer, text: list[Atom]) -> list[Atom]:
    """Return a text after one normalizer."""
    if isinstance(step, UnicodeForm):
        return _in_form(step, text)
    if isinstance(step, Lowercase):
        return [lower for atom in text for lower in _lower(atom)]
    if isinstance(step, Strip):
        return strip(step, text)
    if isinstance(step, StripAccents):
        return [atom for atom in text if not (atom.is_character and is_accent(atom.code))]
    if isinstance(step, Replace):
        return replace(step, text)
    if isinstance(step, Prepend):
        return [*characters(step.content), *text] if text else []
    raise UnsupportedTokenizer(f"normalizer: {step!r} is not supported")


def replace(step: Replace, text: Sequence[Atom]) -> list[Atom]:
    """Return a text with the content in the place of every match; an empty text stays empty."""
    if not text:
        return []
    regex = (
        parse_regex(step.pattern, "tokenizers") if step.is_regex else literal_regex(step.pattern)
    )
    replaced: list[Atom] = []
    position = 0
    for start, end in regex.matches(text):
        replaced += [*text[position:start], *characters(step.content)]
        position = end
    return [*replaced, *text[position:]]


def strip(step: Strip, text: list[Atom]) -> list[Atom]:
    """Return a text without the white space at its start and at its end, as the step says."""
    start, end = 0, len(text)
    while step.left and start < end and white(text[start]):
        start += 1
    while step.right and end > start and white(text[end - 1]):
        end -= 1
    return text[start:end]


def _lower(atom: Atom) -> list[Atom]:
    changed = lowercase(atom.code) if atom.is_character else ()
    return characters("".join(map(chr, changed))) if changed else [atom]


def _in_form(step: UnicodeForm, text: list[Atom]) -> list[Atom]:
    formed: list[Atom] = []
    for run in _runs(text):
        if not run[0].is_character:
            formed += run
            continue
        codes = normal_form(step.form, [atom.code for atom in run])
        formed += characters("".join(map(chr, codes)))
    return formed


def _runs(text: list[Atom]) -> Iterator[list[Atom]]:
    """Yield the stretches that are all characters, or all stray bytes."""
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or text[end].is_character != text[start].is_character:
            yield text[start:end]
            start = end
