"""Options that several commands share, and what they mean."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from numbatok.errors import InvalidValue

if TYPE_CHECKING:
    from numbatok.policy import Special
    from numbatok.tokenizer import Tokenizer

POLICIES = ("raise", "recognize", "plain")
INVALID = ("byte-alphabet", "punct", "replace", "error")


def add_tokenizer(parser: argparse.ArgumentParser, positional: bool = False) -> None:
    """Add the options that say which tokenizer."""
    what = "a built-in name, a file, a folder, or a Hub id in the local cache"
    if positional:
        parser.add_argument("tokenizer", metavar="TOKENIZER", help=what)
    else:
        parser.add_argument(
            "-t", "--tokenizer", default="gpt2", metavar="TOKENIZER", help=f"{what} (default: gpt2)"
        )
    parser.add_argument(
        "--pattern", metavar="NAME", help="of a rank file: how text is cut, a name or a regex"
    )
    parser.add_argument(
        "--special-token", action="append", metavar="TOKEN=ID",
        help="of a rank file: a special token and its id (may be repeated)",
    )  # fmt: skip
    parser.add_argument(
        "--download", action="store_true", help="fetch the tokenizer if it is not on this machine"
    )


def load_tokenizer(options: argparse.Namespace) -> Tokenizer:
    """Return the tokenizer that the options name. Errors: as numbatok.load."""
    from numbatok.tokenizer import load

    return load(
        options.tokenizer,
        pattern=options.pattern,
        special_tokens=special_tokens(options.special_token),
        download=options.download,
    )


def special_tokens(given: list[str] | None) -> dict[str, int] | None:
    """Return ids by token of TOKEN=ID arguments; the last = counts, as tokens may have one."""
    if given is None:
        return None
    found = {}
    for argument in given:
        token, _, number = argument.rpartition("=")
        if not token or not number.isdecimal():
            raise InvalidValue(f"--special-token {argument!r}: TOKEN=ID is needed")
        found[token] = int(number)
    return found


def add_policies(parser: argparse.ArgumentParser, special: str) -> None:
    """Add the options on special tokens in text and on bytes that are not UTF-8."""
    parser.add_argument(
        "--special", action="append", metavar="POLICY",
        help="special tokens in the text: raise, recognize, plain, or a token to recognize (may be "
        f"repeated; others raise) (default: {special})",
    )  # fmt: skip
    parser.set_defaults(special_default=special)
    parser.add_argument(
        "--invalid", choices=INVALID, default=INVALID[0], help="what bytes are that are not UTF-8"
    )


def special_policy(options: argparse.Namespace) -> Special:
    """Return the `special=` that the options ask for."""
    given: list[str] = options.special or [options.special_default]
    if len(given) == 1 and given[0] in POLICIES:
        return given[0]
    mixed = [word for word in given if word in POLICIES]
    if mixed:
        raise InvalidValue(f"--special {mixed[0]} stands alone; it cannot be combined with tokens")
    return frozenset(given)


def add_sources(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the files to read."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE",
        help=f"{what}: files or patterns such as 'data/**/*.txt'; - or nothing is standard input",
    )  # fmt: skip


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the file to write."""
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    parser.add_argument("--overwrite", action="store_true", help="replace the output if it exists")


def add_id_format(parser: argparse.ArgumentParser) -> None:
    """Add how ids are written."""
    parser.add_argument(
        "--format", choices=("ids", "json", "npy", "bin"), help="default: by the file's name"
    )
    parser.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        help="the same as --format json",
    )
    parser.add_argument(
        "--dtype", choices=("uint16", "uint32"), default="uint32",
        help="integers of npy and bin (default: uint32)",
    )  # fmt: skip
