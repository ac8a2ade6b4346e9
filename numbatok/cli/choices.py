"""Options that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Literal

from numbatok.errors import InvalidValue

if TYPE_CHECKING:
    from numbatok.policy import Special
    from numbatok.tokenizer import Tokenizer
    from numbatok.training import Files

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


def add_id_format(parser: argparse.ArgumentParser, more: tuple[str, ...] = ()) -> None:
    """Add how ids are written."""
    parser.add_argument(
        "--format", choices=("ids", "json", "npy", "bin", *more), help="default: by the file's name"
    )
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument(
        "--dtype", choices=("uint16", "uint32"), help="integers of npy and bin (default: uint32)"
    )


def add_training_source(parser: argparse.ArgumentParser) -> None:
    """Add the files to train on, and how they are read."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE",
        help="text, JSON Lines or Parquet files, plain or compressed, folders or patterns",
    )  # fmt: skip
    parser.add_argument("--pattern", metavar="NAME", help="how text is cut, a name or a regex")
    parser.add_argument("--field", default="text", metavar="NAME", help="of JSON Lines and Parquet")
    parser.add_argument("--lines", action="store_true", help="every line is a text of its own")
    parser.add_argument("--separator", metavar="TEXT", help="what stands between texts")
    parser.add_argument(
        "--memory-limit", type=n_bytes, metavar="SIZE", help="such as 2GB; past it disk is used"
    )


def training_source(options: argparse.Namespace, paths: list[str]) -> Files:
    """Return files as a source of texts. Errors: InvalidSource, InvalidValue."""
    from numbatok.training import Files

    split: Literal["lines", "whole"] = "lines" if options.lines else "whole"
    return Files(paths, split=split, separator=options.separator, field=options.field)


def n_bytes(text: str) -> int:
    """Return the bytes of a size such as 500MB or 2GB. Errors: argparse's, for no size."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kMGT]?)i?B?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 500MB or 2GB")
    return int(float(match[1]) * 1000 ** " kMGT".index(match[2] or " "))
