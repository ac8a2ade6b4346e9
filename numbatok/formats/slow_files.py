"""Rank files, and vocab.json with merges.txt: files that leave the pattern to somebody else.

The pattern comes from `pattern=`, from the content (a published file), or from the class that
tokenizer_config.json names. Where none of them says it, the error lists the choices: a guess would
give wrong ids in silence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from numbatok.errors import InvalidValue, UnsupportedTokenizer
from numbatok.formats.encodings import ENCODINGS, Encoding, encoding_of
from numbatok.formats.fields import Field
from numbatok.formats.gpt2 import read_gpt2
from numbatok.formats.json_model import build_bpe, read_vocabulary
from numbatok.formats.model_config import (
    PAIR_CLASSES,
    RANK_CLASSES,
    ModelConfig,
    pair_spec,
    special_contents,
)
from numbatok.formats.ranks import ranks_to_spec, read_ranks
from numbatok.formats.sources import Contents, Located
from numbatok.formats.strict_json import decode_text, parse_json
from numbatok.pattern_names import PATTERNS, NamedPattern, named_pattern
from numbatok.spec import AddedToken, BpeModel, TokenizerSpec


def read_rank_file(located: Located, contents: Contents) -> TokenizerSpec:
    """Return the tokenizer of a rank file and the options it was located with."""
    data = contents["file"]
    ranks = read_ranks(data, located.path("file"))
    config = _config(located, contents)
    encoding = _encoding(located, hashlib.sha256(data).hexdigest(), len(ranks))
    pattern = _rank_pattern(located, encoding, config)
    if located.special_tokens is not None:
        special = dict(located.special_tokens)
    else:
        special = _special_tokens(encoding, special_contents(config))
    name = encoding.name if encoding and located.pattern in (None, encoding.name) else None
    return ranks_to_spec(ranks, pattern, special, name)


def _encoding(located: Located, sha256: str, count: int) -> Encoding | None:
    """Return the published encoding that was asked for, or that the content is."""
    asked = located.encoding
    if asked is None and located.pattern in ENCODINGS and located.pattern not in PATTERNS:
        asked = located.pattern
    if asked is None:
        return encoding_of(sha256)
    encoding = ENCODINGS[asked]
    if encoding.ranks != count:
        raise InvalidValue(
            f"{located.path('file')} has {count} ranks, but {asked} has {encoding.ranks}: it is "
            "another file. Pass pattern= and special_tokens= instead of the name."
        )
    return encoding


def _rank_pattern(located: Located, encoding: Encoding | None, config: ModelConfig) -> NamedPattern:
    if located.pattern in PATTERNS:
        return PATTERNS[located.pattern]
    if encoding is not None and located.pattern in (None, encoding.name):
        return PATTERNS[encoding.pattern]
    if located.pattern is not None:
        return named_pattern(located.pattern)
    if config.class_name in RANK_CLASSES:
        return PATTERNS[RANK_CLASSES[config.class_name]]
    raise InvalidValue(
        f"{located.path('file')} is a rank file that numbatok does not know"
        + _class_words(config)
        + ", and a rank file does not say how text is cut. "
        f"Pass pattern=, a regex or one of {', '.join(sorted(PATTERNS))}, and special_tokens=, "
        "ids by content; or a published encoding's name as pattern=: "
        f"{', '.join(sorted(ENCODINGS.keys() - PATTERNS.keys()))}."
    )


def _special_tokens(encoding: Encoding | None, by_id: Mapping[int, str]) -> dict[str, int]:
    """Return those of the encoding, renamed where the model's configuration has other names."""
    special = encoding.special_tokens() if encoding else {}
    kept = {content: id for content, id in special.items() if id not in by_id}
    return kept | {content: id for id, content in by_id.items()}


def read_pair(located: Located, contents: Contents) -> TokenizerSpec:
    """Return the tokenizer of vocab.json and merges.txt."""
    vocab, merges = located.path("vocab"), located.path("merges")
    lines = Field(_lines(contents["merges"], merges), "lines", merges)
    strings = read_vocabulary(Field(parse_json(contents["vocab"], vocab), "vocab", vocab))
    model = build_bpe(strings, lines)
    if located.pattern is not None:
        named = named_pattern(located.pattern)
        spec = TokenizerSpec(model, pre_tokenizers=named.steps, engine=named.engine)
    else:
        spec = _spec_of_class(model, strings, _config(located, contents), vocab)
    if located.special_tokens is None:
        return spec
    return replace(spec, added_tokens=_given_tokens(dict(located.special_tokens), strings))


def _lines(data: bytes, file: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in decode_text(data, file).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _spec_of_class(
    model: BpeModel, strings: Mapping[str, int], config: ModelConfig, vocab: str
) -> TokenizerSpec:
    """Return the tokenizer that the class makes of the files, or GPT-2 if they are its own."""
    if config.class_name in PAIR_CLASSES:
        return pair_spec(model, strings, config)
    if config.class_name is not None:
        raise UnsupportedTokenizer(
            f"{vocab} belongs to a {config.class_name}, which numbatok does not know; "
            f"known are {', '.join(PAIR_CLASSES)}. Pass pattern= and special_tokens=."
        )
    gpt2 = read_gpt2()
    if model == gpt2.model:
        return gpt2
    raise InvalidValue(
        f"{vocab} and merges.txt do not say how text is cut, and no tokenizer_config.json "
        f"beside them does. Pass pattern=, a regex or one of {', '.join(sorted(PATTERNS))}."
    )


def _given_tokens(given: Mapping[str, int], strings: Mapping[str, int]) -> tuple[AddedToken, ...]:
    owners = {id: string for string, id in strings.items()}
    for content, id in given.items():
        if strings.get(content, id) != id or owners.get(id, content) != content:
            raise InvalidValue(
                f"special_tokens[{content!r}] is {id}, but the vocabulary gives "
                f"{content!r} id {strings.get(content)} and id {id} to {owners.get(id)!r}."
            )
    return tuple(AddedToken(content, id) for content, id in given.items())


def _config(located: Located, contents: Contents) -> ModelConfig:
    fields = []
    for role in ("tokenizer_config", "special_tokens_map", "added_tokens"):
        file = located.path(role) if role in contents else f"{role}.json"
        root = parse_json(contents[role], file) if role in contents else {}
        fields.append(Field(root, "", file))
    return ModelConfig(*fields)


def _class_words(config: ModelConfig) -> str:
    return f" (of a {config.class_name})" if config.class_name else ""
