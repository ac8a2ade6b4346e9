"""ids -> bytes -> text.

Byte-level decoding runs in a kernel: each id has bytes of its own. For text an added token may have
others than for `decode_bytes`, because Hugging Face looks at its string, normalized where it is
searched normalized, and takes one that is spelled in the byte alphabet for bytes. Other decoders,
which few byte-level tokenizers have, run token by token in plain Python: they are the reference's
own, of which there is one.
"""

from __future__ import annotations

import codecs
import operator
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.character_classes import byte_alphabet
from numbatok.errors import InvalidType, UnknownIdError
from numbatok.native import function
from numbatok.normalization import Normalization
from numbatok.spec import AddedToken, DecodeByteLevel, DecodeFuse, TokenizerSpec
from numbatok.tables import HOLE, I64, SPECIAL, U8, U32, Vocabulary

if TYPE_CHECKING:
    from numbatok import reference


class Reading(NamedTuple):
    """The bytes that ids are read as."""

    starts: I64  # [n + 1] the bytes of id i are bytes[starts[i] : starts[i + 1]]
    bytes: U8
    special: U8  # [n] 1 for what skip_special leaves out

    @property
    def lengths(self) -> I64:
        """How many bytes each id has."""
        return np.diff(self.starts)


class Decoder:
    """Decodes the ids of one vocabulary."""

    def __init__(
        self,
        spec: TokenizerSpec,
        vocabulary: Vocabulary,
        full_spec: Callable[[], TokenizerSpec],
    ) -> None:
        self._spec, self._full_spec = spec, full_spec
        self.by_steps = not is_byte_level(spec)  # `decode` is not the text of any bytes of its ids
        self._size = len(vocabulary.kinds)
        self._known = (vocabulary.kinds != HOLE).astype(np.uint8)
        special = ((vocabulary.kinds & SPECIAL) != 0).astype(np.uint8)
        self._none = np.zeros(self._size, np.uint8)
        self.own = Reading(vocabulary.starts, vocabulary.bytes, special)
        self.lengths = self.own.lengths  # bytes of each id

    @cached_property
    def text(self) -> Reading:
        """What ids are read as for text, unless `by_steps`."""
        return with_other_bytes(self.own, other_bytes_of_added(self._spec))

    def decode(self, ids: Any, skip_special: bool, row: int | None = None) -> str:
        """Return the text of ids."""
        if self.by_steps:
            return self._decode_by_steps(as_ids(ids, row), skip_special, row)
        return self.read(self.text, ids, skip_special, row).decode("utf-8", errors="replace")

    def decode_bytes(self, ids: Any, skip_special: bool, row: int | None = None) -> bytes:
        """Return the bytes of ids."""
        return self.read(self.own, ids, skip_special, row)

    def read(self, reading: Reading, ids: Any, skip_special: bool, row: int | None = None) -> bytes:
        """Return the bytes of ids in one reading of them."""
        numbers = as_ids(ids, row)
        place = (numbers.ctypes.data, len(numbers), reading.starts.ctypes.data, self._size)
        size = function("measure_ids")(*place, self._known.ctypes.data)
        if size < 0:
            raise self.unknown_id(int(numbers[-1 - size]), -1 - size, row)
        text = np.empty(size, np.uint8)
        skip = reading.special if skip_special else self._none
        written = function("decode_ids")(
            *place, reading.bytes.ctypes.data, skip.ctypes.data, text.ctypes.data, size
        )
        return text[:written].tobytes()

    @cached_property
    def _whole_spec(self) -> TokenizerSpec:
        return self._full_spec()

    def steps(self, skip_special: bool) -> reference.DecodeStream:
        """Return the decoders of the tokenizer's file, for one text."""
        from numbatok import reference

        return reference.DecodeStream(self._whole_spec, skip_special)

    def _decode_by_steps(self, ids: U32, skip_special: bool, row: int | None) -> str:
        stream, parts = self.steps(skip_special), []
        for position, i in enumerate(ids.tolist()):
            self.check(i, position, row)
            parts.append(stream.push(i))
        return "".join([*parts, stream.flush()])

    def check(self, i: int, position: int | None = None, row: int | None = None) -> None:
        """Raise UnknownIdError for an id that the vocabulary does not have."""
        if not 0 <= i < self._size or not self._known[i]:
            raise self.unknown_id(i, position, row)

    def bytes_of(self, i: int) -> bytes:
        """Return the bytes of one id that are read as text."""
        self.check(i)
        starts = self.text.starts
        return self.text.bytes[starts[i] : starts[i + 1]].tobytes()

    def is_special(self, i: int) -> bool:
        """Tell whether an id of the vocabulary is left out with skip_special."""
        return bool(self.text.special[i])

    def unknown_id(self, i: int, position: int | None, row: int | None) -> UnknownIdError:
        """Return the error of an id that is not in the vocabulary."""
        place = "" if position is None else f" at position {position}"
        place += "" if row is None else f" of row {row}"
        why = f"ids go from 0 to {self._size - 1}"
        if 0 <= i < self._size:
            why = "it is a hole in the vocabulary"
        return UnknownIdError(f"id {i}{place} is unknown: {why}")


def is_byte_level(spec: TokenizerSpec) -> bool:
    """Tell whether the text of ids is that of bytes which each id has.

    What is fused before it is read at once: then one token decides how all are read.
    """
    fuses = [isinstance(step, DecodeFuse) for step in spec.decoders[1:]]
    return spec.decoders[:1] == (DecodeByteLevel(),) and all(fuses)


def other_bytes_of_added(spec: TokenizerSpec) -> dict[int, tuple[bytes, bool]]:
    """Return the bytes of added tokens that are read as others than their own, and if special."""
    if spec.engine != "tokenizers":
        return {}
    normalization = Normalization(spec.normalizers)
    specials = {token.content for token in spec.added_tokens if token.special}
    found = {}
    for token in spec.added_tokens:
        string = token.content
        if token.normalized and string:
            string = normalization.apply(string.encode()).decode()
        read = _bytes_of_string(string), string in specials
        if read != _own_bytes(token):
            found[token.id] = read
    return found


def _own_bytes(token: AddedToken) -> tuple[bytes, bool]:
    return token.content.encode(), token.special


_BYTES = {chr(point): byte for byte, point in enumerate(byte_alphabet().tolist())}


def _bytes_of_string(string: str) -> bytes:
    """Return the bytes that a string of the byte alphabet spells, or its UTF-8."""
    if string.isascii():  # printable characters spell themselves, others are not in the alphabet
        return string.encode()
    try:
        return bytes([_BYTES[character] for character in string])
    except KeyError:
        return string.encode()


def with_other_bytes(own: Reading, others: dict[int, tuple[bytes, bool]]) -> Reading:
    """Return a reading in which some ids have other bytes."""
    if not others:
        return own
    special, lengths = own.special.copy(), own.lengths.copy()
    parts, done = [], 0
    for i, (data, is_special) in sorted(others.items()):
        parts += [own.bytes[done : own.starts[i]], np.frombuffer(data, np.uint8)]
        done = own.starts[i + 1]
        special[i], lengths[i] = is_special, len(data)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return Reading(starts, np.concatenate([*parts, own.bytes[done:]]), special)


def as_ids(ids: Any, row: int | None = None) -> U32:
    """Return ids as a contiguous uint32 array.

    Errors: InvalidType for anything but a flat sequence of integers, UnknownIdError for one that
    no vocabulary has.
    """
    if isinstance(ids, np.ndarray) and ids.dtype == np.uint32 and ids.ndim == 1:
        return np.ascontiguousarray(ids)
    place = "ids" if row is None else f"row {row}"
    if isinstance(ids, (str, bytes)) or ids is None:
        raise InvalidType(f"{place}: {ids!r:.60} is {type(ids).__name__}; integers are needed")
    try:
        numbers = np.asarray(ids if hasattr(ids, "__array__") else list(ids))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidType(f"{place}: {ids!r:.60} is no sequence of integers: {error}") from None
    if numbers.ndim == 1 and numbers.size == 0:
        return np.zeros(0, np.uint32)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise InvalidType(_not_integers(ids, numbers, place))
    wrong = np.flatnonzero((numbers < 0) | (numbers > 0xFFFF_FFFF))
    if wrong.size:
        raise UnknownIdError(
            f"id {int(numbers[wrong[0]])} at position {int(wrong[0])}"
            f"{'' if row is None else f' of row {row}'} is unknown: no id is negative or so large"
        )
    return np.ascontiguousarray(numbers, np.uint32)


def _not_integers(ids: Any, numbers: NDArray[Any], place: str) -> str:
    if numbers.ndim == 1 and numbers.dtype.kind == "O":
        for position, value in enumerate(numbers):
            if not hasattr(value, "__index__"):
                return f"{place}: position {position} is {value!r:.60}; integers are needed"
            if not 0 <= operator.index(value) <= 0xFFFF_FFFF:
                return f"{place}: position {position} is {value}; no id is so large or negative"
    advice = "; for several texts use decode_batch" if numbers.ndim > 1 else ""
    return f"{place}: {numbers.ndim}-d {numbers.dtype} array; 1-d integers are needed{advice}"


class DecodeStream:
    """Decodes one id at a time. The pieces of text together are what `decode` gives at once.

    A piece holds every character that no later id can change; bytes that may still become one are
    held back.
    """

    def __init__(self, decoder: Decoder, skip_special: bool) -> None:
        self._decoder, self._skip_special = decoder, skip_special
        self._steps = decoder.steps(skip_special) if decoder.by_steps else None
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, i: int) -> str:
        """Return the text that the next id completes. Errors: UnknownIdError, InvalidType."""
        try:
            number = operator.index(i)
        except TypeError:
            raise InvalidType(f"push: {i!r:.60} is {type(i).__name__}; an id is needed") from None
        data = self._decoder.bytes_of(number)
        if self._steps is not None:
            return self._steps.push(number)
        if self._skip_special and self._decoder.is_special(number):
            return ""
        return self._utf8.decode(data)

    def flush(self) -> str:
        """Return what is held back, an incomplete character as U+FFFD, and start anew."""
        if self._steps is not None:
            text, self._steps = self._steps.flush(), self._decoder.steps(self._skip_special)
            return text
        text = self._utf8.decode(b"", final=True)
        self._utf8.reset()
        return text
