"""`python -m tests.parity --full`: everything; without --full the sample that the tests run."""

from __future__ import annotations

import argparse
import sys
import time

from tests.parity.checks import CHECKS, FULL, QUICK
from tests.parity.comparing import settle
from tests.parity.published import LOADS, open_subject


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument("--full", action="store_true", help="all of it: hours on two cores")
    parser.add_argument("--files", nargs="*", default=list(LOADS), help="parts of file names")
    parser.add_argument("--checks", nargs="*", default=list(CHECKS), choices=CHECKS)
    options = parser.parse_args()
    failed = 0
    for file in LOADS:
        if any(part in file for part in options.files):
            subject = open_subject(file)
            for name in options.checks:
                started = time.monotonic()
                try:
                    title = f"== {subject.pair_of_libraries}: {name}"
                    settle(title, CHECKS[name](subject, FULL if options.full else QUICK))
                except AssertionError as error:
                    failed += 1
                    print(error)
                print(f"   {time.monotonic() - started:.1f} s", flush=True)
    print(f"{failed} checks failed")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
