"""The types of the fields of JSON Lines that are kept, as the first lines of a file have them."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from numbatok.errors import InvalidSource, InvalidValue
from numbatok.files import blocks
from numbatok.files.json_lines import count_objects, missing_field, numbered, parsed, read_object
from numbatok.files.sources import Source, is_pipe
from numbatok.files.streams import ByteStream

if TYPE_CHECKING:
    import pyarrow as pa


def schema_of(source: Source, field: str, keep: tuple[str, ...]) -> pa.Schema:
    """Return the types of the text and of the kept fields, as the first lines of a file have them.

    Errors: InvalidSource if no line has a kept field, naming those there are, and for a line that
    is no object or has another type in a kept field; InvalidValue for a pipe.
    """
    import pyarrow as pa

    text = pa.field(field, pa.large_string())
    if not keep:
        return pa.schema([text])
    if is_pipe(source.path):
        raise InvalidValue(f"keep needs files; {source.path} is a pipe and can be read only once")
    with ByteStream(source) as stream:
        data = stream.read(blocks.BLOCK_BYTES)
    if len(data) == blocks.BLOCK_BYTES:
        data = data[: data.rfind(b"\n") + 1]
    others = [name for name in keep if name != field]
    found = _inferred(data, pa.schema([text])) or _inferred_one_by_one(source.path, data, others)
    missing = [name for name in keep if name not in found.names]
    if missing:
        raise InvalidSource(
            missing_field(f"{source.path}: the first lines have", missing[0], found.names)
        )
    return pa.schema(
        [text, *(pa.field(name, _kept_type(found.field(name).type)) for name in others)]
    )


def _kept_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a kept field: JSON has no times, and a text that looks like one stays."""
    import pyarrow as pa

    if pa.types.is_null(kind) or pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_kept_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _kept_type(f.type)) for f in kind])
    return kind


def _inferred(data: bytes, schema: pa.Schema) -> pa.Schema | None:
    """Return the types of all fields of some lines, or None if pyarrow cannot tell."""
    import pyarrow as pa

    if not count_objects(data):
        return None
    try:
        return parsed(data, schema, "infer").schema
    except pa.ArrowException:
        return None


def _inferred_one_by_one(path: str, data: bytes, names: list[str]) -> pa.Schema:
    """Return the types of some fields of some lines; the others that there are have type null."""
    import pyarrow as pa

    lines = numbered(data, 0)
    objects = [read_object(path, number, line) for number, line in lines]
    known = dict.fromkeys(name for content in objects for name in content)
    kinds = dict.fromkeys(known, pa.null())
    for name in names:
        if name in known:
            values = [content.get(name) for content in objects]
            kinds[name] = _type_of(values, path, name, [number for number, _ in lines])
    return pa.schema(list(kinds.items()))


def _type_of(values: list[Any], path: str, name: str, lines: list[int]) -> pa.DataType:
    """Return the type of a field. Errors: InvalidSource names the first line of another type."""
    import pyarrow as pa

    if _misfit(values) is None:
        return pa.array(values).type
    n_fit = bisect_left(
        range(len(values)), True, key=lambda n: _misfit(values[: n + 1]) is not None
    )
    value, error = values[n_fit], _misfit(values[: n_fit + 1])
    raise InvalidSource(
        f"{path}, line {lines[n_fit] + 1}: field {name!r} is {value!r:.60} "
        f"({type(value).__name__}), which fits in no column with the lines before it: {error}; "
        f"leave {name!r} out of keep, or give it one type"
    )


def _misfit(values: list[Any]) -> Exception | None:
    """Return why no column holds all the values, or None if one does."""
    import pyarrow as pa

    try:
        pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        return error
    return None
