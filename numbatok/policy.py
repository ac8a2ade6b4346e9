"""What a call does with special tokens and with bytes that are not UTF-8, checked once per kind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Union

import numpy as np

from numbatok.errors import InvalidType, InvalidUtf8, InvalidValue, SpecialTokenError
from numbatok.spec import AddedToken
from numbatok.tables import PLAIN, RECOGNIZE, REFUSE, U8


@dataclass(frozen=True)
class Choice:
    """A `special=` that names what to do with each token; any other is plain text."""

    recognized: frozenset[str]
    refused: frozenset[str]


Special = Union[Literal["raise", "recognize", "plain"], Collection[str], Choice]
Invalid = Literal["byte-alphabet", "punct", "replace", "error"]
INVALID = ("byte-alphabet", "punct", "replace", "error")


@dataclass(frozen=True)
class Policy:
    """What a call does with added tokens and with bytes that are not UTF-8."""

    added_actions: U8  # [n_tokens] PLAIN, RECOGNIZE or REFUSE by added token
    actions: U8  # the same for the driver; empty if it need not search
    ill_formed: U8  # [256] classes
    choice: str | None = None  # `special`, if it is a word and `invalid` is not given

    @cached_property
    def without_search(self) -> Policy:
        """The policy for texts in which the added tokens are found already."""
        return replace(self, actions=self.actions[:0])


@dataclass(frozen=True)
class Refusal:
    """An added token that the call refuses."""

    token: int  # its number
    document: int
    position: int  # byte offset in the document

    def moved(self, document: int, by: int) -> Refusal:
        """Return the refusal as seen from the whole of which its documents are a part."""
        return Refusal(self.token, document, self.position + by)


class Policies:
    """The policies of one tokenizer, made when a call first asks for them."""

    def __init__(
        self, tokens: Sequence[AddedToken], ill_formed: U8, punctuation: Callable[[], U8]
    ) -> None:
        self._tokens = tokens
        self._ill_formed, self._punctuation = ill_formed, punctuation
        self._made: dict[object, Policy] = {}

    def get(self, special: Special = "raise", invalid: Invalid = "byte-alphabet") -> Policy:
        """Return the policy of a call.

        Errors: InvalidType or InvalidValue for an unknown choice or an unknown token.
        """
        try:
            return self._made[special, invalid]
        except (KeyError, TypeError):
            key: object = special
        if not isinstance(special, (str, Choice)):
            key = _as_set(special)
        found = self._made.get((key, invalid))
        if found is None:
            _check_invalid(invalid)
            actions = self._actions(key)
            searched = actions if actions.any() else actions[:0]
            choice = None
            if isinstance(key, str) and invalid == "byte-alphabet":
                choice = sys.intern(str.__str__(key))  # of a subclass, such as an enum's, too
            found = Policy(actions, searched, self._classes(invalid), choice)
            self._made[key, invalid] = found
        return found

    def _classes(self, invalid: Invalid) -> U8:
        return self._punctuation() if invalid == "punct" else self._ill_formed

    def _actions(self, special: object) -> U8:
        """Return PLAIN, RECOGNIZE or REFUSE of each added token."""
        tokens = self._tokens
        if isinstance(special, frozenset):
            known = {token.content for token in tokens if token.special}
            for content in special:
                if content not in known:
                    raise InvalidValue(
                        f"special: {content!r} is no special token; known: {_some(sorted(known))}"
                    )
            chosen = [RECOGNIZE if t.content in special else REFUSE for t in tokens]
        elif isinstance(special, Choice):
            recognized = dict.fromkeys(special.recognized, RECOGNIZE)
            chosen_by = dict.fromkeys(special.refused, REFUSE) | recognized
            chosen = [chosen_by.get(token.content, PLAIN) for token in tokens]
        elif special in ("raise", "recognize", "plain"):
            action = {"raise": REFUSE, "recognize": RECOGNIZE, "plain": PLAIN}[str.__str__(special)]
            chosen = [action] * len(tokens)
        else:
            raise InvalidValue(
                f"special is {special!r}; use 'raise', 'recognize', 'plain' or a set of tokens"
            )
        for number, token in enumerate(tokens):
            if not token.special:
                chosen[number] = RECOGNIZE
        return np.array(chosen, np.uint8)


def _as_set(special: object) -> frozenset[str]:
    if not isinstance(special, (set, frozenset, list, tuple)):
        raise InvalidType(
            f"special is {special!r} ({type(special).__name__}); "
            "use 'raise', 'recognize', 'plain' or a set of tokens"
        )
    return frozenset(special)


def _check_invalid(invalid: object) -> None:
    if invalid not in INVALID:
        raise InvalidValue(f"invalid is {invalid!r}; use one of {', '.join(map(repr, INVALID))}")


def _some(names: Sequence[str], limit: int = 8) -> str:
    shown = ", ".join(map(repr, names[:limit]))
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "") or "none"


def special_token_error(
    refusal: Refusal,
    token: AddedToken,
    row: int | None,
    rows: tuple[int, int] | None = None,
    source: str = "",
    are_all: bool = True,
) -> SpecialTokenError:
    """Return the error of a text that contains a special token which the call refuses.

    rows     how many rows contain it, of how many that were looked at
    source   where the rows are from
    are_all  whether all rows were looked at
    """
    place = "the text" if row is None else f"row {row}{f' of {source}' if source else ''}"
    first = "" if are_all else "the first "
    also = f" {rows[0]:,} of {first}{rows[1]:,} rows contain it." if rows else ""
    return SpecialTokenError(
        f"{place} contains the special token {token.content!r} at byte {refusal.position}.{also} "
        f"If it may act as one, pass special='recognize' or special={{{token.content!r}}}; "
        "if it is plain text, pass special='plain'."
    )


# --- text of any kind to bytes --------------------------------------------------------------------


def to_bytes(text: object, invalid: Invalid = "byte-alphabet", row: int | None = None) -> bytes:
    """Return the UTF-8 of a str, or bytes after the policy on ill-formed ones.

    In a str, two surrogates that make a pair are its character and a lone one is U+FFFD, or with
    invalid="error" an error. Errors: InvalidType, InvalidUtf8.
    """
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            return _encode_surrogates(text, invalid, error, row)
    if isinstance(text, (bytes, bytearray, memoryview)):
        data = bytes(text)
        if invalid in ("byte-alphabet", "punct"):
            return data
        return _check_utf8(data, invalid, row)
    place = "text" if row is None else f"row {row}"
    raise InvalidType(f"{place} is {_shown(text)}; str or bytes is needed{_advice(text, row)}")


def check_rows(texts: object) -> Iterable[object]:
    """Return an iterable of texts. Errors: InvalidType if it is one text, or none."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise InvalidType(f"texts is {_shown(texts)}; an iterable of str or bytes is needed")
    return texts


def rows_to_bytes(rows: Sequence[object], invalid: Invalid = "byte-alphabet") -> list[bytes]:
    """Return the UTF-8 of each text. Errors name the row."""
    return [to_bytes(text, invalid, row) for row, text in enumerate(rows)]


def _shown(value: object) -> str:
    if value is None:
        return "None"
    return f"{repr(value)[:60]} ({type(value).__name__})"


def _advice(value: object, row: int | None) -> str:
    if row is None and isinstance(value, (list, tuple)):
        return "; for several texts use encode_batch"
    if hasattr(value, "as_py"):  # a scalar of pyarrow
        return "; for an Arrow column use encode_arrow"
    return ""


def _encode_surrogates(
    text: str, invalid: Invalid, error: UnicodeEncodeError, row: int | None
) -> bytes:
    if invalid == "error":
        place = "" if row is None else f"row {row}, "
        raise InvalidUtf8(
            f"{place}character {error.start} is the surrogate U+{ord(text[error.start]):04X}; "
            "another `invalid=` replaces it by U+FFFD"
        ) from None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _check_utf8(data: bytes, invalid: Invalid, row: int | None) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if invalid == "replace":
            return data.decode(errors="replace").encode()
        _check_invalid(invalid)
        place = "" if row is None else f"row {row}, "
        raise InvalidUtf8(
            f"{place}byte {error.start} is 0x{data[error.start]:02x}: {error.reason}; "
            "invalid='byte-alphabet' encodes any bytes, 'replace' puts U+FFFD there"
        ) from None
    return data
