"""Compile and cache everything now, so that no later process waits for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import chain

Step = Callable[[], bool]
Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Warmed:
    """What a warm-up did: how many steps had something to do, of how many, in how many seconds."""

    compiled: int
    steps: int
    seconds: float

    def __str__(self) -> str:
        if self.compiled == 0:
            return f"everything was ready ({self.steps} steps checked in {self.seconds:.1f} s)"
        return f"{self.compiled} of {self.steps} steps had to be done, in {self.seconds:.1f} s"


def warmup(progress: Report | bool | None = None) -> Warmed:
    """Compile and cache every group of kernels, the parallel driver, and GPT-2's tables.

    progress   called with (steps done, steps, name of the last one); True or False turn the bar on
               standard error on or off, None shows it on a terminal only

    Errors: CompileError.
    """
    from numbatok import native
    from numbatok.groups import GROUPS

    groups = [] if native.interpreted() else list(GROUPS)
    last: list[tuple[str, Step]] = [("gpt2 tables", _prepare_gpt2)]
    if not native.interpreted():
        last.append(("parallel driver", _prepare_driver))
    report, steps = _reporter(progress), len(groups) + len(last)
    started, done, compiled = time.monotonic(), 0, 0
    report(done, steps, "")
    for name, compiled_now in chain(_prepare_groups(groups), ((n, step()) for n, step in last)):
        done, compiled = done + 1, compiled + compiled_now
        report(done, steps, name)
    return Warmed(compiled, steps, time.monotonic() - started)


def _prepare_groups(groups: list[str]) -> Iterator[tuple[str, bool]]:
    """Prepare groups side by side, each in its child process of about 250 MB, as they finish."""
    from numbatok.native import prepare
    from numbatok.parallel import n_threads

    with ThreadPoolExecutor(min(4, n_threads())) as pool:
        running = {pool.submit(prepare, group): group for group in groups}
        try:
            for future in as_completed(running):
                yield f"{running[future]} kernels", future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _prepare_driver() -> bool:
    from numbatok.parallel import prepare

    return prepare()


def _prepare_gpt2() -> bool:
    from numbatok import formats, image
    from numbatok.compile import build_tables

    located = formats.locate("gpt2")
    if image.open_image(located.digest) is not None:
        return False
    spec = located.read()
    image.save_image(located.digest, spec, build_tables(spec))
    return True


def _reporter(progress: Report | bool | None) -> Report:
    if callable(progress):
        return progress
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    return draw_bar if progress else lambda done, steps, name: None


def draw_bar(done: int, steps: int, name: str, width: int = 16) -> None:
    """Draw a progress bar over the current line of standard error; end the line when all is done.

    Five lines instead of a progress library, because the package depends on NumPy and Numba only.
    """
    filled = width * done // max(steps, 1)
    bar = "█" * filled + "░" * (width - filled)
    end = "\n" if done == steps else "\r"  # what is printed meanwhile covers the bar
    print(f"\x1b[K{bar} {done}/{steps} {name}", end=end, file=sys.stderr, flush=True)
