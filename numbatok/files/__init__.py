"""Files of text in, files of ids out: Parquet, JSON Lines and text to what a training reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numbatok.arrow import named
from numbatok.files.progress import Choice, Progress
from numbatok.files.run import Run, Summary
from numbatok.files.settings import Eos, Format, make_settings
from numbatok.files.shards import Target
from numbatok.files.sources import Sources, find_sources
from numbatok.policy import Invalid, Special

if TYPE_CHECKING:
    from numbatok.tokenizer import Tokenizer

__all__ = ["Progress", "Summary", "encode_files"]


def encode_files(
    sources: Sources,
    output: str | Path,
    tokenizer: Tokenizer | str = "gpt2",
    *,
    format: Format | None = None,
    column: str = "text",
    input_format: str | None = None,
    split: str = "file",
    special: Special = "raise",
    invalid: Invalid = "byte-alphabet",
    template: bool = False,
    id_type: str | None = None,
    ids_column: str = "ids",
    keep: str | Sequence[str] = (),
    eos: Eos = None,
    sequence_length: int | None = None,
    remainder: str = "drop",
    shard_ids: int | None = None,
    compression: str = "snappy",
    resume: bool = False,
    overwrite: bool = False,
    progress: Choice = None,
) -> Summary:
    r"""Encode files of any size in bounded memory, in order, and return a summary.

    sources          paths, globs and folders of Parquet, JSON Lines and text files, plain or as
                     .gz, .zst, .bz2, .xz; "-" is the standard input
    output           a file named .parquet, .arrow, .npy or .bin; any other name is a folder, which
                     gets shards and a manifest.json with their counts and checksums
    format           "parquet" and "arrow": a row for each row of text, null where it is null;
                     "npy" and "bin" (nanoGPT): all ids in one row; "llmc": llm.c's .bin;
                     "megatron": .bin and .idx. Default: by the output's name
    column           of Parquet files, or the field of JSON Lines objects
    input_format     "parquet", "jsonl" or "text" if the names of the files do not tell
    split            rows of text files: "file" (each is one), "line", or the separator between
                     rows, such as "<|endoftext|>"; separators are no text
    special, invalid, template   as in Tokenizer.encode
    id_type          default: 32 bits in rows; in flat files uint16 if every id fits
    keep             names of columns or fields that go with the ids, in parquet and arrow
    eos              a token or id that ends each document in the formats that join rows (in llmc it
                     is before each); False for none; may be left out if the tokenizer has just one
                     special token
    sequence_length  join rows and cut sequences of so many ids: rows of npy, parquet or arrow
    remainder        of the last sequence: "drop" it, or "pad" it with eos
    shard_ids        begin another shard after so many ids: exactly in flat files, with the row
                     that reaches them in formats of rows
    compression      of parquet: "snappy", "zstd", "lz4", "none"; of arrow: "zstd", "lz4", "none".
                     In parquet ids have 16 bits, or as many as the vocabulary needs, before that
    resume           go on after the last finished shard of a run that was ended: the bytes will be
                     those of an unbroken run. An output of one file has no shard before its end
                     and is begun anew; name a folder if that would cost much. A finished output is
                     left as it is
    overwrite        replace an output of an earlier run
    progress         a bar (True), none (False), a function of Progress; default: a bar if somebody
                     watches

    Errors: InvalidValue and InvalidType before anything is read; InvalidSource for a file that is
    damaged or lacks a column; OutputError for an output that exists, does not fit, or cannot be
    written; SpecialTokenError and InvalidUtf8 with file and row. Finished shards stay as they are.
    """
    tokenizer, output = named(tokenizer), Path(output)
    settings = make_settings(
        tokenizer, output, format=format, id_type=id_type, eos=eos, keep=keep, column=column,
        input_format=input_format, split=split, special=special, invalid=invalid,
        template=template, ids_column=ids_column, sequence_length=sequence_length,
        remainder=remainder, shard_ids=shard_ids, compression=compression,
    )  # fmt: skip
    target = Target.of(output, settings)
    run = Run(tokenizer, settings, find_sources(sources, input_format), target)
    return run.run(resume=resume, overwrite=overwrite, progress=progress)
