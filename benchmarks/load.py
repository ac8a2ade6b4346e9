"""`python -m benchmarks.load`: from a tokenizer's name or file to an object that can encode.

States, in a fresh process: `load`, with the imports that it needs and whatever the library keeps
on disk already there; `load again`, a second object in the same process, so without the imports.
"""

import sys
from typing import Any

from benchmarks.catalog import TOKENIZERS, files_of, text_path
from benchmarks.command import Options, command
from benchmarks.engine import Outcome, Plan, measure_group, prepared, rivals_of
from benchmarks.figures import figures_of
from benchmarks.processes import Job
from benchmarks.tables import markdown, number
from benchmarks.workloads import Settings

STATES = ["load", "load again"]


def measure(options: Options) -> dict[str, Any]:
    """Return the cells of every library."""
    names, settings = options.tokenizers, Settings()
    plan = Plan(
        options.libraries, names, ["none"], STATES, options.rounds, settings, not options.quick
    )
    outcome, path = Outcome("load", plan), str(text_path("en"))
    rivals = rivals_of(outcome)
    for tokenizer in names:
        job = Job(files_of(tokenizer), "loading", path, path, settings)
        able = prepared(outcome, rivals, job)
        measure_group(outcome, able, job, "none", TOKENIZERS[tokenizer].oracle)
    return outcome.as_json()


def table(result: dict[str, Any]) -> str:
    """Return the Markdown table of a result."""
    figures = figures_of([result])
    libraries = figures.libraries()
    rows = []
    for place, row in figures.cells.items():
        shown = [row[name].wall_milliseconds.median if name in row else None for name in libraries]
        cells = [number(value) if value is not None else "" for value in shown]
        rows.append([f"{place.tokenizer}, {place.state}", *cells])
    head = ["milliseconds of wall time", *libraries]
    return "Loading; `load` counts the imports.\n\n" + markdown(head, rows)


if __name__ == "__main__":
    sys.exit(command("load", __doc__ or "", measure, many=True))
