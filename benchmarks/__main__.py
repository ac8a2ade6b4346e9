"""`python -m benchmarks`: measure encoding; see benchmarks/README.md."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks import encode, engine
from benchmarks.catalog import TEXTS, TOKENIZERS
from benchmarks.command import default_out, save
from benchmarks.libraries import PEERS
from benchmarks.places import MissingData
from benchmarks.states import STATES
from benchmarks.workloads import QUICK, Settings


def main(arguments: list[str] | None = None) -> int:
    """Measure what the arguments ask for; return the exit status."""
    options = parser().parse_args(arguments)
    plan = plan_of(options)
    try:
        outcome = measure(plan, options.out or default_out("encode", options.quick))
    except MissingData as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return 0
    void = [cell for cell in outcome.cells.values() if cell.void]
    for cell in void:
        print(f"VOID {cell.library} {cell.tokenizer} {cell.text} {cell.state}: {cell.void}")
    print(f"{len(outcome.cells)} cells, {len(void)} void, {len(outcome.skipped)} skipped")
    return 1 if void or not outcome.cells else 0


def measure(plan: engine.Plan, out: Path) -> engine.Outcome:
    """Run the plan; write the JSON after each text, so that an interrupted run keeps its cells."""
    for outcome in encode.run(plan):
        save(outcome.as_json(), out)
    return outcome


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    lists = {
        "--libraries": list(PEERS),
        "--tokenizers": list(TOKENIZERS),
        "--texts": list(TEXTS),
        "--states": list(STATES),
    }
    for name, choices in lists.items():
        made.add_argument(name, nargs="+", choices=choices, metavar="NAME", help=", ".join(choices))
    made.add_argument("--rounds", type=int, default=4, help="each is a pass forward and one back")
    made.add_argument("--megabytes", type=float, default=4.0, help="of each text")
    made.add_argument(
        "--quick", action="store_true", help="check the ids on one text, ignore the speeds"
    )
    made.add_argument("--plant", metavar="NAME", help="spoil the ids of this library, as a test")
    made.add_argument("--out", type=Path, help="default: results/, or the cache if quick")
    return made


def plan_of(options: argparse.Namespace) -> engine.Plan:
    """Return the plan that the options describe."""
    settings = replace(Settings(), text_bytes=int(options.megabytes * 1e6))
    return engine.Plan(
        libraries=options.libraries or list(PEERS),
        tokenizers=options.tokenizers or ["gpt2"],
        texts=options.texts or (["web"] if options.quick else list(TEXTS)),
        states=options.states or list(STATES),
        rounds=1 if options.quick else options.rounds,
        settings=QUICK if options.quick else settings,
        make_environments=not options.quick,
        plant=options.plant,
    )


if __name__ == "__main__":
    sys.exit(main())
