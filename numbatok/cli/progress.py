"""Progress of long work: a line on the terminal, nothing when standard error is none."""

from __future__ import annotations

import sys
import time
from types import TracebackType

EVERY = 0.2  # seconds


class Progress:
    """Counts bytes and ids, and shows them from time to time while the block runs."""

    def __init__(self, total: int | None = None) -> None:
        self._total = total
        self._shows = sys.stderr is not None and sys.stderr.isatty()
        self._started = self._shown = time.monotonic()
        self._n_bytes = self._n_ids = 0
        self._drawn = False

    def add(self, n_bytes: int, n_ids: int) -> None:
        """Count some more."""
        self._n_bytes += n_bytes
        self._n_ids += n_ids
        now = time.monotonic()
        if self._shows and now - self._shown >= EVERY:
            self._shown, self._drawn = now, True
            print(f"\r\x1b[K{self.line(now)}", end="", file=sys.stderr, flush=True)

    def line(self, now: float) -> str:
        """Return what is shown at a time."""
        seconds = max(now - self._started, 1e-9)
        speed = self._n_bytes / seconds
        parts = [
            f"{self._n_bytes / 1e6:,.1f} MB",
            f"{self._n_ids:,} ids",
            f"{speed / 1e6:,.1f} MB/s",
        ]
        if self._total and self._n_bytes:
            left = max(0, self._total - self._n_bytes) / speed
            parts.append(f"{100 * self._n_bytes / self._total:.0f} %, {left:.0f} s left")
        return ", ".join(parts)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
