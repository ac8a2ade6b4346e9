from dataclasses import replace

import pytest

from benchmarks import engine, expected, libraries, states
from benchmarks.libraries import Files, Peer
from benchmarks.processes import Job
from benchmarks.workloads import QUICK

STATES_OF = {
    "replay": ["whole", "warm"],
    "pass": ["pass"],
    "fresh": ["fresh"],
    "new object": ["new object"],
    "after": ["after"],
    "calls": ["call 20", "call 200", "call 2000"],
    "batch": ["batch", "batch warm"],
    "once": ["once"],
    "documents": ["one document", "one document, warm", "chunks", "chunks, warm"],
    "loading": ["load", "load again"],
    "scan": ["scan"],
}
EVERY_STATE = [state for found in STATES_OF.values() for state in found]


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """A registry with the toy library, an empty cache of expected ids, and a text."""
    monkeypatch.setitem(libraries.PEERS, "toy", Peer("tests.benchmarks.toy_library", "toy"))
    monkeypatch.setattr(expected, "CACHE", tmp_path / "cache")
    text = tmp_path / "text.txt"
    text.write_bytes("".join(f"{i} plus {i} is {2 * i}, é\n" for i in range(3000)).encode())

    def job(group, tokenizer="toy"):
        return Job(Files(tokenizer), group, str(text), str(text), replace(QUICK, rows=50))

    return job


def measured(job, plant=None, rounds=1):
    plan = engine.Plan(["toy"], [], [], EVERY_STATE, rounds, job.settings, plant=plant)
    outcome = engine.Outcome("test", plan)
    engine.measure_group(outcome, engine.rivals_of(outcome), job, "text", "toy")
    return outcome


def test_every_group_of_states_is_covered():
    assert set(STATES_OF) == set(states.GROUPS)
    assert set(states.STATES.values()) <= set(STATES_OF)


@pytest.mark.parametrize("group", STATES_OF)
def test_right_ids_give_counted_cells_and_one_wrong_id_voids_them(toy, group):
    right, wrong = measured(toy(group)), measured(toy(group), plant="toy")

    assert [cell.state for cell in right.cells.values()] == STATES_OF[group]
    for cell in right.cells.values():
        assert cell.void is None
        assert len(cell.cpu_seconds) == len(cell.wall_seconds) == 2
        assert min(cell.wall_seconds) > 0
        assert cell.n_ids > 0
        assert cell.text_bytes > 0
        assert cell.peak_memory_bytes > 1_000_000
    expected_voids = 0 if group == "scan" else len(wrong.cells)  # ends are not ids: not planted
    assert sum("differ" in (cell.void or "") for cell in wrong.cells.values()) == expected_voids


def test_a_library_that_cannot_forget_has_no_fresh_cell_but_one_for_new_objects(toy):
    fresh, new = (measured(toy(group, "cannot forget")) for group in ("fresh", "new object"))

    assert fresh.cells == {}
    assert any("cannot empty its memo" in skip["reason"] for skip in fresh.skipped)
    assert [cell.void for cell in new.cells.values()] == [None]


@pytest.mark.parametrize(
    ("tokenizer", "reason"),
    [("refused", "this tokenizer is refused"), ("broken", "broken on purpose")],
)
def test_what_cannot_be_measured_is_skipped_with_its_reason(toy, tokenizer, reason):
    outcome = measured(toy("replay", tokenizer))

    assert outcome.cells == {}
    assert any(skip["library"] == "toy" and reason in skip["reason"] for skip in outcome.skipped)


def test_expected_ids_are_kept_and_change_with_the_text(toy):
    job = toy("replay")
    first = expected.expected_ids("toy", job)
    stored = list((expected.CACHE / "expected").iterdir())
    again = expected.expected_ids("toy", job)

    assert first == again
    assert len(stored) == 1
    with open(job.text, "a") as file:
        file.write("one more line\n")
    assert expected.expected_ids("toy", replace(job, settings=replace(QUICK, rows=51)))
    assert len(list((expected.CACHE / "expected").iterdir())) == 2


def test_complaint_tells_number_from_value():
    assert expected.complaint("oracle", (3, "aa"), (3, "aa")) is None
    assert expected.complaint("oracle", (3, "aa"), (4, "bb")) == "4 ids where oracle gives 3"
    assert expected.complaint("oracle", (3, "aa"), (3, "bb")) == "ids differ from those of oracle"
