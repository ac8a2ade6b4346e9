"""Encode text: every file is a text, or with --lines every line.

  numbatok encode --text "Hello, world"
  numbatok encode -t cl100k_base.tiktoken --lines notes/*.txt -o ids.npy
  numbatok encode data/*.parquet --keep url -o encoded.parquet
  numbatok encode dump.jsonl.gz --eos "<|endoftext|>" --shard-ids 100000000 -o shards/ --resume

Formats: `ids` writes numbers in decimal, a line per text; `json` a JSON object per text; `npy` and
`bin` the ids of all texts one after the other, as a NumPy array or as little-endian integers.
Data sets go to parquet, arrow, npy, bin (nanoGPT), llmc or megatron: see numbatok.files.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from numbatok.cli import choices, datasets
from numbatok.cli.outputs import refuse_terminal, whole_file
from numbatok.cli.progress import Progress
from numbatok.cli.sources import Document, batches, documents, find_files
from numbatok.errors import InvalidValue, NumbatokError

if TYPE_CHECKING:
    from numbatok.batch import TokenBatch
    from numbatok.tokenizer import Tokenizer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_sources(parser, "text")
    parser.add_argument("--text", action="append", metavar="TEXT", help="text to encode")
    choices.add_tokenizer(parser)
    choices.add_policies(parser, "raise")
    parser.add_argument("--template", action="store_true", help="add begin and end tokens")
    parser.add_argument("--lines", action="store_true", help="every line is a text of its own")
    choices.add_output(parser)
    choices.add_id_format(parser, datasets.FORMATS)
    datasets.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Encode; return the exit code."""
    from numbatok.cli.id_files import format_of, writer_of

    options.data_format = options.format
    if datasets.is_wanted(options):
        return datasets.run(options)
    options.format = "json" if options.json else options.format
    tokenizer, kind = choices.load_tokenizer(options), format_of(options.format, options.output)
    if kind in ("npy", "bin"):
        refuse_terminal(options.output, f"--format {kind}")
    texts, total = given_texts(options)
    make_writer = writer_of(kind, options.dtype or "uint32")
    with whole_file(options.output, options.overwrite) as file, Progress(total) as progress:
        seekable = io.BytesIO() if kind == "npy" and not file.seekable() else file
        writer = make_writer(seekable)
        for group in batches(texts):
            batch = _encode(tokenizer, group, options)
            writer.write(group, batch)
            progress.add(sum(len(document.data) for document in group), batch.ids.size)
        writer.finish()
        if isinstance(seekable, io.BytesIO):
            file.write(seekable.getbuffer())
    return 0


def given_texts(options: argparse.Namespace) -> tuple[Iterator[Document], int | None]:
    """Return the texts that the options name, and the bytes of their files if those are known."""
    if options.text is not None:
        if options.files:
            raise InvalidValue("give either --text or files, not both")
        return iter([Document("--text", None, text.encode(errors="surrogateescape"))
                     for text in options.text]), None  # fmt: skip
    paths = find_files(options.files)
    known = all(os.path.isfile(path) for path in paths)
    total = sum(map(os.path.getsize, paths)) if known else None
    return documents(paths, options.lines), total


def _encode(tokenizer: Tokenizer, group: list[Document], options: argparse.Namespace) -> TokenBatch:
    special, invalid = choices.special_policy(options), options.invalid
    rows = [document.data for document in group]
    try:
        return tokenizer.encode_batch(rows, special, invalid=invalid, template=options.template)
    except NumbatokError:
        for document in group:  # name the file and line instead of the row
            try:
                tokenizer.encode(document.data, special, invalid=invalid)
            except NumbatokError as error:
                raise InvalidValue(f"{document.place}: {error}") from None
        raise
