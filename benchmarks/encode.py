"""Encoding, by every library in every state: the plan, its run, and the cells that come out."""

import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from benchmarks import machine
from benchmarks.catalog import OTHER_TEXT, TOKENIZERS, files_of, sha256, text_path
from benchmarks.environments import NoEnvironment, python_of
from benchmarks.expected import Digests, complaint, expected_ids
from benchmarks.intervals import abba
from benchmarks.libraries import PEERS, Files
from benchmarks.processes import Job, WorkerFailed, measure
from benchmarks.states import STATES
from benchmarks.workloads import QUICK, Settings

AGAIN = " (again)"  # the first library runs twice: what it gains on itself is noise
PATIENCE = 8.0  # seconds; a process that takes longer runs in the first two passes only


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    libraries: list[str]
    tokenizers: list[str]
    texts: list[str]
    states: list[str]
    rounds: int = 4
    settings: Settings = field(default_factory=Settings)
    make_environments: bool = True
    plant: str | None = None  # a library whose ids are spoiled on purpose

    def groups(self) -> list[str]:
        """Return the groups that the states belong to, in order."""
        return list(dict.fromkeys(STATES[state] for state in self.states))


@dataclass(frozen=True)
class Rival:
    """One line of the table: a library, or the second run of the first one."""

    label: str
    library: str
    python: str


@dataclass
class Cell:
    """All passes of one rival in one state on one text."""

    tokenizer: str
    text: str
    state: str
    library: str
    cpu_seconds: list[float] = field(default_factory=list)
    wall_seconds: list[float] = field(default_factory=list)
    text_bytes: int = 0
    calls: int = 0
    n_ids: int = 0
    ids_sha256: str = ""
    peak_memory_bytes: int = 0
    void: str | None = None  # why the numbers do not count

    def add(self, measurement: dict[str, Any], peak_memory_bytes: int) -> None:
        """Append one pass."""
        self.cpu_seconds.append(measurement["cpu_seconds"])
        self.wall_seconds.append(measurement["wall_seconds"])
        for name in ("text_bytes", "calls", "n_ids", "ids_sha256"):
            setattr(self, name, measurement[name])
        self.peak_memory_bytes = max(self.peak_memory_bytes, peak_memory_bytes)


@dataclass
class Outcome:
    """What a run found so far, ready to be written as JSON."""

    plan: Plan
    versions: dict[str, str] = field(default_factory=dict)
    cells: dict[tuple[str, str, str, str], Cell] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    machine: dict[str, object] = field(default_factory=machine.record)

    def skip(self, library: str, reason: str, **where: str) -> None:
        """Record that there is no number, and why."""
        self.skipped.append({"library": library, "reason": reason} | where)
        print(f"skipped {library} {' '.join(where.values())}: {reason}", file=sys.stderr)

    def as_json(self) -> dict[str, Any]:
        """Return everything that a reader needs to judge the numbers."""
        return {
            "benchmark": "encode",
            "machine": self.machine | {"load_averages_at_end": machine.load_averages()},
            "versions": self.versions,
            "plan": asdict(self.plan),
            "texts": self.texts,
            "cells": [asdict(cell) for cell in self.cells.values()],
            "skipped": self.skipped,
        }


def run(plan: Plan) -> Iterator[Outcome]:
    """Measure the plan; yield what is there after each tokenizer and text."""
    outcome = Outcome(plan)
    rivals = _with_environments(outcome)
    for tokenizer in plan.tokenizers:
        files = files_of(tokenizer)
        able = [rival for rival in rivals if _prepared(outcome, rival, files)]
        able = [Rival(r.library + AGAIN, r.library, r.python) for r in able[:1]] + able
        for text in plan.texts:
            outcome.texts[text] = sha256(text_path(text).read_bytes())
            for group in plan.groups():
                _measure_group(outcome, able, job_of(plan, files, text, group), text)
            yield outcome


def job_of(plan: Plan, files: Files, text: str, group: str) -> Job:
    """Return what a worker does for one group of states on one text."""
    other = OTHER_TEXT.get(text, "en")
    return Job(files, group, str(text_path(text)), str(text_path(other)), plan.settings)


def _with_environments(outcome: Outcome) -> list[Rival]:
    rivals = []
    for library in outcome.plan.libraries:
        try:
            python = python_of(PEERS[library], outcome.plan.make_environments)
        except NoEnvironment as reason:
            outcome.skip(library, str(reason))
        else:
            rivals.append(Rival(library, library, python))
    return rivals


def _prepared(outcome: Outcome, rival: Rival, files: Files) -> bool:
    """Load and encode once, unmeasured: files and compiled code are then in their caches."""
    job = replace(job_of(outcome.plan, files, outcome.plan.texts[0], "batch"), settings=QUICK)
    try:
        answer = measure(rival.python, PEERS[rival.library], job)
    except WorkerFailed as reason:
        answer = {"skipped": str(reason)}
    if "skipped" in answer:
        outcome.skip(rival.library, answer["skipped"], tokenizer=files.tokenizer)
        return False
    outcome.versions[rival.library] = answer["version"]
    return True


def _measure_group(outcome: Outcome, rivals: list[Rival], job: Job, text: str) -> None:
    expected = _expected(outcome, job, text)
    out: set[str] = set()
    for number, order in enumerate(abba(rivals, outcome.plan.rounds)):
        for rival in order:
            if rival.label in out:
                continue
            seconds = _measure_once(outcome, rival, job, text, expected)
            if seconds is None or (seconds > PATIENCE and number == 1):
                out.add(rival.label)


def _expected(outcome: Outcome, job: Job, text: str) -> Digests:
    oracle = TOKENIZERS[job.files.tokenizer].oracle
    try:
        return expected_ids(oracle, job, outcome.plan.make_environments)
    except (WorkerFailed, NoEnvironment) as reason:
        where = {"tokenizer": job.files.tokenizer, "text": text, "group": job.group}
        outcome.skip(f"{oracle} as the oracle", str(reason), **where)
        return {}


def _measure_once(
    outcome: Outcome, rival: Rival, job: Job, text: str, expected: Digests
) -> float | None:
    """Run one process and file its measurements; return its seconds, or None if it failed."""
    start, plan = time.perf_counter(), outcome.plan
    peer, plant = PEERS[rival.library], plan.plant == rival.label
    try:
        answer = measure(rival.python, peer, job, plant)
    except WorkerFailed as reason:
        where = {"tokenizer": job.files.tokenizer, "text": text, "group": job.group}
        outcome.skip(rival.label, str(reason), **where)
        return None
    oracle = TOKENIZERS[job.files.tokenizer].oracle
    for state, measurement in answer["measurements"].items():
        if state not in plan.states:
            continue
        key = (job.files.tokenizer, text, state, rival.label)
        cell = outcome.cells.setdefault(key, Cell(*key))
        cell.add(measurement, answer["peak_memory_bytes"])
        found = (measurement["n_ids"], measurement["ids_sha256"])
        wrong = complaint(oracle, expected[state], found) if expected else "no oracle"
        cell.void = cell.void or wrong
    return time.perf_counter() - start
