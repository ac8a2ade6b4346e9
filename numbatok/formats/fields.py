"""Typed access to the values of a JSON file that can name the field where something is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NoReturn

from numbatok.errors import InvalidTokenizerFile, UnsupportedTokenizer

NAMES: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class Field:
    """A value with its path, such as `model.merges[12]`, and the name of its file."""

    __slots__ = ("file", "path", "value")

    def __init__(self, value: object, path: str, file: str) -> None:
        self.value = value
        self.path = path
        self.file = file

    def get(self, key: str) -> Field:
        """Return the field of that name; it is an error if there is none."""
        value = self.mapping()
        if key not in value:
            raise self.invalid(f"has no {key!r}")
        return self._below(key, value[key])

    def optional(self, key: str) -> Field | None:
        """Return the field of that name, None if it is missing or null."""
        value = self.mapping().get(key)
        return None if value is None else self._below(key, value)

    def items(self) -> Iterator[Field]:
        """Yield the elements of a list."""
        for place, value in enumerate(self.list()):
            yield Field(value, f"{self.path}[{place}]", self.file)

    def mapping(self) -> dict[str, object]:
        """Return the value, which must be an object."""
        return self.value if isinstance(self.value, dict) else self._wrong(dict)

    def list(self) -> Sequence[object]:
        """Return the value, which must be a list."""
        return self.value if isinstance(self.value, list) else self._wrong(list)

    def string(self) -> str:
        """Return the value, which must be a string."""
        return self.value if isinstance(self.value, str) else self._wrong(str)

    def character(self) -> str:
        """Return the value, which must be a string of one character."""
        value = self.string()
        if len(value) != 1:
            raise self.invalid(f"is {value!r}, expected one character")
        return value

    def boolean(self) -> bool:
        """Return the value, which must be true or false."""
        return self.value if isinstance(self.value, bool) else self._wrong(bool)

    def integer(self, first: int, last: int) -> int:
        """Return the value, which must be an integer in first..last."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self._wrong(int)
        if not first <= self.value <= last:
            raise self.invalid(f"is {_short(self.value)}, expected {first}..{last}")
        return self.value

    def choice(self, choices: Iterable[str]) -> str:
        """Return the value, which must be one of some strings."""
        value, known = self.string(), list(choices)
        if value not in known:
            raise self.invalid(f"is {_short(value)}, expected one of {', '.join(known)}")
        return value

    def invalid(self, fact: str) -> InvalidTokenizerFile:
        """Return the error that says what is wrong with this field."""
        return InvalidTokenizerFile(
            f"{self.file}: {self.place()} {fact}. "
            "The file is damaged or of another kind; get it again."
        )

    def unsupported(self, feature: str) -> UnsupportedTokenizer:
        """Return the error that says which feature of this field numbatok does not reproduce."""
        return UnsupportedTokenizer(
            f"{self.file}: {self.place()} {feature}, which numbatok does not reproduce; "
            "use the library that made the file."
        )

    def place(self) -> str:
        """Return the path, clipped to 200 characters, or words for the whole file."""
        return self.path[:200] or "the file"

    def _below(self, key: str, value: object) -> Field:
        return Field(value, f"{self.path}.{key}" if self.path else key, self.file)

    def _wrong(self, expected: type) -> NoReturn:
        raise self.invalid(f"is {_short(self.value)}, expected {NAMES[expected]}")


def _short(value: object) -> str:
    """Describe a value in at most 60 characters."""
    if isinstance(value, (list, dict)):
        return f"{NAMES[type(value)]} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str) and len(value) > 60:
        return f"{value[:57]!r}..."
    return repr(value)
