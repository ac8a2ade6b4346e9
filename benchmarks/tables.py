"""Markdown from figures: the README's tables, the full table, and the list of losses."""

from statistics import median

from benchmarks.figures import OURS, UNRATED, Figure, Figures, Place, spread
from benchmarks.intervals import Interval

README_STATES = ("whole", "pass", "new object", "warm")
NOTHING = "–"


def markdown(head: list[str], rows: list[list[str]], left: int = 1) -> str:
    """Return a Markdown table; the first `left` columns are text, the others numbers."""
    rule = ["---"] * left + ["--:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def number(value: float) -> str:
    """Return a value with about three digits."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def times(lead: Interval | None) -> str:
    """Return a ratio with its interval."""
    if lead is None:
        return NOTHING
    return f"{lead.median:.2f} ({lead.low:.2f}-{lead.high:.2f})"


def cell(figure: Figure | None, state: str) -> str:
    """Return what a cell shows: MB/s, or microseconds per call for small calls."""
    if figure is None:
        return NOTHING
    if figure.void:
        return "void"
    if state.startswith("call"):
        return number(figure.microseconds.median)
    return number(figure.speed.median)


def unit(state: str) -> str:
    """Return the unit of the cells of a state."""
    return "us per call" if state.startswith("call") else "MB/s"


def comparison(figures: Figures, places: list[Place]) -> str:
    """Return a table of all libraries at these places, with our ratio to the best peer."""
    libraries = figures.libraries()
    rows = []
    for place in places:
        row = figures.cells[place]
        shown = [cell(row.get(library), place.state) for library in libraries]
        where = [place.text, place.state, unit(place.state)]
        rows.append([*where, *shown, times(figures.lead(place))])
    head = ["text", "state", "unit", *libraries, f"{OURS} / best peer"]
    return markdown(head, rows, left=3)


def readme_tables(figures: Figures) -> str:
    """Return the speeds of the first tokenizer, small calls, and one line per other tokenizer."""
    first, texts = figures.values(0)[0], figures.values(1)
    large = [Place(first, text, state) for state in README_STATES for text in texts]
    small = [
        p for p in figures.cells if p[:2] == (first, texts[0]) and p.state not in README_STATES
    ]
    parts = [
        f"`{first}`, one thread, medians of CPU time.",
        comparison(figures, [place for place in large if place in figures.cells]),
        f"Small calls and batches, on `{texts[0]}`.",
        comparison(figures, [place for place in small if place.state not in ("after", *UNRATED)]),
    ]
    if len(figures.values(0)) > 1:
        parts += ["Every tokenizer, against the best peer of each cell.", summary(figures)]
    return "\n\n".join([*parts, provenance(figures)])


def summary(figures: Figures) -> str:
    """Return, per tokenizer and state, the median and the least of our ratios over the texts."""
    states, rows = figures.values(2), []
    for tokenizer in figures.values(0):
        row = [tokenizer]
        for state in states:
            places = [Place(tokenizer, text, state) for text in figures.values(1)]
            leads = [lead.median for lead in map(figures.lead, places) if lead]
            row.append(f"{median(leads):.2f}, least {min(leads):.2f}" if leads else NOTHING)
        rows.append(row)
    return markdown(["tokenizer", *states], rows)


def full_table(figures: Figures) -> str:
    """Return every cell, one section per tokenizer, and the memory."""
    sections = []
    for tokenizer in figures.values(0):
        places = [place for place in figures.cells if place.tokenizer == tokenizer]
        sections.append(f"## {tokenizer}\n\n{comparison(figures, places)}")
    sections.append(f"## Peak resident memory, MB\n\n{memory(figures)}")
    return "\n\n".join(sections)


def memory(figures: Figures) -> str:
    """Return the largest resident size of a process that loaded and encoded the whole text."""
    libraries, rows = figures.libraries(), []
    for place, row in figures.cells.items():
        if place.state == "whole":
            sizes = [row[name].peak_memory_bytes / 1e6 if name in row else 0 for name in libraries]
            cells = [f"{size:.0f}" if size else NOTHING for size in sizes]
            rows.append([place.tokenizer, place.text, *cells])
    return markdown(["tokenizer", "text", *libraries], rows, left=2)


def losses(figures: Figures) -> str:
    """Return the table of every place where a peer is ahead, and of what has no number."""
    rows = []
    for place, peer, lead in figures.losses():
        row = figures.counted(place)
        mine, theirs = cell(row[OURS], place.state), cell(row[peer], place.state)
        rows.append([*place, mine, f"{peer} {theirs}", unit(place.state), times(lead)])
    head = ["tokenizer", "text", "state", OURS, "best peer", "unit", "ratio"]
    counted = sum(figures.lead(place) is not None for place in figures.cells)
    parts = [f"{len(rows)} of {counted} cells are lost."]
    if rows:
        parts.append(markdown(head, rows, left=3))
    return "\n\n".join([*parts, voids(figures), gaps(figures)])


def voids(figures: Figures) -> str:
    """Return the cells whose numbers do not count, with the reason."""
    rows = [
        [*place, library, figure.void]
        for place, row in figures.cells.items()
        for library, figure in row.items()
        if figure.void
    ]
    head = ["tokenizer", "text", "state", "library", "reason"]
    return f"{len(rows)} cells are void." + ("\n\n" + markdown(head, rows, left=5) if rows else "")


def gaps(figures: Figures) -> str:
    """Return what could not be measured, with the reason."""
    lines = []
    for skip in figures.skipped:
        where = " ".join(v for k, v in skip.items() if k not in ("library", "reason"))
        lines.append(f"- {skip['library']}, {where or 'everywhere'}: {skip['reason']}")
    return (
        "\n".join(["Not measured:", "", *dict.fromkeys(lines)]) if lines else "Nothing is missing."
    )


def provenance(figures: Figures) -> str:
    """Return the sentence that says where the numbers come from and how noisy they are."""
    versions = ", ".join(f"{name.split()[0]} {v}" for name, v in figures.versions.items())
    middle, worst = spread(figures.null_ratios())
    made = figures.machine
    return (
        f"{versions}; Python {made['python']}; {made['processor']}, {made['cores']} cores, "
        f"{made['time'][:10]}. A library run twice differs from itself by {100 * middle:.0f} % "
        f"(median), {100 * worst:.0f} % at most."
    )
