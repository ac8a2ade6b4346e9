import json
from importlib.util import find_spec

import pytest

from benchmarks import columns
from benchmarks.places import SHARED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.exists(), reason=f"{SHARED} with the texts is not here"),
    pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed"),
]


def test_a_quick_run_finds_the_same_ids_in_every_task(tmp_path, capsys):
    out = tmp_path / "columns.json"
    assert columns.main(["--quick", "--out", str(out)]) == 0
    assert "the ids of all rivals are the same" in capsys.readouterr().out
    found = {r["task"]: set(r["cells"]) for r in json.loads(out.read_text())["results"]}
    assert found["parquet"] == {"encode_arrow whole", "encode_files parquet"}
    assert {"kernel", "encode_arrow", "count_arrow"} <= found["column"]


def test_ids_that_differ_void_a_task(monkeypatch, tmp_path, capsys):
    answers = iter(['{"digest": "a"}', '{"digest": "b"}'] * 2)

    class Ran:
        returncode, stderr = 0, ""

        def __init__(self):
            self.stdout = next(answers)

    monkeypatch.setattr(columns.subprocess, "run", lambda *a, **k: Ran())
    result = columns.measure("parquet", columns.parser().parse_args(["--rounds", "1"]))
    assert result["void"] == "the rivals do not have the same ids"
