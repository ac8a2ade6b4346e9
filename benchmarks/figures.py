"""From the JSON of a run to speeds, ratios and losses: everything that the tables print."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.engine import AGAIN
from benchmarks.intervals import Interval, interval, ratio

OURS = "numbatok"
UNRATED = ("fresh",)  # the fastest peers cannot empty their memo, so there is no fair ratio


class Place(NamedTuple):
    """What a library is measured on."""

    tokenizer: str
    text: str
    state: str


@dataclass(frozen=True)
class Figure:
    """One cell of the table."""

    text_bytes: int
    calls: int
    cpu_seconds: list[float]  # one per pass
    wall_seconds: list[float]
    peak_memory_bytes: int  # the largest resident size of a process that measured this cell
    void: str | None

    @property
    def speeds(self) -> list[float]:
        """MB/s of CPU time, one per pass."""
        return [self.text_bytes / 1e6 / seconds for seconds in self.cpu_seconds]

    @property
    def wall_speeds(self) -> list[float]:
        """MB/s of wall time, one per pass."""
        return [self.text_bytes / 1e6 / seconds for seconds in self.wall_seconds]

    @property
    def speed(self) -> Interval:
        """MB/s of CPU time."""
        return interval(self.speeds)

    @property
    def wall_speed(self) -> Interval:
        """MB/s of wall time."""
        return interval(self.wall_speeds)

    @property
    def microseconds(self) -> Interval:
        """Of CPU time per call."""
        return interval([1e6 * seconds / self.calls for seconds in self.cpu_seconds])

    @property
    def wall_milliseconds(self) -> Interval:
        """Of wall time per call."""
        return interval([1e3 * seconds / self.calls for seconds in self.wall_seconds])


@dataclass
class Figures:
    """Every cell of some runs, and what is needed to name where they come from."""

    cells: dict[Place, dict[str, Figure]] = field(default_factory=dict)  # -> library -> figure
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)

    def libraries(self) -> list[str]:
        """Return the libraries that have a cell, in the order of the first cells."""
        names = (name for row in self.cells.values() for name in row if not name.endswith(AGAIN))
        return list(dict.fromkeys(names))

    def values(self, position: int) -> list[str]:
        """Return the tokenizers (0), texts (1) or states (2) that occur, in order."""
        return list(dict.fromkeys(place[position] for place in self.cells))

    def counted(self, place: Place) -> dict[str, Figure]:
        """Return the cells of a place that are not void, without the second run of a library."""
        row = self.cells.get(place, {})
        return {n: f for n, f in row.items() if f.void is None and not n.endswith(AGAIN)}

    def best_peer(self, place: Place) -> str | None:
        """Return the fastest library of a place that is not ours."""
        speeds = {n: f.speed.median for n, f in self.counted(place).items() if n != OURS}
        return max(speeds, key=lambda name: speeds[name]) if speeds else None

    def lead(self, place: Place, peer: str | None = None) -> Interval | None:
        """Return how many times as fast as `peer`, or as the best one, we are at a place."""
        row, peer = self.counted(place), peer or self.best_peer(place)
        if OURS not in row or peer not in row or place.state in UNRATED:
            return None
        return ratio(row[OURS].speeds, row[peer].speeds)

    def null_ratios(self) -> list[float]:
        """Return, per place, what the library that ran twice gains on itself: noise."""
        ratios = []
        for row in self.cells.values():
            for name, figure in row.items():
                if name.endswith(AGAIN):
                    first = row[name.removesuffix(AGAIN)]
                    ratios.append(ratio(figure.speeds, first.speeds).median)
        return ratios

    def losses(self) -> list[tuple[Place, str, Interval]]:
        """Return every place where a peer is faster, with it and our ratio, worst first."""
        found = []
        for place in self.cells:
            lead, peer = self.lead(place), self.best_peer(place)
            if lead is not None and peer is not None and lead.median < 1:
                found.append((place, peer, lead))
        return sorted(found, key=lambda loss: loss[2].median)


def read(paths: Iterable[Path]) -> Figures:
    """Return the figures of result files; a later file replaces the cells of an earlier one."""
    return figures_of(json.loads(path.read_text(encoding="utf-8")) for path in paths)


def figures_of(runs: Iterable[dict[str, Any]]) -> Figures:
    """Return the figures of results that were read already."""
    figures = Figures()
    for run in runs:
        figures.versions |= run["versions"]
        figures.machine = run["machine"]
        figures.skipped += run["skipped"]
        for cell in run["cells"]:
            place = Place(cell["tokenizer"], cell["text"], cell["state"])
            figures.cells.setdefault(place, {})[cell["library"]] = _figure(cell)
    return figures


def _figure(cell: dict[str, Any]) -> Figure:
    names = [field.name for field in fields(Figure)]
    return Figure(**{name: cell[name] for name in names})


def spread(values: list[float]) -> tuple[float, float]:
    """Return the median and the largest distance of ratios from 1."""
    distances = [abs(value - 1) for value in values]
    return (median(distances), max(distances)) if distances else (0.0, 0.0)
