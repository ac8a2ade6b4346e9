"""The right ids of each piece of work, from the library that defines them, kept in the cache."""

import json
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks import workloads
from benchmarks.catalog import sha256
from benchmarks.environments import python_of
from benchmarks.libraries import PEERS
from benchmarks.places import CACHE, write_atomically
from benchmarks.processes import Job, WorkerFailed, measure

Digests = dict[str, tuple[int, str]]  # state -> (number of ids, their SHA-256)
SAME_IDS = {"warm": "whole", "after": "whole"}
FIRST_GROUPS = {"after": "replay"}  # a group that gives the same ids in less time


def expected_ids(oracle: str, job: Job, make_environments: bool = True) -> Digests:
    """Return what the states of the job's group must give.

    Raises:
        WorkerFailed: the oracle cannot do the job.
    """
    settings = replace(job.settings, replays=1, call_bytes=0)
    job = replace(job, group=FIRST_GROUPS.get(job.group, job.group), settings=settings)
    store = CACHE / "expected" / f"{_key(oracle, job)}.json"
    if not store.exists():
        peer = PEERS[oracle]
        answer = measure(python_of(peer, make_environments), peer, job)
        if "skipped" in answer:
            raise WorkerFailed(f"{oracle} {answer['skipped']}")
        digests = {s: (m["n_ids"], m["ids_sha256"]) for s, m in answer["measurements"].items()}
        store.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(store, json.dumps(digests).encode())
    found = {state: (n, digest) for state, (n, digest) in json.loads(store.read_text()).items()}
    return found | {state: found[same] for state, same in SAME_IDS.items() if same in found}


def _key(oracle: str, job: Job) -> str:
    """Return a name that changes with anything the ids depend on."""
    paths = [job.text, job.files.json, job.files.ranks]
    contents = [sha256(Path(path).read_bytes()) if path else "" for path in paths]
    contents.append(sha256(Path(workloads.__file__).read_bytes()))
    parts = [PEERS[oracle].requirements, job.group, job.special, asdict(job.settings), contents]
    return sha256(json.dumps(parts, sort_keys=True).encode())[:24]


def complaint(oracle: str, expected: tuple[int, str], found: tuple[int, str]) -> str | None:
    """Return why a cell is void: its ids are not the expected ones. None: they are."""
    if expected == found:
        return None
    if expected[0] != found[0]:
        return f"{found[0]} ids where {oracle} gives {expected[0]}"
    return f"ids differ from those of {oracle}"
