"""What an encode_files call asks for, checked before anything is read or written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from numbatok.arrow.encode import check_id_type
from numbatok.errors import InvalidValue
from numbatok.policy import Choice, Invalid, Special

if TYPE_CHECKING:
    from numbatok.tokenizer import Tokenizer

Format = Literal["parquet", "arrow", "npy", "bin", "llmc", "megatron"]
FORMATS = ("parquet", "arrow", "npy", "bin", "llmc", "megatron")
INPUT_FORMATS = ("parquet", "jsonl", "text")
COMPRESSIONS = ("snappy", "zstd", "lz4", "none")
REMAINDERS = ("drop", "pad")
ROW_FORMATS = ("parquet", "arrow")  # one row of ids for each row of text
SUFFIXES = {".parquet": "parquet", ".arrow": "arrow", ".npy": "npy", ".bin": "bin"}
NARROW = 1 << 16


@dataclass(frozen=True)
class Settings:
    """The options of a run that decide a byte of its output; see `numbatok.files.encode_files`."""

    format: str
    id_type: str
    column: str = "text"
    input_format: str | None = None
    split: str = "file"
    special: Special = "raise"
    invalid: Invalid = "byte-alphabet"
    template: bool = False
    ids_column: str = "ids"
    keep: tuple[str, ...] = ()
    eos: int | None = None
    sequence_length: int | None = None
    remainder: str = "drop"
    shard_ids: int | None = None
    compression: str = "snappy"

    @property
    def packed(self) -> bool:
        """Whether rows are joined and cut into sequences of one length."""
        return self.sequence_length is not None

    @property
    def by_row(self) -> bool:
        """Whether the output has a row for each row of text."""
        return self.format in ROW_FORMATS and not self.packed

    @property
    def eos_first(self) -> bool:
        """Whether the end-of-text id stands before each document, as in llm.c's own data."""
        return self.format == "llmc"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of the ids that are written."""
        return np.dtype(self.id_type)

    def as_json(self) -> dict[str, Any]:
        """Return the options for the manifest."""
        found = dataclasses.asdict(self)
        if isinstance(self.special, Choice):
            named = {"recognized": self.special.recognized, "refused": self.special.refused}
            found["special"] = {name: sorted(tokens) for name, tokens in named.items()}
        elif not isinstance(self.special, str):
            found["special"] = sorted(self.special)
        return found | {"keep": list(self.keep)}


Eos = Union[str, int, None, Literal[False]]


def make_settings(
    tokenizer: Tokenizer,
    output: Path,
    *,
    format: str | None,
    id_type: str | None,
    eos: Eos,
    keep: str | Sequence[str],
    **options: Any,
) -> Settings:
    """Return the settings of a call.

    Errors: InvalidType or InvalidValue for an option that is unknown, does not fit another one, or
    does not fit the vocabulary.
    """
    form = format or SUFFIXES.get(output.suffix, "")
    _choice("format", form, FORMATS, "or name the output .parquet, .arrow, .npy or .bin")
    settings = Settings(
        format=form,
        id_type=_id_type(tokenizer, form, id_type),
        keep=(keep,) if isinstance(keep, str) else tuple(keep),
        **options,
    )
    _check(settings)
    tokenizer._policies.get(settings.special, settings.invalid)
    if settings.by_row:
        if eos not in (None, False):
            raise InvalidValue(
                f"eos is {eos!r}, but format={form!r} keeps rows apart; leave it out, or pack rows "
                "with sequence_length"
            )
        return settings
    return dataclasses.replace(settings, eos=_eos_id(tokenizer, eos))


def _check(settings: Settings) -> None:
    if settings.input_format is not None:
        _choice("input_format", settings.input_format, INPUT_FORMATS)
    _choice("compression", settings.compression, COMPRESSIONS)
    _choice("remainder", settings.remainder, REMAINDERS)
    for name in ("sequence_length", "shard_ids"):
        value = getattr(settings, name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise InvalidValue(f"{name} is {value!r}; a positive integer is needed")
    if not isinstance(settings.split, str) or settings.split == "":
        raise InvalidValue(
            f"split is {settings.split!r}; use 'file', 'line' or the separator between rows"
        )
    if settings.packed and settings.format in ("bin", "llmc", "megatron"):
        raise InvalidValue(
            f"sequence_length is for parquet, arrow and npy; readers of format={settings.format!r} "
            "cut sequences by themselves"
        )
    if settings.keep and not settings.by_row:
        raise InvalidValue("keep is for rows in parquet or arrow; other outputs hold ids only")
    twice = [name for name in settings.keep if settings.keep.count(name) > 1]
    if twice:
        raise InvalidValue(f"keep has {twice[0]!r} more than once; name each column once")
    if settings.ids_column in settings.keep:
        raise InvalidValue(
            f"keep has {settings.ids_column!r}, the name of the column of ids; pass another "
            "ids_column"
        )


def _choice(name: str, value: str, choices: Iterable[str], more: str = "") -> None:
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise InvalidValue(f"{name} is {value!r}; use one of {known}{', ' + more if more else ''}")


def _id_type(tokenizer: Tokenizer, form: str, asked: str | None) -> str:
    """Return the type of the ids: of 16 bits in flat files if they fit, else of 32."""
    kinds = ("uint16", "int32") if form == "megatron" else ("uint16", "uint32")
    if asked is not None:
        _choice("id_type", asked, kinds)
        check_id_type(tokenizer, asked)
        return asked
    if form in ROW_FORMATS or tokenizer.vocab_size > NARROW:
        return kinds[1]
    return kinds[0]


def _eos_id(tokenizer: Tokenizer, eos: Eos) -> int | None:
    """Return the id that ends a document, or None if nothing does."""
    if eos is False:
        return None
    special = tokenizer.special_tokens
    if eos is None:
        if len(special) == 1:
            return next(iter(special.values()))
        known = ", ".join(map(repr, list(special)[:8])) or "none"
        raise InvalidValue(
            f"eos is needed: the token between documents, one of the special tokens ({known}), "
            "or False for nothing"
        )
    found = tokenizer.token_to_id(eos) if isinstance(eos, str) else eos
    if found is None:
        raise InvalidValue(f"eos is {eos!r}, which is no token of {tokenizer!r}")
    tokenizer.token_bytes(found)  # raises for an id that the vocabulary does not have
    return found
