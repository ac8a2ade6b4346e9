"""What the tokens of a text look like: colored HTML in a notebook, ANSI colors in a terminal."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from numbatok.policy import Invalid, Special
    from numbatok.tokenizer import Tokenizer

# Light backgrounds under black text, readable on light and dark pages; neighbors differ.
HTML_COLORS = ("#cfe8ff", "#d5f5d0", "#ffe5c2", "#ffd6e4", "#e3dcff")
ANSI_COLORS = (153, 157, 223, 218, 189)
SPAN = "background:{color};color:#111;border-radius:3px;{more}"
FRAME = "white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace;line-height:1.7"

Kind = Literal["text", "mark"]  # as it is, or something that stands for what cannot be seen


@dataclass(frozen=True)
class ShownToken:
    """One token of a text: its id, its bytes, where they start, and whether it is special."""

    id: int
    data: bytes
    start: int  # byte offset among the bytes of all tokens
    special: bool

    def parts(self) -> Iterator[tuple[Kind, str]]:
        """Yield what to print: text as it is, and marks for line ends, controls and lone bytes."""
        pos = 0
        while pos < len(self.data):
            try:
                text, lone = self.data[pos:].decode(), b""
            except UnicodeDecodeError as error:
                stop = pos + error.start
                text = self.data[pos:stop].decode()
                lone = self.data[stop : pos + error.end]
            yield from _visible(text)
            if lone:
                yield "mark", "".join(f"\\x{byte:02x}" for byte in lone)
            pos += len(text.encode()) + len(lone)


def _visible(text: str) -> Iterator[tuple[Kind, str]]:
    for character in text:
        if character == "\n":
            yield "mark", "↵"
            yield "text", "\n"
        elif character.isprintable():
            yield "text", character
        else:
            yield "mark", character.encode("unicode_escape").decode()


class Shown:
    r"""The tokens of a text, to look at.

    A notebook shows colored HTML with each token's id and bytes on hover; `print` shows the same
    colors in a terminal, and `|` between tokens elsewhere (NO_COLOR and FORCE_COLOR are respected).
    Bytes that are no character, line ends and other characters that cannot be seen appear as
    marks: `\xe2`, `↵`, `\u200b`.
    """

    def __init__(self, tokens: list[ShownToken], n_tokens: int, n_bytes: int) -> None:
        self.tokens = tokens
        self._n_tokens, self._n_bytes = n_tokens, n_bytes

    @property
    def summary(self) -> str:
        """How many tokens and bytes the whole text has."""
        ratio = f", {self._n_bytes / self._n_tokens:.1f} bytes a token" if self._n_tokens else ""
        hidden = self._n_tokens - len(self.tokens)
        more = f"; the last {hidden:,} are not shown" if hidden else ""
        return f"{self._n_tokens:,} tokens, {self._n_bytes:,} bytes{ratio}{more}"

    def _repr_html_(self) -> str:
        spans = "".join(_html_span(number, token) for number, token in enumerate(self.tokens))
        return f'<div style="{FRAME}">{spans}</div><small>{html.escape(self.summary)}</small>'

    def __str__(self) -> str:
        texts = ["".join(part for _, part in token.parts()) for token in self.tokens]
        ids = [str(token.id) for token in self.tokens]
        if not _has_colors():
            return "\n".join(["|".join(texts), " ".join(ids), self.summary])
        text = "".join(_ansi(number, token) for number, token in enumerate(self.tokens))
        ids = [_colored(number, i, "") for number, i in enumerate(ids)]
        return "\n".join([text, " ".join(ids), self.summary])

    __repr__ = __str__


def _html_span(number: int, token: ShownToken) -> str:
    color = HTML_COLORS[number % len(HTML_COLORS)]
    style = SPAN.format(color=color, more="font-weight:bold" if token.special else "")
    stop = token.start + len(token.data)
    title = f"id {token.id} · bytes {token.data.hex(' ')} · {token.start}–{stop}"
    if token.special:
        title += " · special"
    inside = "".join(
        html.escape(part) if kind == "text" else f'<i style="opacity:.55">{html.escape(part)}</i>'
        for kind, part in token.parts()
    )
    return f'<span title="{html.escape(title)}" style="{style}">{inside}</span>'


def _ansi(number: int, token: ShownToken) -> str:
    style = ";1" if token.special else ""
    text = "".join(
        part if kind == "text" else f"\x1b[4m{part}\x1b[24m" for kind, part in token.parts()
    )
    # a background that runs over a line end would fill the next line
    return "\n".join(_colored(number, line, style) if line else "" for line in text.split("\n"))


def _colored(number: int, text: str, style: str) -> str:
    color = ANSI_COLORS[number % len(ANSI_COLORS)]
    return f"\x1b[30;48;5;{color}{style}m{text}\x1b[0m"


def _has_colors() -> bool:
    """Tell whether standard output shows ANSI colors; NO_COLOR and FORCE_COLOR decide first."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def show(
    tokenizer: Tokenizer, text: str | bytes, special: Special, invalid: Invalid, limit: int
) -> Shown:
    """Return a view of the first `limit` tokens of a text; see Tokenizer.show."""
    ids = tokenizer.encode(text, special, invalid=invalid)
    special_ids = set(tokenizer.special_tokens.values())
    tokens, start = [], 0
    for i in ids[:limit].tolist():
        data = tokenizer.token_bytes(i)
        tokens.append(ShownToken(i, data, start, i in special_ids))
        start += len(data)
    n_bytes = start + sum(len(tokenizer.token_bytes(i)) for i in ids[limit:].tolist())
    return Shown(tokens, len(ids), n_bytes)
