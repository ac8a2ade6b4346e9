"""The plot of the README, as SVG."""

from pathlib import Path

from benchmarks.figures import Figures, Place

STATES = ("whole", "pass", "warm")


def save_plot(figures: Figures, path: Path) -> None:
    """Draw MB/s of the first tokenizer: one panel per state, one group of bars per text."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    mpl.rcParams["svg.hashsalt"] = "numbatok"  # the same numbers give the same file
    states = [state for state in STATES if state in figures.values(2)]
    canvas = Canvas(figsize=(4.2 * len(states), 3.4), layout="constrained")
    panels = canvas.subplots(1, len(states), squeeze=False)[0]
    for panel, state in zip(panels, states, strict=True):
        _draw(panel, figures, state)
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    canvas.savefig(path, format="svg", metadata={"Date": None})


def _draw(panel: object, figures: Figures, state: str) -> None:
    from matplotlib.axes import Axes

    assert isinstance(panel, Axes)
    tokenizer, texts, libraries = figures.values(0)[0], figures.values(1), figures.libraries()
    width = 0.8 / len(libraries)
    for i, library in enumerate(libraries):
        bars = [figures.counted(Place(tokenizer, text, state)).get(library) for text in texts]
        heights = [bar.speed.median if bar else 0.0 for bar in bars]
        positions = [j + (i - (len(libraries) - 1) / 2) * width for j in range(len(texts))]
        panel.bar(positions, heights, width, label=library)
    panel.set_xticks(range(len(texts)), texts)
    panel.set_title(f"{tokenizer}, {state}")
    panel.set_ylabel("MB/s of CPU time")
    panel.spines[["top", "right"]].set_visible(False)
