import json
from importlib.util import find_spec

import pytest

from benchmarks import columns, machine, report
from benchmarks.places import SHARED


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason=f"{SHARED} with the texts is not here")
@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_a_quick_run_finds_the_same_ids_in_every_task(tmp_path, capsys):
    out = tmp_path / "columns.json"
    assert columns.main(["--quick", "--out", str(out)]) == 0
    assert "the ids of all rivals are the same" in capsys.readouterr().out
    found = {r["task"]: set(r["cells"]) for r in json.loads(out.read_text())["results"]}
    assert found["parquet"] == {"encode_arrow whole", "encode_files parquet"}
    assert {"kernel", "encode_arrow", "count_arrow"} <= found["column"]


def test_ids_that_differ_void_a_task(monkeypatch, tmp_path, capsys):
    cell = {"seconds": [1.0], "cpu_seconds": [1.0]}
    answers = iter([json.dumps(cell | {"digest": digest}) for digest in "abba"])

    class Ran:
        returncode, stderr = 0, ""

        def __init__(self):
            self.stdout = next(answers)

    monkeypatch.setattr(columns.subprocess, "run", lambda *a, **k: Ran())
    result = columns.measure("parquet", columns.parser().parse_args(["--rounds", "1"]))
    assert result["void"] == "the rivals do not have the same ids"


def test_the_table_of_the_readme_has_every_rival(tmp_path):
    cell = {"seconds": [2.0, 1.0], "cpu_seconds": [2.0, 1.5], "bytes": 3_000_000, "peak": 5_000_000}
    results = [{"task": "text", "cells": {"ours": [cell], "theirs": [cell | {"bytes": 6_000_000}]}}]
    record = {"rows": 10, "copies": 5, "machine": machine.record(), "loads": [1.0, 2.0, 3.0]}
    (tmp_path / "columns.json").write_text(json.dumps(record | {"results": results}))
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- columns:begin -->\n<!-- columns:end -->\nafter\n")
    report.write_columns(tmp_path, readme)
    text = readme.read_text()
    assert "| text | ours | 1.50 | 3.00 | 1 | 2.00 | 5 |" in text
    assert "| text | theirs | 3.00 | 6.00 | 2.00 (2.00-2.00) | 4.00 | 5 |" in text
    assert text.startswith("before\n") and text.endswith("after\n")
