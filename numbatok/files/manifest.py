"""The record of a run: what was asked for, what is finished, and where to go on.

While a run is unfinished the record has the name manifest.partial.json, and a finished one is
manifest.json; for an output of one file the names start with that file's. Each is written to
another name and renamed, so it is always whole.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from numbatok.errors import OutputError
from numbatok.files.blocks import Position

FORMAT = 1


@dataclass(frozen=True)
class Totals:
    """What the rows before some place amount to."""

    rows: int = 0
    null_rows: int = 0
    text_bytes: int = 0

    def __add__(self, more: Totals) -> Totals:
        return Totals(
            self.rows + more.rows,
            self.null_rows + more.null_rows,
            self.text_bytes + more.text_bytes,
        )


FIRST_BLOCK, NOTHING = Position(), Totals()


@dataclass(frozen=True)
class Resume:
    """Where the next shard starts: in the block at a position, after some rows or ids of it."""

    position: Position = FIRST_BLOCK
    totals: Totals = NOTHING  # before the block
    skip: int = 0  # rows of the block, or ids if the output is a stream of ids


@dataclass
class Record:
    """What a manifest holds."""

    request: dict[str, Any]  # tokenizer, settings, inputs: a resumed run must have the same
    shards: list[dict[str, Any]] = field(default_factory=list)
    resume: Resume = field(default_factory=Resume)
    totals: dict[str, Any] | None = None  # of a finished run
    replaced: Record | None = None  # of an output that is in the way, and goes

    def as_json(self) -> dict[str, Any]:
        """Return the content of the file."""
        from numbatok.version import __version__

        found: dict[str, Any] = {"manifest": FORMAT, "numbatok": __version__, **self.request}
        found["shards"] = self.shards
        if self.totals is None:
            return found | {"complete": False, "resume": asdict(self.resume)}
        return found | {"complete": True, "totals": self.totals}


def read_record(path: Path) -> Record | None:
    """Return the record in a file, or None if there is no such file.

    Errors: OutputError for a file that is no record.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _foreign(path, str(error)) from None
    try:
        if content["manifest"] != FORMAT:
            raise _foreign(path, f"format {content['manifest']!r}")
        request = {name: content[name] for name in ("tokenizer", "settings", "inputs")}
        record = Record(request, content["shards"], totals=content.get("totals"))
        if not content["complete"]:
            found = content["resume"]
            record.resume = Resume(
                Position(**found["position"]), Totals(**found["totals"]), found["skip"]
            )
    except (KeyError, TypeError) as error:
        raise _foreign(path, f"it lacks {error}") from None
    return record


def _foreign(path: Path, fact: str) -> OutputError:
    return OutputError(
        f"{path} is no manifest of this version of numbatok ({fact}); choose another output"
    )


def write_record(path: Path, record: Record) -> None:
    """Write a record under another name and rename it. Errors: OSError."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(record.as_json(), indent=1, default=str) + "\n", "utf-8")
    temporary.replace(path)


def difference(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Return what a resumed run asks for otherwise, in words, or None."""
    now = json.loads(json.dumps(now, default=str))
    if before["tokenizer"] != now["tokenizer"]:
        return (
            f"the tokenizer was {before['tokenizer']['name']} with the fingerprint "
            f"{before['tokenizer']['fingerprint'][:16]}..., now it is {now['tokenizer']['name']} "
            f"with {now['tokenizer']['fingerprint'][:16]}..."
        )
    for name in {**before["settings"], **now["settings"]}:
        was, here = before["settings"].get(name), now["settings"].get(name)
        if was != here:
            return f"{name} was {was!r}, now it is {here!r}"
    if len(before["inputs"]) != len(now["inputs"]):
        return f"there were {len(before['inputs'])} inputs, now there are {len(now['inputs'])}"
    for was, here in zip(before["inputs"], now["inputs"], strict=True):
        if was != here:
            changed = [name for name in was if was[name] != here.get(name)]
            return f"the input {was['path']} has another {' and '.join(changed)} now"
    return None
