"""Pictures of counts; matplotlib draws them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from numbatok.errors import InvalidValue
from numbatok.training.counts import PretokenCounts
from numbatok.training.report import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")
N_POINTS = 2000  # of the curve, evenly spaced on its logarithmic axis
N_LABELS = 8


def draw_rank_frequency(counts: PretokenCounts, axes: Axes) -> None:
    """Draw how often the pretoken of each rank occurs, both axes logarithmic, some labeled."""
    numbers = np.sort(counts.pretokens.numbers)[::-1]
    if len(numbers) == 0:
        return
    ranks = np.unique(np.geomspace(1, len(numbers), N_POINTS).astype(np.int64))
    axes.loglog(ranks, numbers[ranks - 1])
    labeled = np.unique(np.geomspace(1, min(len(numbers), 1000), N_LABELS).astype(np.int64))
    common = counts.most_common(int(labeled[-1]))
    for rank in labeled.tolist():
        word, number = common[rank - 1]
        axes.annotate(repr(shown(word)), (rank, number), fontsize=8)
    axes.set_xlabel("rank")
    axes.set_ylabel("count")
    axes.set_title(f"{counts.total:,} pretokens, {len(counts):,} distinct")
    axes.grid(True, which="major", alpha=0.3)


def save_rank_frequency(counts: PretokenCounts, path: str | Path) -> None:
    """Write the rank-frequency curve as PNG, SVG or PDF, by the name's ending.

    Errors: InvalidValue for another ending; ImportError without matplotlib.
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise InvalidValue(f"{str(path)!r} ends in none of {', '.join(FORMATS)}")
    from matplotlib.figure import Figure  # without pyplot: no window, no state

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    draw_rank_frequency(counts, figure.subplots())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # of a script without a font: boxes
        figure.savefig(path, dpi=150)
