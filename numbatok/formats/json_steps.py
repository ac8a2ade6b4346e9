"""The steps of a TokenizerSpec as tokenizer.json writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from numbatok.errors import UnsupportedTokenizer
from numbatok.formats.json_pipeline import BEHAVIORS
from numbatok.pattern_names import CL100K, GPT2, R50K
from numbatok.spec import (
    Behavior,
    ByteLevel,
    CharDelimiterSplit,
    DecodeBpe,
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeFuse,
    DecodeMetaspace,
    Decoder,
    DecodeStrip,
    DecodeWordPiece,
    Digits,
    FixedLength,
    Lowercase,
    Normalizer,
    Prepend,
    PreTokenizer,
    Punctuation,
    Replace,
    Split,
    Strip,
    StripAccents,
    Template,
    TemplatePart,
    UnicodeForm,
    UnicodeScripts,
    WhitespaceSplit,
    WhitespaceWords,
)

Json = dict[str, Any]

SPELLINGS = {R50K: GPT2, CL100K: CL100K.replace("{1,3}+", "{1,3}")}
"""Patterns of rank files that Oniguruma reads otherwise, and their equals: to it `{1,3}+` repeats a
counted repeat, and is not possessive."""

SAME_IN_BOTH = (
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    "'(?i:[sdmt]|ll|ve|re)",
    r"&&[^\p{Han}]]",
)
"""Syntax that can differ (case folding of some letters, intersections), where it does not."""

SAME_EVERYWHERE = re.compile(
    r"""(?x)
    (?: [^\\^$&~\[{(-]                # no beginning of special syntax
      | \\[pP]\{\w+\} | \\[sSrnt\W_]  # properties, white space, escaped punctuation
      | \[(?!:)\^? | -(?!-)           # classes, but no [:posix:] and no difference
      | \((?:\?[:!=]|(?!\?))          # groups and lookahead, but no flags, no lookbehind
      | \{\d+(?:,\d*)?\}(?![+?])      # counted repeats, greedy
    )*"""
)
BEHAVIOR_NAMES: dict[Behavior, str] = {behavior: name for name, behavior in BEHAVIORS.items()}


def normalizer_json(steps: Sequence[Normalizer]) -> Json | None:
    """Return the `normalizer` of a tokenizer.json."""
    return _sequence([_normalizer_step(step) for step in steps], "normalizers")


def decoder_json(steps: Sequence[Decoder]) -> Json | None:
    """Return the `decoder` of a tokenizer.json."""
    return _sequence([_decoder_step(step) for step in steps], "decoders")


def pre_tokenizer_json(steps: Sequence[PreTokenizer], engine: str) -> Json | None:
    """Return the `pre_tokenizer` of a tokenizer.json, a rank file's pattern for Oniguruma."""
    if engine == "tiktoken":
        steps = [_for_oniguruma(step) if isinstance(step, Split) else step for step in steps]
    return _sequence([_pre_tokenizer_step(step) for step in steps], "pretokenizers")


def post_processor_json(
    template: Template | None, trimming: ByteLevel | None, names: Mapping[int, str]
) -> Json | None:
    """Return the `post_processor` of a tokenizer.json; `names` are the strings of ids."""
    steps = [] if trimming is None else [_pre_tokenizer_step(trimming)]
    if template is not None:
        steps.append(_template_json(template, names))
    return _sequence(steps, "processors")


def _sequence(steps: list[Json], members: str) -> Json | None:
    if len(steps) < 2:
        return steps[0] if steps else None
    return {"type": "Sequence", members: steps}


def _for_oniguruma(step: Split) -> Split:
    """Return the step with which Hugging Face cuts as tiktoken does: what is unmatched is dropped.

    Raises:
        UnsupportedTokenizer: the pattern holds syntax that the two engines may read differently.
    """
    pattern = step.pattern if step.is_regex else re.escape(step.pattern)
    pattern = SPELLINGS.get(pattern, pattern)
    if pattern not in SPELLINGS.values() and not _same_everywhere(pattern):
        raise UnsupportedTokenizer(
            f"The pattern {pattern!r} is written for tiktoken's regex engine, and Hugging Face's "
            "may read it differently. Save the ranks as .tiktoken."
        )
    return Split(pattern, is_regex=True, behavior="removed", invert=True)


def _same_everywhere(pattern: str) -> bool:
    for fragment in SAME_IN_BOTH:
        pattern = pattern.replace(fragment, "]" if fragment.startswith("&&") else "x")
    return SAME_EVERYWHERE.fullmatch(pattern) is not None


def _pattern_json(step: Split | Replace) -> Json:
    return {"Regex" if step.is_regex else "String": step.pattern}


def _normalizer_step(step: Normalizer) -> Json:
    match step:
        case UnicodeForm(form):
            return {"type": form}
        case Lowercase() | StripAccents():
            return {"type": type(step).__name__}
        case Strip(left, right):
            return {"type": "Strip", "strip_left": left, "strip_right": right}
        case Replace():
            return {"type": "Replace", "pattern": _pattern_json(step), "content": step.content}
        case Prepend(content):
            return {"type": "Prepend", "prepend": content}


def _pre_tokenizer_step(step: PreTokenizer) -> Json:
    match step:
        case WhitespaceSplit() | UnicodeScripts():
            return {"type": type(step).__name__}
        case WhitespaceWords():
            return {"type": "Whitespace"}
        case Split(_, _, behavior, invert):
            cut = {"behavior": BEHAVIOR_NAMES[behavior], "invert": invert}
            return {"type": "Split", "pattern": _pattern_json(step), **cut}
        case Digits(individual):
            return {"type": "Digits", "individual_digits": individual}
        case Punctuation(behavior):
            return {"type": "Punctuation", "behavior": BEHAVIOR_NAMES[behavior]}
        case CharDelimiterSplit(delimiter):
            return {"type": "CharDelimiterSplit", "delimiter": delimiter}
        case FixedLength(length):
            return {"type": "FixedLength", "length": length}
        case ByteLevel(prefix, use_regex, trim):
            flags = {"add_prefix_space": prefix, "trim_offsets": trim, "use_regex": use_regex}
            return {"type": "ByteLevel", **flags}


def _decoder_step(step: Decoder) -> Json:
    match step:
        case DecodeByteLevel():
            flags = dict.fromkeys(("add_prefix_space", "trim_offsets", "use_regex"), True)
            return {"type": "ByteLevel", **flags}
        case DecodeFuse():
            return {"type": "Fuse"}
        case DecodeByteFallback():
            return {"type": "ByteFallback"}
        case DecodeStrip(content, start, stop):
            return {"type": "Strip", "content": content, "start": start, "stop": stop}
        case DecodeMetaspace(replacement, prepend):
            return {
                "type": "Metaspace",
                "replacement": replacement,
                "prepend_scheme": prepend,
                "split": True,
            }
        case DecodeWordPiece(prefix, cleanup):
            return {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup}
        case DecodeBpe(suffix):
            return {"type": "BPEDecoder", "suffix": suffix}
        case Replace():
            return _normalizer_step(step)


def _template_json(template: Template, names: Mapping[int, str]) -> Json:
    parts = [part for part in (*template.single, *template.pair) if part.text is None]
    keys = {part.ids: _key(part, names) for part in parts}
    special = {
        key: {"id": key, "ids": list(ids), "tokens": [names.get(id, f"<{id}>") for id in ids]}
        for ids, key in keys.items()
    }

    if len(special) < len(keys):
        raise UnsupportedTokenizer("Two parts of the template have one name and different ids.")

    def pieces(side: tuple[TemplatePart, ...]) -> list[Json]:
        return [
            {"SpecialToken": {"id": keys[part.ids], "type_id": part.type_id}}
            if part.text is None
            else {"Sequence": {"id": part.text, "type_id": part.type_id}}
            for part in side
        ]

    return {
        "type": "TemplateProcessing",
        "single": pieces(template.single),
        "pair": pieces(template.pair),
        "special_tokens": dict(sorted(special.items())),
    }


def _key(part: TemplatePart, names: Mapping[int, str]) -> str:
    """Return a name for the ids of a part: the token's own if it is one, as other files have it."""
    if len(part.ids) == 1 and part.ids[0] in names:
        return names[part.ids[0]]
    return "ids " + " ".join(map(str, part.ids))
