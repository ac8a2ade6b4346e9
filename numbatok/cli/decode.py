"""Decode ids, from what `numbatok encode` writes, to the bytes of the text.

  numbatok decode ids.npy
  echo 15496 11 995 | numbatok decode

The texts follow one another without anything between them, or with --lines each on its line.
"""

from __future__ import annotations

import argparse

from numbatok.cli import choices
from numbatok.cli.outputs import whole_file
from numbatok.cli.sources import documents, find_files
from numbatok.errors import InvalidValue, NumbatokError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_sources(parser, "ids")
    choices.add_tokenizer(parser)
    parser.add_argument("--skip-special", action="store_true", help="leave special tokens out")
    parser.add_argument("--lines", action="store_true", help="end every text with a line feed")
    choices.add_output(parser)
    choices.add_id_format(parser)


def run(options: argparse.Namespace) -> int:
    """Decode; return the exit code."""
    from numbatok.cli.id_files import format_of, read_ids

    tokenizer = choices.load_tokenizer(options)
    end = b"\n" if options.lines else b""
    with whole_file(options.output, options.overwrite) as file:
        for text in documents(find_files(options.files), by_line=False):
            kind = format_of("json" if options.json else options.format, text.source)
            for row, ids in enumerate(read_ids(kind, text, options.dtype or "uint32"), 1):
                try:
                    file.write(tokenizer.decode_bytes(ids, options.skip_special) + end)
                except NumbatokError as error:
                    raise InvalidValue(f"{text.place}, text {row}: {error}") from None
    return 0
