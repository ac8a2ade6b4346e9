"""What counting and training found, as data and as text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class WordsReport:
    """What a corpus consists of.

    suggested_vocabulary is a token for every distinct pretoken and the 256 bytes: an upper bound
    of what a vocabulary can use, no recommendation.
    """

    total: int  # pretokens, repetitions included
    distinct: int
    singletons: int  # pretokens that occur once
    distinct_bytes: int  # of the distinct pretokens
    suggested_vocabulary: int
    top: list[tuple[bytes, int]]  # the most frequent pretokens

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON; pretokens are str, with U+FFFD for what is not UTF-8."""
        return asdict(self) | {"top": [[shown(word), count] for word, count in self.top]}

    def __str__(self) -> str:
        names = ("total", "distinct", "singletons", "distinct_bytes", "suggested_vocabulary")
        lines = [f"{name.replace('_', ' ') + ':':22}{getattr(self, name):>15,}" for name in names]
        width = max((len(repr(shown(word))) for word, _ in self.top), default=0)
        lines += [f"{shown(word)!r:{width}} {count:>12,}" for word, count in self.top]
        return "\n".join(lines)


def shown(word: bytes) -> str:
    """Return a pretoken to look at."""
    return word.decode(errors="replace")


@dataclass(frozen=True)
class TrainingReport:
    """What a training did.

    Sizes are bytes. bytes_per_token is that of the text that was trained on; held_out that of
    `held_out`, None without it.
    """

    vocab_size: int
    n_merges: int
    stopped: str  # why no more merges were learned
    last_count: int  # how often the pair of the last merge occurred
    n_documents: int | None  # None: the counts were made elsewhere
    text_bytes: int
    n_pretokens: int
    n_distinct: int
    n_tokens: int
    bytes_per_token: float
    held_out_bytes_per_token: float | None
    seconds_counting: float
    seconds_merging: float
    peak_memory: int | None  # of the process; None where the system does not tell
    n_resumed: int  # merges that a checkpoint had

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return asdict(self)

    def __str__(self) -> str:
        held_out = self.held_out_bytes_per_token
        memory = "unknown" if self.peak_memory is None else f"{self.peak_memory / 1e6:,.0f} MB"
        return "\n".join(
            [
                f"{self.vocab_size:,} ids, {self.n_merges:,} merges; stopped: {self.stopped}",
                f"{self.text_bytes:,} bytes, {self.n_pretokens:,} pretokens, "
                f"{self.n_distinct:,} of them distinct",
                f"{self.bytes_per_token:.3f} bytes per token"
                + ("" if held_out is None else f", {held_out:.3f} on the held-out text"),
                f"counting {self.seconds_counting:.1f} s, merging {self.seconds_merging:.1f} s, "
                f"peak memory {memory}",
            ]
        )
