import json
from importlib.util import find_spec

import pytest

from benchmarks.__main__ import main
from benchmarks.places import SHARED

pytestmark = [
    pytest.mark.skipif(not SHARED.exists(), reason=f"{SHARED} with the texts is not here"),
    *(
        pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed")
        for name in ("tiktoken", "gigatoken")
    ),
]
ARGUMENTS = ["--quick", "--texts", "web", "--states", "whole", "pass", "--libraries"]


def cells_of(path):
    return json.loads(path.read_text())["cells"]


def test_quick_run_finds_the_ids_of_tiktoken(tmp_path, capsys):
    out = tmp_path / "encode.json"

    assert main([*ARGUMENTS, "numbatok", "tiktoken", "--out", str(out)]) == 0
    cells = cells_of(out)
    assert len(cells) == 6  # two libraries and the second run of the first, in two states
    assert [cell["void"] for cell in cells] == [None] * 6
    assert "6 cells, 0 void, 0 skipped" in capsys.readouterr().out


def test_quick_run_voids_the_cells_of_a_planted_wrong_id(tmp_path, capsys):
    out = tmp_path / "encode.json"
    planted = ["gigatoken", "tiktoken", "--plant", "gigatoken", "--out", str(out)]

    assert main([*ARGUMENTS, *planted]) == 1
    void = {(cell["library"], cell["state"]) for cell in cells_of(out) if cell["void"]}
    assert void == {("gigatoken", "whole"), ("gigatoken", "pass")}
    assert "VOID gigatoken gpt2 web whole: ids differ from those of tiktoken" in (
        capsys.readouterr().out
    )
