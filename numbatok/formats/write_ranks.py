"""Writing a rank file (.tiktoken), where ranks can say what the merges say.

A rank file has no pattern, no special tokens, no normalizer; `load` takes the first two as
arguments.
"""

from __future__ import annotations

import os
from binascii import b2a_base64
from collections.abc import Mapping

from numbatok.errors import UnsupportedTokenizer
from numbatok.formats.atomic import write_whole
from numbatok.formats.canonical import last_merge
from numbatok.formats.ranks import NO_UTF8
from numbatok.spec import BpeModel, TokenizerSpec


def write_tiktoken(spec: TokenizerSpec, path: str | os.PathLike[str]) -> None:
    """Write the ranks of a tokenizer to `path`, checked to give the same ids for every pretoken.

    Special tokens are left out, as in published rank files.

    Raises:
        UnsupportedTokenizer: ranks cannot say what this tokenizer does; the message names why.
        OSError: the file cannot be written.
    """
    ranks = exportable_ranks(spec)
    in_order = sorted(ranks.items(), key=lambda item: item[1])
    # the empty token is `=`, as in Whisper's file: a line has two fields
    encoded = ((b2a_base64(token, newline=False) or b"=", rank) for token, rank in in_order)
    write_whole(path, (b"%s %d\n" % line for line in encoded))


def exportable_ranks(spec: TokenizerSpec) -> dict[bytes, int]:
    """Return ranks by token that give the same ids as the model, special tokens apart.

    Merges give the same ids as ranks if their products' ids rise with their order, if every merge
    that ranks can come to (`canonical`) is one of them, and if every token is its own encoding,
    because a rank file returns a pretoken that is a token whole.

    Raises:
        UnsupportedTokenizer: one of these does not hold.
    """
    model = spec.model
    if spec.normalizers:
        raise _refused("text is normalized first", f"{spec.normalizers[0]!r}")
    added = {token.content.encode("utf-8", "surrogatepass") for token in spec.added_tokens}
    opaque = [token for token in model.opaque if token and token.encode() not in added]
    if opaque:
        raise _refused("a token is not spelled in the byte alphabet", repr(opaque[0][:60]))
    ranks = _without_special(model, added)
    if "" in model.opaque:
        ranks[b""] = model.opaque[""]
    missing = [b for b in range(256) if bytes([b]) not in ranks and b not in NO_UTF8]
    if missing:
        raise _refused(f"{len(missing)} bytes have no token", f"0x{missing[0]:02x} first")
    if model.merges is not None:
        _check_order(model, ranks)
        _check_merges(model, ranks)
    return ranks


def _without_special(model: BpeModel, added: set[bytes]) -> dict[bytes, int]:
    """Leave out the added tokens, but for those that merges make or use."""
    used = {part for pair in model.merges or () for part in (*pair, b"".join(pair))}
    return {
        token: id
        for token, id in model.tokens.items()
        if token not in added or token in used or len(token) == 1
    }


def _check_order(model: BpeModel, ranks: Mapping[bytes, int]) -> None:
    largest = -1
    for place, (left, right) in enumerate(model.merges or ()):
        id = ranks[left + right]
        if id < largest:
            raise _refused(
                "ids do not rise with the order of merges",
                f"merge {place}, of {left!r} and {right!r}, makes id {id} after id {largest}",
            )
        largest = id


def _check_merges(model: BpeModel, ranks: Mapping[bytes, int]) -> None:
    merges = set(model.merges or ())
    for token, id in ranks.items():
        if len(token) < 2:
            continue
        place = last_merge(token, ranks)
        if place and (token[:place], token[place:]) not in merges:
            raise _refused(
                "a merge would be added",
                f"{token[:place]!r} and {token[place:]!r} join to id {id} by rank",
            )
        if not place and not model.ignore_merges:
            raise _refused(
                "a token is not its own encoding",
                f"{token!r}, id {id}, is no result of the merges, but ranks return it whole",
            )


def _refused(reason: str, detail: str) -> UnsupportedTokenizer:
    return UnsupportedTokenizer(
        f"A rank file cannot hold this tokenizer: {reason} ({detail}). Save it as tokenizer.json."
    )
