"""A place in a pattern, and the errors that name it."""

from __future__ import annotations

import re

from numbatok.errors import InvalidTokenizerFile, UnsupportedTokenizer

MOST_COUNT = 100_000  # Oniguruma's limit of a counted repeat

_INTERVAL = re.compile(r"\{(\d{0,6})(,?)(\d{0,6})\}")
_SYMBOLS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class Cursor:
    """A place in a pattern of one of the two engines."""

    def __init__(self, pattern: str, engine: str) -> None:
        self.pattern, self.position = pattern, 0
        self.is_oniguruma = engine == "tokenizers"

    def at_end(self) -> bool:
        """Tell whether nothing is left."""
        return self.position >= len(self.pattern)

    def here(self, length: int = 1) -> str:
        """Return the next characters, fewer at the end."""
        return self.pattern[self.position : self.position + length]

    def next(self) -> str:
        """Go over one character and return it. Errors: InvalidTokenizerFile at the end."""
        if self.at_end():
            raise self.damaged("it ends too early")
        self.position += 1
        return self.pattern[self.position - 1]

    def sees(self, text: str) -> bool:
        """Tell whether `text` comes next."""
        return self.pattern.startswith(text, self.position)

    def take(self, text: str) -> bool:
        """Go over `text` if it comes next; tell whether it did."""
        if not self.sees(text):
            return False
        self.position += len(text)
        return True

    def match(self, regex: re.Pattern[str]) -> re.Match[str] | None:
        """Go over what a regex matches here and return the match, or None."""
        found = regex.match(self.pattern, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def quantifier(self) -> tuple[int, int | None, bool] | None:
        """Go over a quantifier; return least, most and whether it is an interval, or None."""
        if self.here() in _SYMBOLS:
            least, most = _SYMBOLS[self.next()]
            return least, most, False
        start = self.position
        found = self.match(_INTERVAL)
        if found is None or not (found[1] or found[3]):
            self.position = start
            return None
        if not self.is_oniguruma and not found[1]:
            raise self.unsupported("an interval without its first number", start)
        low = int(found[1] or 0)
        high = low if not found[2] else int(found[3]) if found[3] else None
        if high is not None and high < low:
            raise self.unsupported(f"the interval {found[0]}", start)
        if max(low, high or 0) > MOST_COUNT:
            raise self.unsupported(f"the interval {found[0]}, above {MOST_COUNT}", start)
        return low, high, True

    def unsupported(self, what: str, position: int | None = None) -> UnsupportedTokenizer:
        """Return the error for a construct that is not reproduced exactly."""
        return UnsupportedTokenizer(f"regex: {what} is not supported, at {self._place(position)}")

    def damaged(self, what: str, position: int | None = None) -> InvalidTokenizerFile:
        """Return the error for a pattern that no engine takes."""
        return InvalidTokenizerFile(f"regex: {what}, at {self._place(position)}")

    def _place(self, position: int | None) -> str:
        place = self.position if position is None else position
        return f"character {place} of {self.pattern!r:.200}"
