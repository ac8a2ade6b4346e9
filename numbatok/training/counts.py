"""PretokenCounts: how often each distinct pretoken occurs; an Arrow table in and out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from numbatok.errors import InvalidType, InvalidValue, TrainingError
from numbatok.training.pretokens import Pretokens, join, make_pretokens, sort_and_add_up
from numbatok.training.report import WordsReport

if TYPE_CHECKING:
    import pyarrow

MAX_TOTAL = 1 << 62  # of all counts, so that no sum passes 64 bits
PATTERN_KEY = b"numbatok.pattern"


class PretokenCounts:
    """Distinct pretokens, sorted by their bytes, with 64-bit counts. Immutable.

    `counts[b" the"]` is a count, `len(counts)` the number of distinct pretokens, iteration gives
    (pretoken, count). `a + b` and `PretokenCounts.merged` give the same for any order and grouping.
    Counts know the pattern that cut them, and `numbatok.train` uses no other.
    """

    def __init__(self, pretokens: Pretokens, pattern: str | None = None) -> None:
        self._pretokens, self.pattern = pretokens, pattern

    @classmethod
    def from_mapping(
        cls, counts: Mapping[bytes | str, int], pattern: str | None = None
    ) -> PretokenCounts:
        """Return the counts of a mapping; its order is that of the first occurrences.

        Errors: InvalidType, InvalidValue for a pretoken that is no text or a count below 1.
        """
        words = [_to_word(word) for word in counts]
        numbers = list(counts.values())
        for word, number in zip(words, numbers, strict=True):
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                raise InvalidType(f"the count of {word!r} is {number!r}; an integer is needed")
            if not 1 <= number < MAX_TOTAL:
                raise InvalidValue(f"the count of {word!r} is {number}; 1 to 2^62 is possible")
        _check_total(sum(numbers))
        pretokens = make_pretokens(words, numbers, range(len(words)))
        return cls(sort_and_add_up(pretokens), pattern)

    # --- Arrow ------------------------------------------------------------------------------------

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow Table: pretoken large_binary, count int64, and first int64 if known.

        `first` is where a pretoken occurs first, in bytes of the source. The table shares memory
        with the counts; the pattern is in the metadata of its schema.
        """
        import pyarrow

        mine = self._pretokens
        buffers = [None, *(pyarrow.py_buffer(part) for part in (mine.ends, mine.text))]
        columns = {
            "pretoken": pyarrow.Array.from_buffers(pyarrow.large_binary(), len(self), buffers),
            "count": pyarrow.array(mine.numbers),
        }
        if mine.firsts is not None:
            columns["first"] = pyarrow.array(mine.firsts)
        table = pyarrow.table(columns)
        if self.pattern is None:
            return table
        return table.replace_schema_metadata({PATTERN_KEY: self.pattern.encode()})

    @classmethod
    def from_arrow(cls, table: pyarrow.Table, pattern: str | None = None) -> PretokenCounts:
        """Return the counts of an Arrow table in any order, in which pretokens may be repeated.

        `pattern` names the pattern if the table's metadata does not.

        Errors: InvalidType for a column that is missing or has another type; InvalidValue for a
        null, a count below 1, or another pattern than the metadata's.
        """
        from numbatok.training.arrow_counts import pretokens_of_table

        pretokens = pretokens_of_table(table)
        known = (table.schema.metadata or {}).get(PATTERN_KEY)
        pattern = _one_pattern(known.decode() if known else None, pattern)
        _check_total(int(pretokens.numbers.sum(dtype=np.float64)))
        return cls(sort_and_add_up(pretokens), pattern)

    # --- merge ------------------------------------------------------------------------------------

    @classmethod
    def merged(cls, parts: Iterable[PretokenCounts]) -> PretokenCounts:
        """Return the sum of several counts.

        First places are kept if all parts have them; they must be those of one source.

        Errors: InvalidValue if the parts were cut by different patterns; TrainingError past 2^62.
        """
        counted = list(parts)
        pattern: str | None = None
        for part in counted:
            pattern = _one_pattern(pattern, part.pattern)
        _check_total(sum(part.total for part in counted))
        return cls(sort_and_add_up(join([part._pretokens for part in counted])), pattern)

    def __add__(self, other: PretokenCounts) -> PretokenCounts:
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        return self.merged([self, other])

    def at_least(self, n: int) -> PretokenCounts:
        """Return the pretokens that occur n times or more."""
        kept = np.flatnonzero(self._pretokens.numbers >= n)
        return PretokenCounts(self._pretokens.take(kept), self.pattern)

    # --- look -------------------------------------------------------------------------------------

    @property
    def pretokens(self) -> Pretokens:
        """The arrays; not to be written to."""
        return self._pretokens

    @property
    def total(self) -> int:
        """The number of pretokens, repetitions included."""
        return int(self._pretokens.numbers.sum())

    @property
    def n_singletons(self) -> int:
        """The number of pretokens that occur once."""
        return int(np.count_nonzero(self._pretokens.numbers == 1))

    def __len__(self) -> int:
        return len(self._pretokens)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        return zip(self._pretokens, self._pretokens.numbers.tolist(), strict=True)

    def __getitem__(self, pretoken: bytes | str) -> int:
        """Return how often a pretoken occurs, 0 if it does not."""
        word = _to_word(pretoken)
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._pretokens[middle] < word:
                low = middle + 1
            else:
                high = middle
        found = low < len(self) and self._pretokens[low] == word
        return int(self._pretokens.numbers[low]) if found else 0

    def most_common(self, n: int) -> list[tuple[bytes, int]]:
        """Return the n most frequent pretokens; of equally frequent ones the first by bytes."""
        numbers, n = self._pretokens.numbers, min(n, len(self))
        if n <= 0:
            return []
        least = np.partition(numbers, len(self) - n)[len(self) - n]
        above = np.flatnonzero(numbers > least)
        chosen = np.concatenate([above, np.flatnonzero(numbers == least)[: n - len(above)]])
        order = chosen[np.lexsort((chosen, -numbers[chosen]))]
        return [(self._pretokens[i], int(numbers[i])) for i in order.tolist()]

    def report(self, top: int = 20) -> WordsReport:
        """Return total, distinct, singletons and the most frequent pretokens."""
        return WordsReport(
            total=self.total,
            distinct=len(self),
            singletons=self.n_singletons,
            distinct_bytes=self._pretokens.n_bytes,
            suggested_vocabulary=256 + len(self),
            top=self.most_common(top),
        )

    def digest(self) -> str:
        """Return a digest (64 hexadecimal digits) of pretokens, counts, first places, pattern."""
        mine = self._pretokens
        found = hashlib.sha256(repr((self.pattern, len(self), mine.firsts is None)).encode())
        for array in (mine.ends, mine.numbers, mine.firsts_or_zeros(), mine.text[: mine.n_bytes]):
            found.update(np.ascontiguousarray(array).data)
        return found.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        return len(self) == len(other) and self.digest() == other.digest()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<PretokenCounts: {len(self):,} distinct pretokens, {self.total:,} in all>"


def _to_word(word: object) -> bytes:
    if isinstance(word, str):
        return word.encode()
    if isinstance(word, bytes):
        return word
    raise InvalidType(
        f"{word!r:.60} ({type(word).__name__}) is no pretoken; bytes or str is needed"
    )


def _one_pattern(first: str | None, second: str | None) -> str | None:
    if first is not None and second is not None and first != second:
        raise InvalidValue(
            f"counts of pattern {first!r} do not go together with pattern {second!r}; "
            "count all parts with one pattern"
        )
    return second if first is None else first


def _check_total(total: int) -> None:
    if total > MAX_TOTAL:
        raise TrainingError(f"the counts add up to {total:,}, more than 2^62; divide the counts")
