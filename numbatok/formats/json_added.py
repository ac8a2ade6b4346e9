"""The `added_tokens` of a tokenizer.json, with the ids that Hugging Face gives them.

Measured with tokenizers 0.23.3: the `id` of an entry is checked for its type and otherwise ignored.
A token that the model's vocabulary spells has the id it has there; the others are numbered on from
the number of vocabulary entries, in the order of the file, whatever ids the vocabulary has.
"""

from __future__ import annotations

from dataclasses import replace

from numbatok.formats.fields import Field
from numbatok.formats.json_model import Strings
from numbatok.spec import AddedToken

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
MAX_U32 = (1 << 32) - 1


def read_added_tokens(entries: Field, strings: Strings) -> tuple[AddedToken, ...]:
    """Return the added tokens in the order of the file, each content once.

    Of entries with one content the last one decides, but for `special`, which any of them sets.
    Entries without content are skipped, as in Hugging Face.
    """
    used = {id: string for string, id in strings.items()}
    tokens: dict[str, AddedToken] = {}
    following = len(strings)
    for entry in entries.items():
        token = _read(entry)
        content = token.content
        if not content:
            continue
        earlier = tokens.get(content)
        if earlier is not None:
            special = token.special or earlier.special
            tokens[content] = replace(token, id=earlier.id, special=special)
            continue
        given = strings.get(content)
        if given is None:
            given, following = following, following + 1
            if given in used:
                raise entry.unsupported(
                    f"gets id {given} in Hugging Face, which numbers on from {len(strings)} "
                    f"entries, and {used[given][:60]!r} has that id already"
                )
        tokens[content] = replace(token, id=given)
    return tuple(tokens.values())


def _read(entry: Field) -> AddedToken:
    entry.get("id").integer(0, MAX_U32)
    flags = {flag: entry.get(flag).boolean() for flag in FLAGS}
    return AddedToken(entry.get("content").string(), -1, **flags)
