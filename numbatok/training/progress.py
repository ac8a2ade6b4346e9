"""How far counting and merging are: a bar on a terminal or in a notebook, else nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Literal, Union

from numbatok.errors import InvalidType

EVERY = 0.1  # seconds between two reports


@dataclass(frozen=True)
class TrainingProgress:
    """What a progress function is called with.

    done and total are bytes read while counting (total None where nobody knows), merges while
    merging; rate is their number per second since the first report of the phase, 0 in that one,
    seconds_left None while nobody knows.
    """

    phase: Literal["counting", "merging"]
    done: int
    total: int | None
    distinct: int  # pretokens so far
    last_count: int  # how often the pair of the last merge occurred
    rate: float
    seconds_left: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name."""
        return asdict(self)


Report = Callable[[TrainingProgress], None]
Choice = Union[bool, Report, None]


class Bar:
    """A bar of tqdm for each phase; most of Python's data tools use it, in notebooks too."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self._new, self._bar, self._phase = tqdm, None, ""

    def __call__(self, progress: TrainingProgress) -> None:
        """Show what is done."""
        bar: Any = self._bar
        if progress.phase != self._phase:
            self.close()
            unit = {"unit": "B", "unit_scale": True} if progress.phase == "counting" else {}
            self._phase = progress.phase
            self._bar = bar = self._new(desc=progress.phase, file=sys.stderr, **unit)
        bar.total = progress.total
        note = f"{progress.distinct:,} distinct"
        if progress.phase == "merging":
            note += f", last pair {progress.last_count:,} times"
        bar.set_postfix_str(note, refresh=False)
        bar.update(progress.done - bar.n)

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            self._bar.close()


class Reporter:
    """Whoever is told about progress, for the time of a `with`."""

    def __init__(self, choice: Choice) -> None:
        if not (choice is None or isinstance(choice, bool) or callable(choice)):
            raise InvalidType(f"progress is {choice!r:.60}; True, False, None or a function")
        self._bar: Bar | None = None
        self._report: Report | None = choice if callable(choice) else None
        if choice is True or (choice is None and _is_watched()):
            try:
                self._bar = self._report = Bar()
            except ImportError:
                if choice is True:
                    print("numbatok: no progress bar without tqdm", file=sys.stderr)
        self._phase, self._started, self._last = "", 0.0, 0.0
        self._done_before = 0  # at the first report of the phase; a checkpoint had it perhaps

    def tell(
        self,
        phase: Literal["counting", "merging"],
        done: int,
        total: int | None,
        distinct: int,
        last_count: int = 0,
        is_last: bool = False,
    ) -> None:
        """Report, unless that was done a moment ago."""
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._started, self._last = phase, now, 0.0
            self._done_before = done
        if self._report is None or (now - self._last < EVERY and not is_last):
            return
        self._last = now
        rate = (done - self._done_before) / max(now - self._started, 1e-9)
        left = None if not total or rate <= 0 else max(0, total - done) / rate
        self._report(TrainingProgress(phase, done, total, distinct, last_count, rate, left))

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    """Tell whether standard error is a terminal, or this is a notebook."""
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
