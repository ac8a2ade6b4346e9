"""`numbatok encode` on data sets: Parquet, JSON Lines, compressed files, shards, resumed runs."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from numbatok.cli import choices
from numbatok.cli.outputs import print_line
from numbatok.errors import InvalidValue

FORMATS = ("parquet", "arrow", "llmc", "megatron")  # beside those of ids
OUTPUTS = (".parquet", ".arrow", "/")
INPUTS = (".parquet", ".pq", ".jsonl", ".ndjson", ".gz", ".zst", ".zstd", ".bz2", ".xz")
OPTIONS = (
    "column", "input_format", "split", "ids_column", "keep", "eos", "sequence_length", "remainder",
    "shard_ids", "compression", "resume",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that only data sets have; unless given, they are None."""
    group = parser.add_argument_group(
        "data sets", "Parquet, JSON Lines and compressed files, with any of these, and -o"
    )
    group.add_argument("--column", metavar="NAME", help="column or field with the text")
    group.add_argument("--input-format", choices=("parquet", "jsonl", "text"), help="of the files")
    group.add_argument("--split", metavar="SEPARATOR", help="of text files: file, line, or a text")
    group.add_argument("--ids-column", metavar="NAME", help="of parquet and arrow (default: ids)")
    group.add_argument("--keep", action="append", metavar="NAME", help="a column to keep")
    group.add_argument("--eos", metavar="TOKEN", help="token that ends documents, or none")
    group.add_argument("--sequence-length", type=int, metavar="N", help="cut rows of N ids")
    group.add_argument("--remainder", choices=("drop", "pad"), help="of the last sequence")
    group.add_argument("--shard-ids", type=int, metavar="N", help="begin a file after N ids")
    group.add_argument("--compression", choices=("snappy", "zstd", "lz4", "none"))
    group.add_argument(
        "--resume",
        action="store_true",
        default=None,
        help="go on after the last finished shard; one file is begun anew",
    )


def is_wanted(options: argparse.Namespace) -> bool:
    """Tell whether a call is about a data set."""
    output = options.output or ""
    return (
        options.data_format in FORMATS
        or output.endswith(OUTPUTS)
        or os.path.isdir(output)
        or any(getattr(options, name) is not None for name in OPTIONS)
        or any(path.endswith(INPUTS) for path in options.files)
    )


def run(options: argparse.Namespace) -> int:
    """Encode a data set; return the exit code."""
    if options.output in (None, "-"):
        raise InvalidValue("a data set needs an output: -o FILE, or -o FOLDER/ for shards")
    try:
        from numbatok.files import encode_files
    except ImportError as error:
        raise ImportError(f"{error}; data sets need: pip install numbatok[files]") from None
    given: dict[str, Any] = {name: getattr(options, name) for name in OPTIONS}
    if given["eos"] == "none":
        given["eos"] = False
    if options.lines:
        given["split"] = "line"
    summary = encode_files(
        options.files or ["-"],
        options.output,
        choices.load_tokenizer(options),
        format=options.data_format,
        special=choices.special_policy(options),
        invalid=options.invalid,
        template=options.template,
        id_type=options.dtype,
        overwrite=options.overwrite,
        **{name: value for name, value in given.items() if value is not None},
    )
    print_line(json.dumps(summary.to_dict()) if options.json else str(summary))
    return 0
