"""The fresh process of one measurement: a JSON request on standard input, a JSON answer after it.

It runs in the environment of one library, so it imports that library and NumPy, nothing else.
"""

import dataclasses
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

MARK = "NUMBATOK-BENCHMARK "  # the answer is the line that starts with it; libraries print too


def main() -> None:
    """Answer the request."""
    request = json.load(sys.stdin)
    pin(request["cpus"])
    from benchmarks.libraries import Unsupported

    try:
        answer = run(request)
    except Unsupported as reason:
        answer = {"skipped": str(reason)}
    print(MARK + json.dumps(answer), flush=True)


def pin(cpus: list[int]) -> None:
    """Stay on these cores, where the platform can; none means any."""
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Return the measurements of the group of states that the request names."""
    from benchmarks import libraries, states
    from benchmarks.catalog import read_text
    from benchmarks.workloads import Settings

    settings = Settings(**request["settings"])
    text, other = (
        read_text(Path(path), settings.text_bytes) for path in (request["text"], request["other"])
    )
    files = libraries.Files(**request["files"])
    versions = []

    def load() -> libraries.Library:
        library = libraries.load(request["module"], files, request["special"])
        versions.append(library.version)
        return plant_wrong_id(library) if request["plant"] else library

    results = states.GROUPS[request["group"]](load, text, other, settings)
    return {
        "version": versions[0],
        "measurements": states.as_json(results),
        "peak_memory_bytes": peak_memory_bytes(),
    }


def peak_memory_bytes() -> int:
    """Return the largest resident size of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def plant_wrong_id(library: Any) -> Any:
    """Return the library with the last id of every result changed: the check must void it."""
    import numpy as np

    def spoiled(ids: Any) -> Any:
        ids = np.array(ids, np.uint32)
        ids[-1:] ^= 1
        return ids

    encode, batch_ids = library.encode, library.batch_ids
    return dataclasses.replace(
        library,
        encode=lambda text: spoiled(encode(text)),
        batch_ids=lambda result: spoiled(batch_ids(result)),
    )


if __name__ == "__main__":
    main()
