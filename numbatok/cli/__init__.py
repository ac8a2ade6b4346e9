"""The command line: `numbatok COMMAND`, see numbatok.cli.parser for the commands.

Exit codes: 0 done, 1 an error (one line on standard error), 2 wrong usage, 130 interrupted, 141 the
reader of a pipe went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from numbatok.errors import NumbatokError

INTERRUPTED, PIPE_CLOSED = 130, 141  # 128 + SIGINT, 128 + SIGPIPE, as shells report them


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, those of the process unless given.

    Return the exit code; wrong usage and --help raise SystemExit, as argparse does.
    """
    try:
        from numbatok.cli.parser import make_parser

        options = make_parser().parse_args(arguments)
        code: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _drop_standard_output()
        return PIPE_CLOSED
    except OSError as error:
        _say(_describe(error))
        return 1
    except (NumbatokError, ImportError, MemoryError) as error:
        _say(str(error) or type(error).__name__)
        return 1


def _describe(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}"


def _say(line: str) -> None:
    if sys.stderr is not None:
        print(f"numbatok: {line}", file=sys.stderr)


def _drop_standard_output() -> None:
    """Let nothing be written at exit to a pipe that nobody reads."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
