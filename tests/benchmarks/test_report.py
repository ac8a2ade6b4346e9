import pytest

from benchmarks import report
from benchmarks.figures import figures_of

MACHINE = {"python": "3.11.7", "processor": "Made Up", "cores": 2, "time": "2026-01-02T03:04:05"}


def cell(library, state="whole", seconds=(0.01, 0.01), void=None, text="en"):
    return {
        "tokenizer": "gpt2",
        "text": text,
        "state": state,
        "library": library,
        "cpu_seconds": list(seconds),
        "wall_seconds": list(seconds),
        "text_bytes": 1_000_000,
        "calls": 1000 if state.startswith("call") else 1,
        "peak_memory_bytes": 80_000_000,
        "void": void,
    }


def run_of(*cells):
    return {
        "cells": cells,
        "versions": {"numbatok": "0.1", "rival": "2.0"},
        "machine": MACHINE,
        "skipped": [{"library": "quick", "reason": "refused", "tokenizer": "gpt2"}],
    }


RUN = run_of(
    cell("numbatok (again)", seconds=(0.0105, 0.0105)),
    cell("numbatok"),  # 100 MB/s
    cell("rival", seconds=(0.02, 0.02)),  # 50 MB/s
    cell("numbatok", text="code"),
    cell("rival", seconds=(0.005, 0.005), text="code"),  # 200 MB/s: we lose
    cell("numbatok", text="cjk"),
    cell("rival", seconds=(0.001, 0.001), text="cjk", void="ids differ"),
    cell("numbatok", "fresh"),
    cell("rival", "fresh", seconds=(0.05, 0.05)),  # five times as slow, yet no ratio
    cell("numbatok", "call 20"),  # 10 us per call
    cell("rival", "call 20", seconds=(0.004, 0.004)),
)


@pytest.fixture
def written(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.write(figures_of([RUN]), tmp_path, readme, tmp_path / "LOSSES.md")
    return tmp_path


def test_readme_holds_speeds_and_ratios_between_the_marks(written):
    text = (written / "README.md").read_text()

    assert text.startswith(f"before\n{report.BEGIN}\n")
    assert text.endswith(f"{report.END}\nafter\n")
    assert "old" not in text
    assert "| en | whole | MB/s | 100 | 50.0 | 2.00 (2.00-2.00) |" in text
    assert "| code | whole | MB/s | 100 | 200 | 0.50 (0.50-0.50) |" in text
    assert "| en | call 20 | us per call | 10.0 | 4.00 | 0.40 (0.40-0.40) |" in text
    assert "numbatok 0.1, rival 2.0; Python 3.11.7; Made Up, 2 cores, 2026-01-02" in text
    assert "itself by 5 % (median)" in text


def test_a_void_cell_shows_no_number_and_wins_nothing(written):
    assert "| cjk | whole | MB/s | 100 | void | – |" in (written / "README.md").read_text()
    losses = (written / "LOSSES.md").read_text()
    assert "1 cells are void" in losses
    assert "| gpt2 | cjk | whole | rival | ids differ |" in losses


def test_losses_name_every_lost_cell_and_what_is_missing(written):
    losses = (written / "LOSSES.md").read_text()

    assert "2 of 3 cells are lost." in losses
    assert "| gpt2 | code | whole | 100 | rival 200 | MB/s | 0.50 (0.50-0.50) |" in losses
    assert "| gpt2 | en | call 20 | 10.0 | rival 4.00 | us per call | 0.40 (0.40-0.40) |" in losses
    assert "- quick, gpt2: refused" in losses


def test_a_state_without_equal_terms_has_no_ratio(written):
    assert "| en | fresh | MB/s | 100 | 20.0 | – |" in (written / "TABLES.md").read_text()
    assert "fresh" not in (written / "README.md").read_text()


def test_plot_and_full_table_are_written_and_the_same_again(written):
    first = {path.name: path.read_bytes() for path in written.iterdir()}
    report.write(figures_of([RUN]), written, written / "README.md", written / "LOSSES.md")

    assert {path.name: path.read_bytes() for path in written.iterdir()} == first
    assert b"<svg" in first["encode.svg"]
    assert b"| gpt2 | cjk | 80 | 80 |" in first["TABLES.md"]


@pytest.mark.parametrize("text", ["no marks", f"{report.END} {report.BEGIN}", report.BEGIN * 2])
def test_a_readme_without_the_marks_is_refused(text, tmp_path):
    with pytest.raises(ValueError, match="needs one <!-- benchmark:begin -->"):
        report.insert(text, "body", tmp_path / "README.md")
