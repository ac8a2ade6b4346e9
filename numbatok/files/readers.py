"""The readers of a run, one for each kind of file that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numbatok.cuts import IN_ALL, can_cut, cut_kinds
from numbatok.errors import InvalidValue
from numbatok.files.json_lines import JsonLinesReader
from numbatok.files.json_schema import schema_of
from numbatok.files.kept import column_number, written_schema
from numbatok.files.parquet import ParquetReader, open_parquet
from numbatok.files.settings import Settings
from numbatok.files.sources import STANDARD_INPUT, Source
from numbatok.files.text import TextReader

if TYPE_CHECKING:
    import pyarrow as pa

    from numbatok.tokenizer import Tokenizer


def kept_schema(settings: Settings, sources: list[Source]) -> pa.Schema | None:
    """Return the types of the kept columns, as the first file has them.

    Errors: InvalidSource if it lacks one, InvalidValue if a kind of file has no columns.
    """
    if not settings.keep:
        return None
    kinds = {source.kind for source in sources}
    if kinds - {"parquet", "jsonl"} or len(kinds) > 1:
        raise InvalidValue(
            "keep is for Parquet files or for JSON Lines files, not for text or for both together"
        )
    first = sources[0]
    if first.path == STANDARD_INPUT:
        raise InvalidValue("keep needs files; the standard input can be read only once")
    if first.kind == "parquet":
        with open_parquet(first) as file:
            schema = file.schema_arrow
        for name in settings.keep:
            column_number(schema, name, first.path)
    else:
        schema = schema_of(first, settings.column, settings.keep)
    return written_schema(schema, settings.keep)


def make_readers(
    tokenizer: Tokenizer, settings: Settings, sources: list[Source], kept: pa.Schema | None
) -> dict[str, Any]:
    """Return the reader of each kind of file."""
    import pyarrow as pa

    text = pa.field(settings.column, pa.large_string())
    others = [field for field in kept or [] if field.name != settings.column]
    return {
        "parquet": ParquetReader(settings.column, settings.keep, kept, settings.invalid),
        "jsonl": JsonLinesReader(
            settings.column, pa.schema([text, *others]), settings.keep, settings.invalid
        ),
        "text": text_reader(tokenizer, settings),
    }


def text_reader(tokenizer: Tokenizer, settings: Settings) -> TextReader:
    """Return the reader of text files; long rows are cut if no cut can change an id."""
    policy = tokenizer._policies.get(settings.special, settings.invalid)
    cuts = (
        tokenizer._encoder.preparation.is_idle()
        and cut_kinds(tokenizer._encoder.pattern, tokenizer._encoder.tables.automaton) & IN_ALL
        == IN_ALL
        and can_cut(tokenizer._spec.added_tokens, policy.actions)
    )
    by_line = settings.split == "line"
    separator = {"file": None, "line": b"\n"}.get(settings.split, settings.split.encode())
    return TextReader(separator, by_line, cuts)
