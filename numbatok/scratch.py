"""What one thread needs to encode: work space, a memo, and the addresses of all tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from numbatok.memo import (
    FIRST_MEMO,
    MemoSizes,
    full_tables,
    grown,
    is_spilled_full,
    largest_memo,
    make_memo,
    memo_sizes,
    resized,
)
from numbatok.memory import addresses_of, aligned_zeros
from numbatok.native import address, function
from numbatok.tables import (
    ENDS_DROPPED,
    EPOCH,
    FORESEEN_TO,
    I64,
    LANE_ROW,
    LANE_SYMBOLS,
    MARGIN,
    N_CONTROL,
    N_FLOW,
    N_LANES,
    OVERLAP,
    SEGMENT_SLOT,
    STRIDE,
    U8,
    U32,
    Automaton,
    Batch,
    Lanes,
    RankLists,
    Scan,
    Segments,
    State,
    Tables,
    Walk,
    Work,
)

if TYPE_CHECKING:
    from numbatok.pattern import Pattern

N_SEGMENTS, SEGMENTS_TEXT, SEGMENTS_IDS = 1 << 11, 1 << 23, 1 << 22  # 8 MB of text, 16 of ids
PART_BYTES = 1 << 18  # bytes whose ids, some 250 KB, are written to memory that stays in the cache
SEGMENT = 8192  # bytes of a window; 4 K to 16 K are equally fast
MOSTLY = 0.75  # of the bytes are beyond ASCII: Chinese, Japanese


class ThreadState:
    """Work space of one thread. Not safe for two threads at once; Tokenizer hands them out."""

    def __init__(self, tables: Tables, pattern: Pattern | None = None, longest: int = 0) -> None:
        self.tables = tables
        self.control: I64 = np.zeros(N_CONTROL, np.int64)
        entries = (pattern.scan, pattern.pretoken_end) if pattern else ()
        self.functions: I64 = np.array([address(name) for name in entries] or [0, 0], np.int64)
        self.parameters: I64 = np.array(pattern.parameters if pattern else [], np.int64)
        self.kinds: U8 = aligned_zeros(64, np.uint8)
        self.policy: object = None  # what `actions` and `ill_formed` follow
        self.actions: U8 = np.zeros(0, np.uint8)
        self.ill_formed: U8 = tables.classes.ill_formed
        n = SEGMENT + 2 * 64  # the scan and the keys write whole vectors
        self.starts, self.batch, self.lanes = (
            aligned_zeros(n, np.uint32),
            make_batch(n),
            make_lanes(),
        )
        self.window = aligned_zeros(SEGMENT + 2 * MARGIN, np.uint8)[: SEGMENT + MARGIN]
        self.flow: I64 = np.zeros(N_FLOW, np.int64)
        self.walk = make_walk(tables.automaton)
        self.dropped: U8 = np.zeros(n if drops(tables.automaton) else 0, np.uint8)
        self.work = make_work(max(SEGMENT, longest), tables.merges.ids.size)
        self.memo, self.largest_memo = make_memo(FIRST_MEMO), largest_memo()
        self.segments = make_segments(tables.automaton)
        self.part_ids: U32 = np.empty(PART_BYTES + 4 * SEGMENT, np.uint32)
        self.connect()

    def connect(self) -> None:
        """Write the addresses of all arrays down again, after one was replaced."""
        tables = self.tables
        classes = tables.classes._replace(ill_formed=self.ill_formed)
        wide = tables.automaton.classes._replace(ill_formed=self.ill_formed)
        automaton = tables.automaton._replace(classes=wide)
        scan = Scan(
            self.window, self.starts, classes, self.parameters, self.kinds, automaton, self.walk,
            self.dropped, self.flow,
        )  # fmt: skip
        state = State(
            scan=scan, functions=self.functions, merges=tables.merges, words=tables.words,
            long_words=tables.long_words, long_word_bytes=tables.long_word_bytes,
            added=tables.added, actions=self.actions, memo=self.memo, batch=self.batch,
            lanes=self.lanes, work=self.work, segments=self.segments, control=self.control,
        )  # fmt: skip
        addresses = addresses_of(state)
        address = addresses.ctypes.data
        self._state, self.addresses, self.address = state, addresses, address

    def follow(self, policy: object, actions: U8, ill_formed: U8) -> None:
        """Use the actions on added tokens and the classes of ill-formed bytes of a policy."""
        self.policy, self.actions, self.ill_formed = policy, actions, ill_formed
        self._forget_segments()
        self.connect()

    def foresee(self, length: int) -> None:
        """Provide for the outlooks of an automaton on a text of `length` bytes."""
        if self.walk.columns.size:
            outlooks = np.zeros(length // STRIDE + 3, np.uint32)
            self.walk = self.walk._replace(outlooks=outlooks)
            self.flow[FORESEEN_TO] = 0  # none is known
            self.connect()

    def dropped_giant(self) -> bool:
        """Tell whether the pretoken of which the end was just looked for is dropped."""
        return bool(self.dropped.size and self.dropped[0])

    def grow_memo(self) -> None:
        """Make larger what is nearly full of the memo, or at the limit empty it all."""
        sizes, largest = memo_sizes(self.memo), self.largest_memo
        full = full_tables(self.memo, SEGMENT // 4) or full_tables(self.memo, SEGMENT)
        larger = {name: grown(getattr(sizes, name), getattr(largest, name)) for name in full}
        at_limit = any(size == getattr(sizes, name) for name, size in larger.items())
        if at_limit or is_spilled_full(self.memo, SEGMENT):
            self.memo = make_memo(sizes)
            self.connect()
        else:
            self._move_memo(sizes._replace(**larger))

    def expect(self, text: U8, n_bytes: int) -> None:
        """Have a memo for what is new in so many bytes of a text, to move what is known once.

        Of English and of code 3.45 n ** 0.62 pretokens are distinct, of which the words hold some;
        of other scripts, of which they hold few, three times as many. Of longer ones there are a
        hundred times fewer, in Chinese nearly as many.
        """
        sizes, least = memo_sizes(self.memo), 3.4 * n_bytes**0.62
        if 3 * least <= sizes.entries:
            return
        foreign = _beyond_ascii(text)
        wanted = int(least * (1 + min(8 * foreign, 2)))
        if wanted > sizes.entries:
            entries = min(1 << wanted.bit_length(), self.largest_memo.entries)
            if entries > sizes.entries:
                long = entries // (2 if foreign > MOSTLY else 8)
                long = min(long, self.largest_memo.long)
                self._move_memo(MemoSizes(entries, max(long, sizes.long)))

    def _move_memo(self, sizes: MemoSizes) -> None:
        old, self.memo = self.memo, resized(self.memo, sizes)
        source, target = addresses_of(old), addresses_of(self.memo)
        function("move_memo")(source.ctypes.data, target.ctypes.data)
        self.connect()

    def _forget_segments(self) -> None:
        """Let the stretches go: what they are depends on the policy."""
        self.segments.used[:EPOCH] = 0
        self.segments.used[EPOCH] += 1

    def forget(self) -> None:
        """Empty the memo; a grown one is given back."""
        self._forget_segments()
        if memo_sizes(self.memo) == FIRST_MEMO:
            for array in (self.memo.entries.slots, self.memo.long_slots, self.memo.used):
                array[:] = 0
        else:
            self.memo = make_memo(FIRST_MEMO)
            self.connect()

    def use_work(self, length: int) -> None:
        """Provide work space for one pretoken of `length` bytes."""
        self.work = make_work(max(length, SEGMENT), self.tables.merges.ids.size)
        self.connect()


def _beyond_ascii(text: U8) -> float:
    """Return which share of the bytes of a text are not ASCII, by a thousand of them."""
    sample = text[:: text.size // 1024 + 1]
    return float(np.count_nonzero(sample & 0x80)) / max(sample.size, 1)


def make_walk(automaton: Automaton) -> Walk:
    """Make work space for an automaton, none for the empty one."""
    n = SEGMENT + MARGIN if automaton.back.size else 0
    return Walk(
        aligned_zeros(n, np.uint16), aligned_zeros(n, np.uint16), aligned_zeros(n, np.uint8),
        np.zeros(0, np.uint32),
    )  # fmt: skip


def drops(automaton: Automaton) -> bool:
    """Tell whether an automaton ever drops a pretoken."""
    return bool((automaton.ends & ENDS_DROPPED).any())


def make_segments(automaton: Automaton) -> Segments:
    """Make room for stretches of text; none for an automaton, which knows more than the text."""
    n = 0 if automaton.back.size else 1
    return Segments(
        aligned_zeros(n * SEGMENT_SLOT * N_SEGMENTS, np.uint64),
        aligned_zeros(n * 4 * N_SEGMENTS, np.uint64),
        aligned_zeros(n * SEGMENTS_TEXT, np.uint8), aligned_zeros(n * SEGMENTS_IDS, np.uint32),
        np.array([0, 0, 1], np.int64),
    )  # fmt: skip


def make_batch(n: int) -> Batch:
    """Make work space for n pretokens."""
    return Batch(
        key_low=aligned_zeros(n, np.uint64), key_high=aligned_zeros(n, np.uint64),
        buckets=aligned_zeros(n, np.int64), ids=aligned_zeros(2 * n, np.uint64),
        missed=aligned_zeros(n, np.uint32), entries=aligned_zeros(n, np.int64),
        new=aligned_zeros(n, np.uint32), new_entries=aligned_zeros(n, np.int64),
        breaks=aligned_zeros(2 * n, np.int64),
    )  # fmt: skip


def make_lanes() -> Lanes:
    """Make work space for pretokens merged side by side."""
    return Lanes(
        symbols=aligned_zeros(N_LANES * LANE_ROW, np.uint32),
        ranks=aligned_zeros(N_LANES * LANE_ROW, np.uint32),
        alive=aligned_zeros(N_LANES, np.uint64),
        items=aligned_zeros(N_LANES, np.int64),
        widths=aligned_zeros(N_LANES, np.int64),
        positions=aligned_zeros(N_LANES * 2, np.int64),
        pairs=aligned_zeros(N_LANES * 2, np.uint64),
        order=np.arange(N_LANES, dtype=np.int64),
        likely=aligned_zeros(N_LANES * LANE_SYMBOLS, np.uint32),
    )


def make_work(length: int, n_ranks: int) -> Work:
    """Make work space to merge one pretoken of up to `length` bytes; pages are taken when used."""
    lists = RankLists(
        np.zeros(n_ranks // 64 + 1, np.uint64), np.zeros(n_ranks, np.uint32),
        np.zeros(n_ranks, np.uint32), np.zeros(3 * length + 1, np.uint64),
        aligned_zeros(4 * length, np.uint32), np.zeros(length // 64 + 1, np.uint64),
    )  # fmt: skip
    return Work(
        np.zeros(length + 64, np.uint32), aligned_zeros(64, np.uint32),
        np.zeros(length + 1, np.uint32), np.zeros(length + 1, np.uint32),
        np.zeros(2 * length + OVERLAP, np.uint64), lists,
    )  # fmt: skip
