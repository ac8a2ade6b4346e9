"""Pre-tokenizers: every step cuts each pretoken of the step before it.

A step sees one pretoken at a time and nothing around it. A pretoken without atoms vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from numbatok.errors import UnsupportedTokenizer
from numbatok.pattern_names import GPT2
from numbatok.reference import properties
from numbatok.reference.atoms import Atom, byte_alphabet, character, characters
from numbatok.reference.families import rust_numeric
from numbatok.reference.regex_parse import Engine, literal_regex, parse_regex
from numbatok.reference.rules import AtomTest, one_of, white
from numbatok.spec import (
    Behavior,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    PreTokenizer,
    Punctuation,
    Split,
    UnicodeScripts,
    WhitespaceSplit,
    WhitespaceWords,
)

Pretoken = list[Atom]


@dataclass
class Part:
    """A stretch of a pretoken: a match, or what is between two matches."""

    start: int
    end: int
    is_match: bool


def run_chain(
    steps: Sequence[PreTokenizer], engine: Engine, atoms: Sequence[Atom]
) -> list[Pretoken]:
    """Return the pretokens of a text.

    Raises:
        UnsupportedTokenizer: a regex has a construct that is not reproduced, or no step maps the
            text to the byte alphabet.
    """
    if engine == "tokenizers" and not any(isinstance(step, ByteLevel) for step in steps):
        raise UnsupportedTokenizer(
            "pre_tokenizer: without a ByteLevel step the model is not a byte-level one, and "
            "numbatok does not load it"
        )
    pretokens = [list(atoms)] if atoms else []
    for step in steps:
        parts = (part for pretoken in pretokens for part in cut(step, engine, pretoken))
        pretokens = [part for part in parts if part]
    return pretokens


def cut(step: PreTokenizer, engine: Engine, pretoken: Pretoken) -> list[Pretoken]:
    """Return what one step makes of one pretoken."""
    if isinstance(step, ByteLevel):
        return _byte_level(step, pretoken)
    if isinstance(step, FixedLength):
        starts = range(0, len(pretoken), step.length)
        return [pretoken[start : start + step.length] for start in starts]
    if isinstance(step, UnicodeScripts):
        return _scripts(pretoken)
    if isinstance(step, Split):
        return _split(step, engine, pretoken)
    if isinstance(step, WhitespaceWords):
        return arrange(pretoken, _invert(_words(pretoken)), "removed")
    test, behavior = _atom_test(step)
    return arrange(pretoken, _single_matches(pretoken, test), behavior)


def _atom_test(step: PreTokenizer) -> tuple[AtomTest, Behavior]:
    """Return what a step cuts around, atom by atom, and how."""
    if isinstance(step, Digits):
        return rust_numeric, "isolated" if step.individual else "contiguous"
    if isinstance(step, Punctuation):
        return lambda atom: properties.is_punctuation(atom.code), step.behavior
    if isinstance(step, WhitespaceSplit):
        return white, "removed"
    if isinstance(step, CharDelimiterSplit):
        return one_of(step.delimiter), "removed"
    raise UnsupportedTokenizer(f"pre_tokenizer: {step!r} is not supported")


# --- what matches, and what becomes of it ---


def arrange(pretoken: Pretoken, parts: Sequence[Part], behavior: Behavior) -> list[Pretoken]:
    """Return the pretokens that a behavior makes of matches and the stretches between them."""
    if behavior == "removed":
        kept = [Part(p.start, p.end, False) for p in parts if not p.is_match]
    elif behavior == "isolated":
        kept = list(parts)
    elif behavior == "contiguous":
        kept = _merge(parts, lambda previous, part: previous == part.is_match)
    elif behavior == "merged_with_previous":
        kept = _merge(parts, lambda previous, part: part.is_match and not previous)
    else:
        backwards = [Part(-p.end, -p.start, p.is_match) for p in reversed(parts)]
        merged = _merge(backwards, lambda previous, part: part.is_match and not previous)
        kept = [Part(-p.end, -p.start, p.is_match) for p in reversed(merged)]
    return [pretoken[part.start : part.end] for part in kept]


def _merge(parts: Sequence[Part], joins: Callable[[bool, Part], bool]) -> list[Part]:
    """Join a part to the one before it where `joins` (is the part before a match?, part) says so.

    Before the first part there is no match.
    """
    merged: list[Part] = []
    previous = False
    for part in parts:
        if joins(previous, part) and merged:
            merged[-1].end = part.end
        else:
            merged.append(Part(part.start, part.end, part.is_match))
        previous = part.is_match
    return merged


def with_gaps(length: int, matches: Iterator[tuple[int, int]]) -> list[Part]:
    """Return matches together with the stretches between them."""
    parts: list[Part] = []
    position = 0
    for start, end in matches:
        if start != position:
            parts.append(Part(position, start, False))
        parts.append(Part(start, end, True))
        position = end
    if position != length:
        parts.append(Part(position, length, False))
    return parts


def _invert(parts: Sequence[Part]) -> list[Part]:
    return [Part(part.start, part.end, not part.is_match) for part in parts]


def _single_matches(pretoken: Pretoken, test: AtomTest) -> list[Part]:
    places = [i for i, atom in enumerate(pretoken) if test(atom)]
    return with_gaps(len(pretoken), ((i, i + 1) for i in places))


def _split(step: Split, engine: Engine, pretoken: Pretoken) -> list[Pretoken]:
    regex = parse_regex(step.pattern, engine) if step.is_regex else literal_regex(step.pattern)
    parts = with_gaps(len(pretoken), regex.matches(pretoken))
    if engine == "tiktoken":  # a match is a pretoken, the rest is dropped
        return arrange(pretoken, _invert(parts), "removed")
    return arrange(pretoken, _invert(parts) if step.invert else parts, step.behavior)


def _words(pretoken: Pretoken) -> list[Part]:
    """Return the parts of a text of which the runs of word characters, and others, are matches."""
    pattern = r"\w+|[^\w\s]+"  # the library runs it in the crate regex, not in Oniguruma
    return with_gaps(len(pretoken), parse_regex(pattern, "tiktoken").matches(pretoken))


# --- scripts and bytes ---


def _scripts(pretoken: Pretoken) -> list[Pretoken]:
    """Cut where the script changes; unassigned characters and spaces are of any script.

    What stands before the first character that has a script is dropped, as the library does it.
    """
    starts: list[int] = []
    last = ""
    for position, atom in enumerate(pretoken):
        script = properties.cutting_script(atom.code)
        if script and script != last:
            starts.append(position)
            last = script
    ends = [*starts[1:], len(pretoken)]
    return [pretoken[start:end] for start, end in zip(starts, ends, strict=False)]


def _byte_level(step: ByteLevel, pretoken: Pretoken) -> list[Pretoken]:
    if step.add_prefix_space and not (pretoken and pretoken[0] == character(" ")):
        pretoken = [character(" "), *pretoken]
    pretokens = [pretoken]
    if step.use_regex:
        matches = parse_regex(GPT2, "tokenizers").matches(pretoken)
        pretokens = arrange(pretoken, with_gaps(len(pretoken), matches), "isolated")
    return [_to_alphabet(part) for part in pretokens]


def _to_alphabet(pretoken: Pretoken) -> Pretoken:
    """Return a pretoken spelled in the byte alphabet: an atom for each byte."""
    alphabet = characters("".join(map(chr, byte_alphabet())))
    mapped: Pretoken = []
    for atom in pretoken:
        text = chr(atom.code).encode() if atom.is_character else atom.data
        mapped += [Atom(bytes([byte]), alphabet[byte].code, True) for byte in text]
    return mapped
