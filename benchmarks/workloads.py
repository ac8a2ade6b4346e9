"""What is cut out of a text for each state. Pure functions; every library gets the same pieces."""

from dataclasses import dataclass

CHUNK_BYTES = 4096
ROW_CHARACTERS = 100
CALL_CHARACTERS = (20, 200, 2000)


@dataclass(frozen=True)
class Settings:
    """How much is measured; part of every result."""

    text_bytes: int = 4_000_000  # the part of a text that is used
    replays: int = 7  # of the whole text, after the cold encode
    fresh_chunks: int = 32  # evenly spaced over the text
    objects: int = 8  # that are loaded anew, a chunk of those for each
    call_slices: int = 64  # different texts of a small call
    call_bytes: int = 2_000_000  # encoded by the timed small calls of one length, about
    rows: int = 10_000
    n_threads: int = 1  # that a batch may use


QUICK = Settings(
    text_bytes=60_000,
    replays=3,
    fresh_chunks=2,
    objects=2,
    call_slices=8,
    call_bytes=20_000,
    rows=200,
)


def chunks(text: str) -> list[str]:
    """Return text in chunks that end with the first newline past `CHUNK_BYTES` bytes."""
    data, start, parts = text.encode("utf-8"), 0, []
    while start < len(data):
        newline = data.find(b"\n", start + CHUNK_BYTES)
        end = len(data) if newline < 0 else newline + 1
        parts.append(data[start:end].decode("utf-8"))
        start = end
    return parts


def spread(parts: list[str], n: int) -> list[str]:
    """Return n of the parts, evenly spaced; all of them if there are fewer."""
    if len(parts) <= n:
        return parts
    return [parts[i * len(parts) // n] for i in range(n)]


def slices(text: str, n_characters: int, n: int) -> list[str]:
    """Return n slices of n_characters each, evenly spaced over the text."""
    room = len(text) - n_characters
    return [text[i * room // n :][:n_characters] for i in range(n)]


def rows(text: str, n: int) -> list[str]:
    """Return n short rows: the lines that are not blank, cut and repeated as often as needed."""
    lines = [line[:ROW_CHARACTERS] for line in text.split("\n") if line.strip()]
    return [lines[i % len(lines)] for i in range(n)]
