"""How far a run is: a bar on a terminal or in a notebook, nothing where output is piped."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Union


@dataclass(frozen=True)
class Progress:
    """What a progress function is called with after each block."""

    rows: int
    text_bytes: int
    ids: int
    read_bytes: int  # of the input files
    total_bytes: int  # of the input files


Report = Callable[[Progress], None]
Choice = Union[bool, Report, None]


class Bar:
    """A bar of tqdm over the bytes of the input files, with rows, ids and speed beside it.

    tqdm is the progress library that most of Python's data tools use; without it there is no bar.
    """

    def __init__(self) -> None:
        with warnings.catch_warnings():  # in a notebook without ipywidgets the bar is text
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm

        self._bar: Any = tqdm(unit="B", unit_scale=True, desc="encode", file=sys.stderr)

    def __call__(self, progress: Progress) -> None:
        """Show what is done."""
        self._bar.total = progress.total_bytes or None
        seconds = max(self._bar.format_dict["elapsed"], 1e-9)
        speed = progress.text_bytes / seconds / 1e6
        self._bar.set_postfix_str(
            f"{progress.rows:,} rows, {progress.ids:,} ids, {speed:.0f} MB/s of text", refresh=False
        )
        self._bar.update(progress.read_bytes - self._bar.n)

    def close(self) -> None:
        """End the line."""
        self._bar.close()


class Reporter:
    """Whoever is told about progress, for the time of a `with`."""

    def __init__(self, choice: Choice) -> None:
        self._bar: Bar | None = None
        self.report: Report = choice if callable(choice) else _ignore
        if choice is True or (choice is None and _is_watched()):
            try:
                self._bar = self.report = Bar()
            except ImportError:
                if choice is True:
                    print("numbatok: no progress bar without tqdm", file=sys.stderr)

    def __enter__(self) -> Report:
        return self.report

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _ignore(progress: Progress) -> None:
    pass


def _is_watched() -> bool:
    """Tell whether standard error is a terminal, or this is a notebook."""
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
