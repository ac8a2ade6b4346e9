"""Encode bytes with the kernels: hand out thread states, call, provide what runs short."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from numbatok.memory import address_of
from numbatok.native import function
from numbatok.pattern import Pattern
from numbatok.policy import Policy, Refusal
from numbatok.preparation import Preparation
from numbatok.result import Ids
from numbatok.scratch import PART_BYTES, SEGMENT, ThreadState, drops
from numbatok.small_calls import SMALL_TEXT, SmallCalls
from numbatok.tables import (
    AT_BYTE,
    AT_DOCUMENT,
    AT_ID,
    DONE,
    FLOW_GOES_ON,
    LIMIT,
    LIMIT_PASSED,
    MARGIN,
    MEMO_FULL,
    NEXT_ADDED,
    NEXT_ADDED_TOKEN,
    PAUSED,
    REFUSED,
    U8,
    U32,
    WINDOW_SHORT,
    Tables,
)

BUDGET = 4 << 20  # bytes between two chances to stop: 100 ms at 40 MB/s, the slowest text
NO_LIMIT = 1 << 62
LAST_WINDOW = 3 * SEGMENT  # ids over a budget: an id a byte of a window, and one a document in it
POOLED_STATES = 64  # more threads than this make their work space anew


class Encoder:
    """Tables and the work space of the threads that use them."""

    def __init__(self, tables: Tables, pattern: Pattern, preparation: Preparation) -> None:
        self.tables, self.preparation = tables, preparation
        self.pattern = pattern
        self._states = [ThreadState(tables, pattern)]  # 1.2 ms, which no text has to wait for
        self.small_calls = SmallCalls(
            lambda: ThreadState(tables, pattern), preparation.form_addresses()
        )
        self._prepared_calls = SmallCalls(
            lambda: ThreadState(tables, pattern), None if preparation.is_idle() else ()
        )
        self._encode_documents = function("encode_documents")

    def take_state(self, policy: Policy) -> ThreadState:
        """Return a thread state that nobody else uses, set to a policy.

        It is given back only if all went well: a change that Ctrl-C interrupts may leave it with
        addresses of memory that is gone.
        """
        try:
            state = self._states.pop()
        except IndexError:
            state = ThreadState(self.tables, self.pattern)
        if state.policy is not policy:
            state.follow(policy, policy.actions, policy.ill_formed)
        return state

    def give_state(self, state: ThreadState) -> None:
        """Take a thread state back."""
        if len(self._states) < POOLED_STATES:
            self._states.append(state)

    def forget(self) -> None:
        """Empty the memos of all threads that are not encoding now."""
        taken = []  # out of the pool, so that no thread encodes with one meanwhile
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._states.pop())
        for state in taken:
            state.forget()
            self.give_state(state)
        self.small_calls.forget()
        self._prepared_calls.forget()

    def encode_prepared(self, policy: Policy, text: object) -> U32 | None:
        """Return the ids of a short text that is prepared first, or None: the general way.

        A change of policies takes 0.1 ms, so these texts have a thread state of their own.
        """
        if self.preparation.is_idle() or not isinstance(text, (str, bytes)):
            return None
        if len(text) > SMALL_TEXT:
            return None
        try:
            data = text.encode() if isinstance(text, str) else text
        except UnicodeEncodeError:
            return None
        ready = self.preparation.ready(data)
        if ready is None:
            return None
        ids = self._prepared_calls.call(policy, ready)
        return self._prepared_calls.again(policy, ready) if ids is None else ids

    def pretoken_spans(
        self, data: bytes, policy: Policy
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the pretokens of a text start and end, without those that are dropped."""
        marks = self.pretoken_marks(data, policy)
        if not drops(self.tables.automaton):
            return np.append(0, marks[:-1])[: len(marks)], marks
        ends, kept = np.abs(marks), marks > 0
        starts = np.append(0, ends[:-1])[: len(ends)]
        return starts[kept], ends[kept]

    def pretoken_marks(
        self, data: bytes, policy: Policy, room: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Return where the pretokens of a text end; negated for one that is dropped.

        With `room` for one number a byte they are written there, and a part of it is returned.
        """
        ends = np.empty(len(data), np.int64) if room is None else room
        job = Job(np.frombuffer(data, np.uint8), np.array([len(data)], np.int64))
        find_pretokens = function("find_pretokens")
        state = self.take_state(policy)
        job.start(state)
        while True:
            why = find_pretokens(
                state.address, address_of(job.text), len(data), address_of(ends), BUDGET
            )
            if why == DONE:
                break
            if why == WINDOW_SHORT:
                end = state.control[AT_BYTE] = job.giant_end(state)
                ends[state.control[AT_ID]] = -end if state.dropped_giant() else end
                state.control[AT_ID] += 1
        n_ends = int(state.control[AT_ID])
        self.give_state(state)
        if room is None:
            ends.resize(n_ends, refcheck=False)
        return ends[:n_ends]

    def run(
        self,
        text: U8,
        ends: NDArray[np.int64],
        policy: Policy,
        *,
        counting: bool = False,
        limit: int = NO_LIMIT,
        on_progress: Callable[[int], None] | None = None,
        after: NDArray[np.int64] | None = None,
        room: U32 | None = None,
    ) -> Job:
        """Encode documents in this thread; see Job."""
        state = self.take_state(policy)
        job = Job(text, ends, counting, limit, after, room)
        job.start(state)
        while not job.done:
            job.advance(state, self._encode_documents)
            if on_progress is not None:
                on_progress(job.position(state))
        self.give_state(state)
        return job


class Job:
    """Documents on their way to ids.

    Document d is text[ends[d - 1] : ends[d]]. When it is done, `ids` holds n_ids ids, or is None
    if they were only counted, and those of document d end at offsets[d + 1]. `after` says what
    stands after each document: -1 or an id. `room` holds the ids if there is room for all.
    """

    def __init__(
        self,
        text: U8,
        ends: NDArray[np.int64],
        counting: bool = True,
        limit: int = NO_LIMIT,
        after: NDArray[np.int64] | None = None,
        room: U32 | None = None,
    ) -> None:
        self.text, self.ends, self.limit = text, ends, limit
        self.documents = ends if after is None else np.concatenate([ends, after])
        self.after_from = 0 if after is None else len(ends)
        self.offsets = np.zeros(len(ends) + 1, np.int64)
        self.size = text.size
        n_after = 0 if after is None else len(after)
        most = text.size + n_after + LAST_WINDOW
        self.result = None if counting else Ids(text.size, most, room)
        self.n_ids = 0  # so far
        self.done = len(ends) == 0
        self.passed_limit = False
        self.refusal: Refusal | None = None
        self.is_open = False  # the last document goes on after the text
        # by thread state: where a document starts, and its bytes with MARGIN more
        self._padded: dict[ThreadState, tuple[int, U8]] = {}

    @property
    def ids(self) -> U32 | None:
        """The ids so far."""
        if self.result is None:
            return None
        array = self.result.array
        return array if array.size == self.n_ids else array[: self.n_ids]

    def start(self, state: ThreadState) -> None:
        """Point a thread state at the first byte."""
        state.control[AT_DOCUMENT : LIMIT + 1] = (
            *(0, 0, 0, -1, 0, -1, 0),
            self.after_from,
            self.limit,
        )
        state.flow[:] = 0
        state.expect(self.text, self.size)

    def position(self, state: ThreadState) -> int:
        """Return how many bytes are encoded."""
        return self.size if self.done else int(state.control[AT_BYTE])

    def advance(self, state: ThreadState, encode_documents: Callable[..., int]) -> None:
        """Encode as much as there is room for, or BUDGET bytes if they are only counted."""
        is_part = self.result is not None and self._sure_room() <= PART_BYTES
        ids_address, capacity, budget = self._part(state) if is_part else self._rest()
        # what stands after documents takes ids without bytes
        state.control[LIMIT] = min(self.limit, self.n_ids + budget)
        why = encode_documents(
            state.address, address_of(self.text), self.size, address_of(self.documents),
            len(self.ends), ids_address, capacity, address_of(self.offsets), budget,
        )  # fmt: skip
        self._place(state, is_part)
        self.passed_limit = why == LIMIT_PASSED and self.n_ids > self.limit
        if why == DONE or self.passed_limit:
            self.done = True
            if self.result is not None:
                self.result.finish(self.n_ids)
        elif why == REFUSED:
            self.refuse(self.refusal_at(state))
        else:
            self.provide(why, state, self._room)
            self.n_ids = int(state.control[AT_ID])

    def _sure_room(self) -> int:
        """Return for how many bytes the result has room whatever their ids are."""
        assert self.result is not None
        return self.result.array.size - self.n_ids - LAST_WINDOW

    def _part(self, state: ThreadState) -> tuple[int, int, int]:
        """Return where the ids of a part go, in how much room, and how many bytes it has."""
        return address_of(state.part_ids) - 4 * self.n_ids, state.part_ids.size, PART_BYTES

    def _rest(self) -> tuple[int, int, int]:
        """Return where ids go that need no part: to the result, or nowhere if they are counted."""
        if self.result is None:
            return 0, 0, BUDGET
        array = self.result.array
        return address_of(array), array.size, min(self._sure_room(), BUDGET)

    def _place(self, state: ThreadState, is_part: bool) -> None:
        """Move the ids of a part to the result."""
        n_ids = int(state.control[AT_ID])
        if self.result is not None and is_part and n_ids > self.n_ids:
            new = state.part_ids[: n_ids - self.n_ids]
            self.result.append(new, self.n_ids, int(state.control[AT_BYTE]))
        self.n_ids = n_ids

    def _room(self, n_ids: int) -> int:
        """Return the address of room for n_ids more; 0 if they are only counted."""
        if self.result is None:
            return 0
        self.result.make_room(self.n_ids + n_ids, self.n_ids + n_ids, self.size)
        return address_of(self.result.array) + 4 * self.n_ids

    def provide(self, why: int, state: ThreadState, room: Callable[[int], int]) -> None:
        """Provide what a kernel came back for; `room` gives the address of room for more ids."""
        if why == MEMO_FULL:
            state.grow_memo()
        elif why == WINDOW_SHORT:
            self._encode_giant(state, room)
        elif why not in (PAUSED, LIMIT_PASSED):
            raise RuntimeError(f"a kernel failed with status {why}; please report this text")

    def refusal_at(self, state: ThreadState) -> Refusal:
        """Return the added token at which a kernel stopped."""
        control = state.control
        first, _ = self._bounds(int(control[AT_DOCUMENT]))
        position = int(control[NEXT_ADDED]) - first
        return Refusal(int(control[NEXT_ADDED_TOKEN]), int(control[AT_DOCUMENT]), position)

    def refuse(self, refusal: Refusal) -> None:
        """Stop at an added token."""
        self.refusal, self.done = refusal, True

    def giant_end(self, state: ThreadState) -> int:
        """Return where the one pretoken at AT_BYTE, which is longer than a window, ends."""
        first, end = self._bounds(int(state.control[AT_DOCUMENT]))
        text_address = self._padded_address(state, first, end)
        state.flow[FLOW_GOES_ON] = self.is_open
        pos = int(state.control[AT_BYTE])
        return function("giant_end")(state.address, text_address, first, pos, end)

    def _bounds(self, document: int) -> tuple[int, int]:
        return int(self.ends[document - 1]) if document else 0, int(self.ends[document])

    def _padded_address(self, state: ThreadState, first: int, end: int) -> int:
        """Return the address of the text, of which text[first:end] has MARGIN bytes after it."""
        known, padded = self._padded.get(state, (-1, self.text))
        if known != first:
            padded = np.concatenate([self.text[first:end], np.full(MARGIN, ord(" "), np.uint8)])
            self._padded[state] = first, padded
            state.foresee(end - first)
        return address_of(padded) - first

    def _encode_giant(self, state: ThreadState, room: Callable[[int], int]) -> None:
        control, stop = state.control, self.giant_end(state)
        pos, at = int(control[AT_BYTE]), int(control[AT_ID])
        if state.dropped_giant():
            control[AT_BYTE] = stop
            return
        first, end = self._bounds(int(control[AT_DOCUMENT]))
        address = self._padded_address(state, first, end) + pos
        ids_address = room(stop - pos)
        n_ids = function("merge_giant")(state.address, address, stop - pos, ids_address)
        if n_ids < 0:
            state.use_work(stop - pos)
            n_ids = function("merge_whole")(state.address, address, stop - pos, ids_address)
            state.use_work(0)
        control[AT_BYTE], control[AT_ID] = stop, at + n_ids
