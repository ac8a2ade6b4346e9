"""The states in which encoding is measured; each function runs in a fresh process.

A process belongs to one group of states, because some states follow from another: a replay comes
after the cold encode of the same text.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from statistics import median
from typing import Any

import numpy as np

from benchmarks import workloads
from benchmarks.libraries import TOUCH, Library, Unsupported
from benchmarks.workloads import Settings

STATES = {
    "whole": "replay",
    "warm": "replay",
    "pass": "pass",
    "fresh": "fresh",
    "new object": "new object",
    "after": "after",
    "call 20": "calls",
    "call 200": "calls",
    "call 2000": "calls",
    "batch": "batch",
    "batch warm": "batch",
}


@dataclass(frozen=True)
class Measurement:
    """One measured state of one process."""

    cpu_seconds: float  # of all threads of the process
    wall_seconds: float
    text_bytes: int  # UTF-8 bytes that were encoded in that time
    calls: int
    n_ids: int
    ids_sha256: str  # of the ids as little-endian uint32, hashed after the timer


class Stopwatch:
    """Adds up CPU and wall time over its `with` blocks, less what the clocks themselves take."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0
        self.blocks = 0

    def __enter__(self) -> "Stopwatch":
        self._wall = time.perf_counter()
        self._cpu = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu += time.process_time() - self._cpu
        self.wall += time.perf_counter() - self._wall
        self.blocks += 1

    def net(self) -> tuple[float, float]:
        """Return CPU and wall seconds without the cost of an empty block for each block."""
        cpu, wall = _empty_block()
        return max(self.cpu - self.blocks * cpu, 1e-9), max(self.wall - self.blocks * wall, 1e-9)


def _empty_block() -> tuple[float, float]:
    watches = []
    for _ in range(101):
        with Stopwatch() as watch:
            pass
        watches.append(watch)
    return median(w.cpu for w in watches), median(w.wall for w in watches)


def digest(parts: list[Any]) -> tuple[int, str]:
    """Return the number of ids and their SHA-256 as little-endian uint32."""
    arrays = [np.asarray(part, dtype="<u4") for part in parts]
    hashed = sha256()
    for array in arrays:
        hashed.update(array.tobytes())
    return sum(array.size for array in arrays), hashed.hexdigest()


def measured(watch: Stopwatch, texts: list[str], ids: list[Any], calls: int = 0) -> Measurement:
    """Return the measurement of texts that were encoded `calls` times in all."""
    cpu, wall = watch.net()
    calls = calls or len(texts)
    n_bytes = sum(len(text.encode("utf-8")) for text in texts) * calls // len(texts)
    return Measurement(cpu, wall, n_bytes, calls, *digest(ids))


Load = Callable[[], Library]


def replay(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode the whole text for the first time, then again and again; `warm` is the median."""
    library = touched(load)
    with Stopwatch() as cold:
        ids = library.encode(text)
    whole = measured(cold, [text], [ids])
    watches = []
    for _ in range(settings.replays):
        with Stopwatch() as watch:
            ids = library.encode(text)
        watches.append(watch)
    middle = sorted(watches, key=lambda watch: watch.cpu)[len(watches) // 2]
    return {"whole": whole, "warm": measured(middle, [text], [ids])}


def one_pass(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode the chunks of the text once, in order, by one call each; what was learned stays."""
    library, parts = touched(load), workloads.chunks(text)
    encode = library.encode
    with Stopwatch() as watch:
        ids = [encode(part) for part in parts]
    return {"pass": measured(watch, parts, ids)}


def fresh(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode chunks with one object whose memo is emptied before each call."""
    library = touched(load)
    if library.forget is None:
        raise Unsupported("cannot empty its memo")
    parts = workloads.spread(workloads.chunks(text), settings.fresh_chunks)
    watch, ids = Stopwatch(), []
    for part in parts:
        library.forget()
        with watch:
            found = library.encode(part)
        ids.append(found)
    return {"fresh": measured(watch, parts, ids)}


def new_object(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode chunks, each with an object that was just loaded: the same terms for everyone."""
    parts = workloads.spread(workloads.chunks(text), settings.objects)
    watch, ids = Stopwatch(), []
    for part in parts:
        library = touched(load)
        with watch:
            found = library.encode(part)
        ids.append(found)
    return {"new object": measured(watch, parts, ids)}


def after(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode the whole text right after another one."""
    library = touched(load)
    library.encode(other)
    with Stopwatch() as watch:
        ids = library.encode(text)
    return {"after": measured(watch, [text], [ids])}


def calls(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode small texts, each seen before, by one call each."""
    encode, results = touched(load).encode, {}
    for n_characters in workloads.CALL_CHARACTERS:
        parts = workloads.slices(text, n_characters, settings.call_slices)
        ids = [encode(part) for part in parts]
        repeats = max(1, settings.call_bytes // (n_characters * len(parts)))
        with Stopwatch() as watch:
            for _ in range(repeats):
                for part in parts:
                    encode(part)
        results[f"call {n_characters}"] = measured(watch, parts, ids, repeats * len(parts))
    return results


def batch(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode many short rows by one call, for the first time and again."""
    library, rows = load(), workloads.rows(text, settings.rows)
    library.encode_batch([TOUCH, TOUCH], settings.n_threads)
    results = {}
    for state in ("batch", "batch warm"):
        with Stopwatch() as watch:
            result = library.encode_batch(rows, settings.n_threads)
        results[state] = measured(watch, rows, [library.batch_ids(result)])
    return results


def once(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode the whole text for the first time and no more."""
    library = touched(load)
    with Stopwatch() as watch:
        ids = library.encode(text)
    return {"once": measured(watch, [text], [ids])}


def documents(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Encode the text as one document and as its chunks, by the batch call, on many threads."""
    results = {}
    for state, parts in (("one document", [text]), ("chunks", workloads.chunks(text))):
        library, watches = touched(load), []
        library.encode_batch([TOUCH, TOUCH], settings.n_threads)
        for _ in range(1 + settings.replays):
            with Stopwatch() as watch:
                result = library.encode_batch(parts, settings.n_threads)
            watches.append(watch)
        middle = sorted(watches[1:], key=lambda watch: watch.wall)[(len(watches) - 1) // 2]
        ids = [library.batch_ids(result)]
        results[state] = measured(watches[0], parts, ids)
        results[f"{state}, warm"] = measured(middle, parts, ids)
    return results


def loading(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Load the tokenizer, with the imports that this needs, and load it again."""
    results = {}
    for state in ("load", "load again"):
        with Stopwatch() as watch:
            library = load()
        results[state] = measured(watch, [TOUCH], [library.encode(TOUCH)])
    return results


def scan(load: Load, text: str, other: str, settings: Settings) -> dict[str, Measurement]:
    """Find the pretokens of the text, nothing else; the "ids" are their ends."""
    library, data = touched(load), text.encode("utf-8")
    if library.pretoken_ends is None:
        raise Unsupported("has no entry for the scan alone")
    watches = []
    for _ in range(settings.replays):
        with Stopwatch() as watch:
            ends = library.pretoken_ends(data)
        watches.append(watch)
    middle = sorted(watches, key=lambda watch: watch.cpu)[len(watches) // 2]
    return {"scan": measured(middle, [text], [ends])}


def touched(load: Load) -> Library:
    """Load the library and let it build what it builds on first use."""
    library = load()
    library.encode(TOUCH)
    return library


GROUPS: dict[str, Callable[[Load, str, str, Settings], dict[str, Measurement]]] = {
    "replay": replay,
    "pass": one_pass,
    "fresh": fresh,
    "new object": new_object,
    "after": after,
    "calls": calls,
    "batch": batch,
    "once": once,
    "documents": documents,
    "loading": loading,
    "scan": scan,
}


def as_json(results: dict[str, Measurement]) -> dict[str, Any]:
    """Return the measurements as JSON objects."""
    return {state: asdict(measurement) for state, measurement in results.items()}
