"""Mistral's tekken.json: base64 tokens in rank order, a pattern, and special tokens.

As mistral-common 1.13.1 reads it: of the vocabulary the first `default_vocab_size` minus
`default_num_special_tokens` entries count, special tokens have the ids from 0, and the id of any
other token is its rank plus the number of special tokens. Special tokens that the file does not
name are `<SPECIAL_id>`.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64

from numbatok.formats.fields import Field
from numbatok.formats.json_model import MAX_ID
from numbatok.formats.ranks import check_bytes, ranks_to_spec
from numbatok.formats.special_tokens import TEKKEN_V3
from numbatok.pattern_names import one_regex
from numbatok.spec import TokenizerSpec

NAMELESS_VERSIONS = ("v3", "v7")
"""Versions whose files may leave the special tokens out."""


def is_tekken(root: object) -> bool:
    """Return whether a parsed JSON file is a tekken.json."""
    return isinstance(root, dict) and isinstance(root.get("config"), dict) and "vocab" in root


def read_tekken(root: object, file: str) -> TokenizerSpec:
    """Return what a parsed tekken.json means.

    Raises:
        InvalidTokenizerFile: a field is missing, has a wrong type or contradicts another one.
    """
    whole = Field(root, "", file)
    config = whole.get("config")
    specials = config.get("default_num_special_tokens").integer(0, MAX_ID)
    size = config.get("default_vocab_size").integer(specials, MAX_ID + 1)
    ranks = _ranks(whole.get("vocab"), size - specials)
    shifted = {token: rank + specials for token, rank in ranks.items()}
    return ranks_to_spec(
        shifted,
        one_regex(config.get("pattern").string()),
        _special_tokens(whole, specials),
        name=None,
    )


def _ranks(vocab: Field, count: int) -> dict[bytes, int]:
    """Return the first `count` tokens; their ranks are 0..count-1 in this order."""
    entries = vocab.list()
    if len(entries) < count:
        raise vocab.invalid(f"has {len(entries)} entries, config asks for {count}")
    ranks: dict[bytes, int] = {}
    for place, entry in enumerate(entries[:count]):
        token = _token(entry, place)
        if token is None or token in ranks:
            field = Field(entry, f"{vocab.path}[{place}]", vocab.file)
            field.get("rank").integer(place, place)
            field.get("token_bytes").string()
            fact = "is no base64" if token is None else f"is {token[:40]!r} a second time"
            raise field.get("token_bytes").invalid(fact)
        ranks[token] = place
    check_bytes(ranks, vocab.file)
    return ranks


def _token(entry: object, place: int) -> bytes | None:
    """Return the bytes of an entry, None if anything is wrong with it."""
    if not isinstance(entry, dict) or entry.get("rank") != place:
        return None
    encoded = entry.get("token_bytes")
    try:
        return a2b_base64(encoded) if isinstance(encoded, str) else None
    except (Base64Error, ValueError):
        return None


def _special_tokens(whole: Field, count: int) -> dict[str, int]:
    named: dict[str, int] = {}
    given = whole.optional("special_tokens")
    if given is None:
        version = whole.get("config").get("version")
        if version.string() not in NAMELESS_VERSIONS:
            raise version.invalid(f"is {version.string()!r}, which must name its special_tokens")
        named = {content: id for id, content in enumerate(TEKKEN_V3[:count])}
    else:
        for place, entry in enumerate(given.items()):
            content = entry.get("token_str").string()
            if content in named or not content:
                raise entry.get("token_str").invalid(f"is {content!r}, empty or there twice")
            named[content] = entry.get("rank").integer(place, min(place, count - 1))
    filler = {f"<SPECIAL_{id}>": id for id in range(len(named), count)}
    return named | filler
