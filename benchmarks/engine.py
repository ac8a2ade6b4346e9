"""Running rivals in turn, each in a fresh process, and filing what they measured into cells."""

import sys
import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from benchmarks import machine
from benchmarks.environments import NoEnvironment, python_of
from benchmarks.expected import Digests, complaint, expected_ids
from benchmarks.intervals import abba
from benchmarks.libraries import PEERS
from benchmarks.processes import SECONDS, Job, WorkerFailed, measure
from benchmarks.workloads import QUICK, Settings

AGAIN = " (again)"  # a library that runs twice: what it gains on itself is noise
PATIENCE = 8.0  # seconds; a process that takes longer runs in the first two passes only


@dataclass(frozen=True)
class Plan:
    """What is measured; part of the result."""

    libraries: list[str]
    tokenizers: list[str]
    texts: list[str]
    states: list[str]
    rounds: int = 4  # each is two passes: forward and back
    settings: Settings = field(default_factory=Settings)
    make_environments: bool = True
    plant: str | None = None  # a library whose ids are spoiled on purpose
    seconds: float = SECONDS  # after which a process is given up


@dataclass(frozen=True)
class Rival:
    """One line of a table: a library, or its second run."""

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

    benchmark: str
    plan: Plan
    versions: dict[str, str] = field(default_factory=dict)
    cells: dict[tuple[str, str, str, str], Cell] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)  # name -> SHA-256 of the whole file
    machine: dict[str, object] = field(default_factory=machine.record)

    def skip(self, library: str, reason: str, **where: str) -> None:
        """Record that there is no number, and why."""
        self.skipped.append({"library": library, "reason": reason} | where)
        print(f"skipped {library} {' '.join(where.values())}: {reason}", file=sys.stderr)

    def as_json(self) -> dict[str, Any]:
        """Return everything that a reader needs to judge the numbers."""
        return {
            "benchmark": self.benchmark,
            "machine": self.machine | {"load_averages_at_end": machine.load_averages()},
            "versions": self.versions,
            "plan": asdict(self.plan),
            "texts": self.texts,
            "cells": [asdict(cell) for cell in self.cells.values()],
            "skipped": self.skipped,
        }


def rivals_of(outcome: Outcome) -> list[Rival]:
    """Return the libraries of the plan that have an environment."""
    rivals = []
    for library in outcome.plan.libraries:
        try:
            python = python_of(PEERS[library], outcome.plan.make_environments)
        except NoEnvironment as reason:
            outcome.skip(library, str(reason))
        else:
            rivals.append(Rival(library, library, python))
    return rivals


def prepared(outcome: Outcome, rivals: list[Rival], job: Job) -> list[Rival]:
    """Return the rivals that can do the job; each did a little of it, unmeasured.

    Files and compiled code are then in their caches.
    """
    able, job = [], replace(job, settings=replace(QUICK, n_threads=job.settings.n_threads))
    for rival in rivals:
        try:
            answer = measure(rival.python, PEERS[rival.library], job)
        except WorkerFailed as reason:
            answer = {"skipped": str(reason)}
        if "skipped" in answer:
            outcome.skip(rival.library, answer["skipped"], tokenizer=job.files.tokenizer)
        else:
            outcome.versions[rival.library] = answer["version"]
            able.append(rival)
    return able


def measure_group(outcome: Outcome, rivals: list[Rival], job: Job, text: str, oracle: str) -> None:
    """Run every rival in ABBA order; file the states of the job's group under the text's name."""
    expected = _expected(outcome, job, text, oracle)
    out: set[str] = set()
    for number, order in enumerate(abba(rivals, outcome.plan.rounds)):
        for rival in order:
            if rival.label in out:
                continue
            start = time.perf_counter()
            answer = _answer(outcome, rival, job, text)
            if answer is not None:
                _file(outcome, rival, job, text, answer, expected, oracle)
            slow = time.perf_counter() - start > PATIENCE and number > 0
            if answer is None or slow:
                out.add(rival.label)


def _expected(outcome: Outcome, job: Job, text: str, oracle: str) -> Digests:
    try:
        return expected_ids(oracle, job, outcome.plan.make_environments)
    except (WorkerFailed, NoEnvironment) as reason:
        where = {"tokenizer": job.files.tokenizer, "text": text, "group": job.group}
        outcome.skip(f"{oracle} as the oracle", str(reason), **where)
        return {}


def _answer(outcome: Outcome, rival: Rival, job: Job, text: str) -> dict[str, Any] | None:
    plan = outcome.plan
    try:
        plant = plan.plant == rival.label
        answer = measure(rival.python, PEERS[rival.library], job, plant, plan.seconds)
    except WorkerFailed as reason:
        answer = {"skipped": str(reason)}
    if "skipped" not in answer:
        return answer
    where = {"tokenizer": job.files.tokenizer, "text": text, "group": job.group}
    outcome.skip(rival.label, answer["skipped"], **where)
    return None


def _file(
    outcome: Outcome,
    rival: Rival,
    job: Job,
    text: str,
    answer: dict[str, Any],
    expected: Digests,
    oracle: str,
) -> None:
    for state, measurement in answer["measurements"].items():
        if state not in outcome.plan.states:
            continue
        key = (job.files.tokenizer, text, state, rival.label)
        cell = outcome.cells.setdefault(key, Cell(*key))
        cell.add(measurement, answer["peak_memory_bytes"])
        found = (measurement["n_ids"], measurement["ids_sha256"])
        wrong = complaint(oracle, expected[state], found) if expected else "no ids to compare with"
        cell.void = cell.void or wrong
