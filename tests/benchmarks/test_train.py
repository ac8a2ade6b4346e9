import json
from importlib.util import find_spec

import pytest

from benchmarks.train import cells_of, main, table
from benchmarks.trainers import digest


def run(products, seconds):
    return {
        "wall_seconds": seconds, "cpu_seconds": seconds, "peak_memory_bytes": 1_000_000,
        "n_merges": len(products), "digest": digest(products),
    }  # fmt: skip


def test_other_merges_void_a_cell(tmp_path):
    path = tmp_path / "text"
    path.write_text("x")
    same, other = [b"ab", b"abc"], [b"abc", b"ab"]
    rows = {
        "numbatok": [run(same, 1.0), run(same, 1.2)],
        "gigatoken": [run(same, 2.0), run(same, 2.4)],
        "tokenizers 0.23.3": [run(same, 9.0), run(other, 9.0)],
        "rustbpe": [{"failed": "ended with status 1: no"}],
    }
    cells = cells_of("english", path, 1000, rows)
    assert [cell["void"] for cell in cells] == [
        None, None, "its merges differ (huggingface)", "ended with status 1: no",
    ]  # fmt: skip
    shown = table({"cells": cells})
    assert "| gigatoken | 2.20 | 2.20 | 1 | 0.50 (0.50-0.50) |" in shown
    assert shown.count("void") == 2


def test_merges_that_join_differently_have_other_digests():
    assert digest([b"ab", b"c"]) != digest([b"a", b"bc"])


@pytest.mark.oracle
def test_quick_run_finds_the_merges_of_rustbpe(tmp_path, capsys):
    if find_spec("rustbpe") is None:
        pytest.skip("rustbpe is not installed")
    out = tmp_path / "train.json"
    names = ["numbatok bytes", "rustbpe"]
    assert main(["--quick", "--texts", "tail", "--libraries", *names, "--out", str(out)]) == 0
    cells = json.loads(out.read_text())["cells"]
    assert [cell["void"] for cell in cells] == [None, None]
    assert [cell["runs"][0]["n_merges"] for cell in cells] == [744, 744]
    assert "| rustbpe |" in capsys.readouterr().out
