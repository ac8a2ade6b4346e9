"""The arguments of `numbatok.train`, checked before anything is read."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union

from numbatok.errors import InvalidType, InvalidValue
from numbatok.training.ties import Ties, alphabet

Veto = Union[Callable[[bytes, bytes], bool], str, bytes, "re.Pattern[str]", "re.Pattern[bytes]"]
LEAST_MEMORY = 64_000_000  # 64 MB: some tables, and a block of text


class DefaultPattern(str):
    """The name of a pattern that nobody asked for: counts and tokenizers bring their own."""

    __slots__ = ()


@dataclass(frozen=True)
class Options:
    """What decides the merges, besides the corpus, the pattern and the vocabulary."""

    ties: Ties
    alphabet: tuple[bytes, ...]
    min_frequency: int
    max_token_bytes: int | None
    veto: Callable[[bytes, bytes], bool] | None
    veto_name: str | None  # what a checkpoint knows of it

    def to_json(self) -> dict[str, Any]:
        """Return what a checkpoint compares."""
        return {
            "ties": self.ties,
            "alphabet": b"".join(self.alphabet).hex(),
            "min_frequency": self.min_frequency,
            "max_token_bytes": self.max_token_bytes,
            "veto": self.veto_name,
        }


def check_options(
    ties: Ties,
    initial_alphabet: Literal["bytes"] | bytes,
    min_frequency: int,
    max_token_bytes: int | None,
    veto: Veto | None,
) -> Options:
    """Return the options. Errors: InvalidType, InvalidValue naming the argument."""
    order = _alphabet(ties, initial_alphabet)
    longest = None if max_token_bytes is None else integer("max_token_bytes", max_token_bytes, 1)
    frequency = integer("min_frequency", min_frequency, 0)
    return Options(ties, order, frequency, longest, *_veto(veto))


def _alphabet(ties: Ties, chosen: object) -> tuple[bytes, ...]:
    if isinstance(chosen, str) and chosen == "bytes":
        return tuple(alphabet(ties))
    alphabet(ties)
    if not isinstance(chosen, bytes):
        raise InvalidValue(
            f"initial_alphabet is {chosen!r:.60}; 'bytes' or a bytes object with all 256 in the "
            "order of their ids is possible: fewer could not encode every text"
        )
    if len(chosen) != 256 or len(set(chosen)) != 256:
        raise InvalidValue(
            f"initial_alphabet has {len(set(chosen))} different bytes of 256; each must come once"
        )
    return tuple(bytes([byte]) for byte in chosen)


def _veto(veto: object) -> tuple[Callable[[bytes, bytes], bool] | None, str | None]:
    """Return a function of left and right that is True for a forbidden merge, and its name."""
    if veto is None:
        return None, None
    if callable(veto):
        return veto, "a function"
    pattern: Any = veto
    if isinstance(veto, (str, bytes)):
        try:
            pattern = re.compile(veto)
        except re.error as error:
            raise InvalidValue(f"veto is {veto!r:.100}, no regex: {error}") from None
    if not isinstance(pattern, re.Pattern):
        raise InvalidType(
            f"veto is {veto!r:.60} ({type(veto).__name__}); a function of left and right, or a "
            "regex that is searched in the product, is needed"
        )
    found, name = pattern.search, f"regex {pattern.pattern!r} {pattern.flags}"
    if isinstance(pattern.pattern, bytes):
        return lambda left, right: found(left + right) is not None, name
    return lambda left, right: found((left + right).decode(errors="replace")) is not None, name


def integer(name: str, value: object, least: int) -> int:
    """Return an integer argument. Errors: InvalidType, InvalidValue naming it."""
    if isinstance(value, bool):
        raise InvalidType(f"{name} is {value!r}; an integer is needed")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidType(
            f"{name} is {value!r:.60} ({type(value).__name__}); an integer is needed"
        ) from None
    if number < least:
        raise InvalidValue(f"{name} is {number}; at least {least} is needed")
    return number


def check_memory(memory_limit: object) -> int | None:
    """Return the limit in bytes. Errors: InvalidType, InvalidValue."""
    if memory_limit is None:
        return None
    return integer("memory_limit", memory_limit, LEAST_MEMORY)


def check_folder(name: str, folder: object) -> Path | None:
    """Return a folder argument. Errors: InvalidType; InvalidValue for a file of that name."""
    if folder is None:
        return None
    if not isinstance(folder, (str, Path)):
        raise InvalidType(f"{name} is {folder!r:.60} ({type(folder).__name__}); a path is needed")
    if str(folder) == "":
        raise InvalidValue(f"{name} is empty; '.' is the folder where this process runs")
    if Path(folder).is_file():
        raise InvalidValue(f"{name} {str(folder)!r} is a file; a folder is needed")
    return Path(folder)
