"""JSON text of tokenizer files, read strictly, in bounded time and memory.

Stricter than the standard library, as strict as Hugging Face's reader, and more: one document of
UTF-8 without byte order mark, no NaN or Infinity, no key twice in one object, no lone surrogates.
"""

from __future__ import annotations

import gc
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from numbatok.errors import InvalidTokenizerFile

MAX_BYTES = 1 << 27
"""Largest file that is read: 128 MiB, four times the largest published tokenizer file."""

_SURROGATES = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(\\u[dD][c-fC-F][0-9a-fA-F]{2})?|[c-fC-F])"
)
"""Escaped surrogates, group 1 being the second of a pair: one without it may stand alone.

What follows an escaped backslash looks the same. Literal at its start, or 16 MB take 0.2 s.
"""


class _RepeatsKey(dict[str, object]):
    """An object that names a key twice; found again by `_repeated_key` to tell its place."""

    key: str


def parse_json(data: bytes, file: str) -> object:
    """Return the value of a JSON file.

    Raises:
        InvalidTokenizerFile: with the file and, where there is one, the line or the field.
    """
    repeats: list[_RepeatsKey] = []
    with paused_collection():
        value = _load(decode_text(data, file), file, repeats)
    if repeats:
        path = next(path for path, item in walk(value) if item is repeats[0])
        raise InvalidTokenizerFile(
            f"{file}: {path or 'the file'} names {repeats[0].key!r} twice; "
            "which of the two is meant is unknown."
        )
    if any(found[1] is None for found in _SURROGATES.finditer(data)):
        _refuse_lone_surrogates(value, file)
    return value


def _load(text: str, file: str, repeats: list[_RepeatsKey]) -> object:
    """Parse, and collect the objects that name a key twice."""
    try:
        return json.loads(
            text,
            object_pairs_hook=lambda pairs: _object(pairs, repeats),
            parse_constant=lambda name: _refuse_constant(name, file),
        )
    except InvalidTokenizerFile:
        raise
    except json.JSONDecodeError as error:
        raise InvalidTokenizerFile(
            f"{file} is no JSON: {error.msg} at line {error.lineno} column {error.colno}. "
            "The file is damaged or of another kind; get it again."
        ) from error
    except RecursionError as error:
        raise InvalidTokenizerFile(
            f"{file} nests more than about 1000 levels deep; no tokenizer file needs 20."
        ) from error
    except ValueError as error:  # a number of more than 4300 digits
        raise InvalidTokenizerFile(f"{file} holds a number that cannot be read: {error}") from error


def decode_text(data: bytes, file: str) -> str:
    """Return a file as text, refusing what is too large or no plain UTF-8."""
    if len(data) > MAX_BYTES:
        raise InvalidTokenizerFile(
            f"{file} has {len(data)} bytes; tokenizer files above {MAX_BYTES} are refused."
        )
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise InvalidTokenizerFile(
            f"{file} begins with a byte order mark; save it as UTF-8 without one."
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidTokenizerFile(
            f"{file} is no UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}. "
            "The file is damaged or of another kind."
        ) from error


def _object(pairs: list[tuple[str, object]], repeats: list[_RepeatsKey]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    bad = _RepeatsKey(value)
    bad.key = Counter(key for key, _ in pairs).most_common(1)[0][0]
    repeats.append(bad)
    return bad


def _refuse_constant(name: str, file: str) -> object:
    raise InvalidTokenizerFile(f"{file} holds {name}, which is no JSON number.")


@contextmanager
def paused_collection() -> Iterator[None]:
    """Keep the cycle collector out: it took half of the 0.3 s that 446,189 merges take to parse."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def walk(value: object) -> Iterator[tuple[str, object]]:
    """Yield every value below `value` with its path, without recursion; keys come before values."""
    pending: list[tuple[str, object]] = [("", value)]
    while pending:
        path, item = pending.pop()
        yield path, item
        if isinstance(item, dict):
            pending.extend((f"{path}.{key}" if path else key, inner) for key, inner in item.items())
        elif isinstance(item, list):
            pending.extend((f"{path}[{place}]", inner) for place, inner in enumerate(item))


def _refuse_lone_surrogates(root: object, file: str) -> None:
    for path, item in walk(root):
        strings = item if isinstance(item, dict) else [item]
        for string in strings:
            if isinstance(string, str) and not _is_unicode(string):
                raise InvalidTokenizerFile(
                    f"{file}: {path!a} holds a lone surrogate, {string!a}, "
                    "which is no Unicode text."
                )


def _is_unicode(string: str) -> bool:
    try:
        string.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
