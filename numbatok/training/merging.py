"""Merger: distinct pretokens with counts -> merges, a slice of work at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from numbatok.kernels.train_tables import (
    ALLOWED,
    ANSWER,
    ASK,
    AT_CELL,
    BOUNDARY,
    BY_PLACE,
    EMPTY,
    FIRST_SYMBOL,
    HEAP_SIZE,
    IS_SHORT,
    MAX_BYTES,
    N_SYMBOLS,
    N_TOKENS,
    N_WITHIN,
    RECOUNT,
    THRESHOLD,
    USED_PAIRS,
    VETOED,
)
from numbatok.memory import addresses_of
from numbatok.native import function
from numbatok.scratch import ThreadState
from numbatok.tables import DONE, MARGIN, PAUSED, U32, Tables
from numbatok.training.growth import (
    BLOCK_SHIFT,
    chosen_order,
    count_cells,
    keys_of,
    make_growth,
    make_pairs,
    put_key,
)
from numbatok.training.pretokens import Pretokens

CELLS_A_CALL = 1 << 23  # 20 to 50 ms
CELLS_TO_MERGE = 1 << 20  # 50 ms
WORK_A_CALL = 1 << 20  # occurrences: 20 to 80 ms
PRETOKENS_A_CALL = 1 << 20
WANTED_PAIRS = 1 << 14  # above the threshold after a recount: fewer recounts, or smaller tables

Decide = Callable[[bytes, bytes], bool]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Rules:
    """What decides which pair is merged next.

    by_place   between equally frequent pairs: the first occurrence, else the smaller pair
    decide     asked about a pair whose product has one of the lengths in `asked`, or any length if
               that is None; False forbids the merge for good
    """

    by_place: bool = False
    min_frequency: int = 0
    max_token_bytes: int | None = None
    asked: Collection[int] | None = ()
    decide: Decide | None = None


@dataclass(frozen=True)
class Start:
    """Where merging starts: symbols by number, the 256 bytes among them.

    `tables` merge the pretokens first, if there are; symbol_of is the number of each id. Pairs in
    `vetoed` are never merged.
    """

    symbols: Sequence[bytes]
    tables: Tables | None = None
    symbol_of: U32 = field(default_factory=lambda: np.zeros(0, np.uint32))
    whole: bool = False  # a pretoken that is a token is that token
    vetoed: Collection[Pair] = ()


class Merger:
    """Learns up to n_merges merges from pretokens. Not safe for two threads at once.

    Errors: TrainingError for a corpus past the limits of `growth`.
    """

    def __init__(
        self, pretokens: Pretokens, n_merges: int, start: Start, rules: Rules | None = None
    ) -> None:
        self._rules = rules or Rules()
        order = chosen_order(pretokens, self._rules.by_place)
        shift = 0 if self._rules.by_place else BLOCK_SHIFT
        n_first, longest = len(start.symbols), max(int(pretokens.lengths.max(initial=1)), 2)
        self._growth = make_growth(
            count_cells(pretokens, order, shift), n_first + n_merges, n_first, shift, longest
        )
        self.symbols = list(start.symbols)
        self.vetoed = list(start.vetoed)
        self.is_exhausted = False  # no pair is left that may be merged
        self._obey(self._rules)
        self._connect()
        self._lay_out(pretokens, order)
        if start.tables is not None:
            self._merge_corpus(start, start.tables, longest)

    def _obey(self, rules: Rules) -> None:
        growth = self._growth
        self._floor = max(1, rules.min_frequency)
        growth.control[BY_PLACE] = rules.by_place
        if rules.max_token_bytes is not None:
            growth.control[MAX_BYTES] = rules.max_token_bytes
        if rules.asked is None:
            growth.asks[:] = 1
        else:
            growth.asks[[length for length in rules.asked if length < growth.asks.size]] = 1
        lengths = np.fromiter(map(len, self.symbols), np.uint32, len(self.symbols))
        growth.corpus.lengths[: len(lengths)] = lengths
        self._growth = growth._replace(vetoed=keys_of(self.vetoed))

    def _connect(self) -> None:
        self._addresses = addresses_of(self._growth)
        self._address = self._addresses.ctypes.data

    # --- the corpus -------------------------------------------------------------------------------

    def _lay_out(self, pretokens: Pretokens, order: NDArray[np.int64]) -> None:
        control, cells = self._growth.control, self._growth.corpus.cells
        symbols = np.zeros(256, np.uint32)
        symbols[self._spelled()[0]] = self._spelled()[1]
        cells[0], control[AT_CELL] = BOUNDARY, 1
        for start in range(0, len(order), PRETOKENS_A_CALL):
            function("lay_out")(
                self._address, pretokens.text.ctypes.data, pretokens.ends.ctypes.data,
                pretokens.numbers.ctypes.data, len(pretokens), order.ctypes.data,
                start, min(len(order), start + PRETOKENS_A_CALL), symbols.ctypes.data,
            )  # fmt: skip
        self._n_cells = int(control[AT_CELL])
        cells[self._n_cells :] = BOUNDARY

    def _spelled(self) -> tuple[list[int], list[int]]:
        """Return the 256 bytes and the number of each."""
        found = [(token[0], number) for number, token in enumerate(self.symbols) if len(token) == 1]
        return [byte for byte, _ in found], [number for _, number in found]

    def _merge_corpus(self, start: Start, tables: Tables, longest: int) -> None:
        """Merge the pretokens as the tables do."""
        state = ThreadState(tables, longest=longest)
        spelled = np.zeros(self._growth.corpus.lengths.size, np.uint8)
        spelled[self._spelled()[1]] = self._spelled()[0]
        buffer, at = np.zeros(longest + MARGIN, np.uint8), 0
        while at < self._n_cells:
            at = function("merge_corpus")(
                self._address, state.address, at, min(at + CELLS_TO_MERGE, self._n_cells),
                spelled.ctypes.data, buffer.ctypes.data, longest,
                start.symbol_of.ctypes.data, int(start.whole),
            )  # fmt: skip

    # --- merges -----------------------------------------------------------------------------------

    @property
    def n_merges(self) -> int:
        """How many merges are learned."""
        return int(self._growth.control[N_SYMBOLS] - self._growth.control[FIRST_SYMBOL])

    @property
    def last_count(self) -> int:
        """How often the pair of the last merge occurred; 0 before the first."""
        return int(self._growth.merge_counts[self.n_merges - 1]) if self.n_merges else 0

    def counts(self) -> list[int]:
        """Return how often the pair of each merge occurred."""
        found: list[int] = self._growth.merge_counts[: self.n_merges].tolist()
        return found

    def pairs(self) -> list[Pair]:
        """Return the merges so far as pairs of symbols."""
        return self._pairs_from(0)

    def merges(self) -> list[tuple[bytes, bytes]]:
        """Return the merges so far as pairs of bytes."""
        self._name()
        return [(self.symbols[left], self.symbols[right]) for left, right in self.pairs()]

    def _pairs_from(self, first: int) -> list[Pair]:
        flat = self._growth.merges[2 * first : 2 * self.n_merges].tolist()
        return list(zip(flat[::2], flat[1::2], strict=True))

    def _name(self) -> None:
        """Bring `symbols` up to date."""
        n_named = len(self.symbols) - int(self._growth.control[FIRST_SYMBOL])
        for left, right in self._pairs_from(n_named):
            self.symbols.append(self.symbols[left] + self.symbols[right])

    def run(self) -> Iterator[int]:
        """Learn all merges; yields the number of merges so far between slices of work."""
        grow, control = function("grow"), self._growth.control
        while True:
            why = grow(self._address, WORK_A_CALL)
            if why == DONE:
                return
            if why == RECOUNT:
                yield from self._recount()
                if self.is_exhausted:
                    return
            elif why == ASK:
                control[ANSWER] = ALLOWED if self._is_allowed() else VETOED
            elif why != PAUSED:
                raise RuntimeError(f"the merge loop failed with status {why}; please report this")
            yield self.n_merges

    def _is_allowed(self) -> bool:
        """Ask about the pair on top of the heap; remember a veto."""
        growth = self._growth
        key = int(growth.pairs.keys[int(growth.pairs.heap[2])])
        left, right = key >> 32, key & 0xFFFFFFFF
        self._name()
        assert self._rules.decide is not None
        if self._rules.decide(self.symbols[left], self.symbols[right]):
            return True
        self.vetoed.append((left, right))
        if 2 * len(self.vetoed) > growth.vetoed.size:
            self._growth = growth._replace(vetoed=keys_of(self.vetoed))
            self._connect()
        else:
            put_key(growth.vetoed, key)
        return False

    def n_tokens(self) -> int:
        """Return how many tokens the merges make of all the text, repetitions included.

        Pretokens of one byte are not counted: they are not in the corpus.
        """
        self._growth.control[N_TOKENS] = 0
        for _ in self._pass("count_symbols"):
            pass
        return int(self._growth.control[N_TOKENS])

    # --- recount ----------------------------------------------------------------------------------

    def _recount(self) -> Iterator[int]:
        """Count the pairs anew, with a threshold that about WANTED_PAIRS reach."""
        control = self._growth.control
        self._growth.sketch[:] = 0
        yield from self._pass("sketch_pairs")
        threshold = function("choose_threshold")(self._address, WANTED_PAIRS)
        self._provide(2 * int(control[N_WITHIN]))
        while True:
            control[THRESHOLD] = max(self._floor, threshold)
            yield from self._count()
            if function("place_lists")(self._address) > 0:
                break
            if control[THRESHOLD] == self._floor:
                self.is_exhausted = True
                return
            threshold = int(control[THRESHOLD]) * 3 // 4  # of 1 the floor
        yield from self._pass("list_pairs")
        function("fill_heap")(self._address)
        control[IS_SHORT] = 0

    def _count(self) -> Iterator[int]:
        """Count the pairs that may reach the threshold, in a table that is large enough."""
        while True:
            self._growth.pairs.keys[:] = EMPTY
            self._growth.control[USED_PAIRS] = self._growth.control[HEAP_SIZE] = 0
            done = yield from self._pass("count_pairs")
            if done:
                return
            self._provide(self._growth.pairs.keys.size)

    def _provide(self, n_pairs: int) -> None:
        """Provide room for so many pairs."""
        pairs = self._growth.pairs
        if 2 * n_pairs > pairs.keys.size:
            n_slots = 1 << (2 * n_pairs - 1).bit_length()
            larger = make_pairs(n_slots, 0)._replace(places=pairs.places)
            self._growth = self._growth._replace(pairs=larger)
            self._connect()

    def _pass(self, name: str) -> Generator[int, None, bool]:
        """Call a kernel over all cells, in slices; return False if it found no room."""
        call, at = function(name), 0
        while at < self._n_cells:
            at = call(self._address, at, min(at + CELLS_A_CALL, self._n_cells))
            if at < 0:
                return False
            yield self.n_merges
        return True
