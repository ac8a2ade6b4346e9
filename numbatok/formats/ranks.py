"""Rank files: one token a line, base64 and its rank (.tiktoken, tiktoken.model, tokenizer.model).

The rank is the id, and two tokens merge if their concatenation is a token. Pattern and special
tokens come from the caller.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping

from numbatok.errors import InvalidTokenizerFile, InvalidValue
from numbatok.formats.byte_alphabet import to_bytes
from numbatok.formats.json_model import MAX_ID
from numbatok.formats.strict_json import paused_collection
from numbatok.pattern_names import NamedPattern
from numbatok.spec import AddedToken, BpeModel, TokenizerSpec

LINE = re.compile(rb"([A-Za-z0-9+/]*={0,2})[ \t]+([0-9]{1,8})\r?")

NO_UTF8 = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))
"""Bytes that no UTF-8 text contains; GPT-NeoX's vocabulary has no tokens for them."""


def read_ranks(data: bytes, file: str) -> dict[bytes, int]:
    """Return ranks by token, after checking that a tokenizer can be made of them.

    The empty token, which a published file of Whisper has, is returned like any other.

    Raises:
        InvalidTokenizerFile: a line that is none, a token or a rank twice, a byte without token.
    """
    with paused_collection():
        fields = data.split()
        encoded, numbers = fields[0::2], fields[1::2]
        try:
            tokens = [a2b_base64(part) for part in encoded]
            again = [b2a_base64(token, newline=False) for token in tokens]
            sound = again == encoded and all(map(bytes.isdigit, numbers))
        except Base64Error:
            sound = False
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        shape = (len(encoded), len(numbers)) == (lines, lines)
        if not sound or not shape or max(map(len, numbers), default=9) > 8:
            tokens, numbers = _read_lines(data, file)
        ranks = dict(zip(tokens, map(int, numbers), strict=True))
    if len(ranks) < len(tokens) or len(set(ranks.values())) < len(ranks):
        _refuse_repeats(tokens, numbers, file)
    check_bytes(ranks, file)
    return ranks


def ranks_to_spec(
    ranks: Mapping[bytes, int],
    pattern: NamedPattern,
    special_tokens: Mapping[str, int],
    name: str | None,
) -> TokenizerSpec:
    """Return the tokenizer of a rank file."""
    tokens = {token: rank for token, rank in ranks.items() if token}
    return TokenizerSpec(
        model=BpeModel(
            tokens=tokens,
            merges=None,
            opaque={"": ranks[b""]} if b"" in ranks else {},
            ignore_merges=True,
        ),
        pre_tokenizers=pattern.steps,
        added_tokens=special_added_tokens(special_tokens, ranks),
        engine=pattern.engine,
        name=name,
    )


def special_added_tokens(
    special_tokens: Mapping[str, int], ranks: Mapping[bytes, int]
) -> tuple[AddedToken, ...]:
    """Return special tokens as added tokens.

    Raises:
        InvalidValue: an id is out of range or the rank of another token.
    """
    owners = {rank: token for token, rank in ranks.items()}
    for content, id in special_tokens.items():
        if not content:
            raise InvalidValue("special_tokens holds an empty string; a special token has text.")
        if not 0 <= id <= MAX_ID:
            raise InvalidValue(f"special_tokens[{content!r}] is {id}, expected 0..{MAX_ID}.")
        if owners.get(id, content.encode()) != content.encode():
            raise InvalidValue(
                f"special_tokens[{content!r}] is {id}, the rank of {owners[id]!r} in the file; "
                f"ids from {max(owners) + 1} are free."
            )
    return tuple(AddedToken(content, id) for content, id in special_tokens.items())


def _read_lines(data: bytes, file: str) -> tuple[list[bytes], list[bytes]]:
    """Read line by line, slower, and name the line that is none; empty lines are skipped."""
    tokens, numbers = [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        match = LINE.fullmatch(line)
        try:
            token = None if match is None else _decode(match[1])
        except Base64Error:
            token = None
        if match is None or token is None:
            raise InvalidTokenizerFile(
                f"{file}: line {number} is {line[:60]!r}, expected base64 and a rank below 10^8. "
                "The file is damaged or no rank file; get it again."
            )
        tokens.append(token)
        numbers.append(match[2])
    return tokens, numbers


def _decode(encoded: bytes) -> bytes:
    """Decode base64; `=` alone is the empty token (line 50257 of Whisper's multilingual file)."""
    if encoded == b"=":
        return b""
    token = a2b_base64(encoded)
    if b2a_base64(token, newline=False) != encoded:
        raise Base64Error
    return token


def _refuse_repeats(tokens: list[bytes], numbers: list[bytes], file: str) -> None:
    seen: set[bytes] = set()
    owners: dict[int, bytes] = {}
    for place, (token, number) in enumerate(zip(tokens, numbers, strict=True)):
        rank = int(number)
        if token in seen:
            fact = f"{token[:40]!r} twice"
        elif rank in owners:
            fact = f"rank {rank} twice, for {owners[rank][:40]!r} and {token[:40]!r}"
        else:
            seen.add(token)
            owners[rank] = token
            continue
        raise InvalidTokenizerFile(
            f"{file}: entry {place + 1} of {len(tokens)} gives {fact}; which is meant is unknown."
        )


def check_bytes(ranks: Mapping[bytes, int], file: str) -> None:
    """Refuse ranks with which some text would have no ids."""
    if not ranks:
        raise InvalidTokenizerFile(f"{file} holds no tokens; get it again.")
    if max(ranks.values()) > MAX_ID:
        raise InvalidTokenizerFile(f"{file} holds rank {max(ranks.values())}, above {MAX_ID}.")
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks and byte not in NO_UTF8]
    if not missing:
        return
    spelled = sum(_is_spelled(token) for token in ranks)
    hint = "The file is incomplete; get it again."
    if spelled > len(ranks) // 2:
        hint = "Its tokens are spelled in GPT-2's byte alphabet; a rank file holds raw bytes."
    raise InvalidTokenizerFile(
        f"{file} has no token for {len(missing)} of the 256 bytes (0x{missing[0]:02x} first), "
        f"so text with them has no ids. {hint}"
    )


def _is_spelled(token: bytes) -> bool:
    try:
        return to_bytes(token.decode("utf-8")) is not None
    except UnicodeDecodeError:
        return False
