"""Short texts by one built-in function: see kernels/call.py.

All threads share one thread state, because the call keeps the interpreter's lock. Where objects are
laid out otherwise and where kernels run as plain Python, every call goes the general way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from numbatok.arena import lend_from_arena
from numbatok.built_in import built_in, is_possible, make_frame, serve_calls, write_utf8_to
from numbatok.policy import Policy
from numbatok.scratch import ThreadState
from numbatok.tables import (
    CALL_CHOICE,
    CALL_FORMS,
    CALL_IDS,
    CALL_LONGEST,
    CALL_N_FORMS,
    CALL_POLICY,
    CALL_STATE,
    CALL_WHY,
    I64,
    MEMO_FULL,
    N_FORMS,
    U32,
    UNFIT,
)

SMALL_TEXT = 1 << 15  # bytes that are encoded with the lock held: 0.8 ms at the slowest

Call = Callable[[Policy, Any], "U32 | None"]
T = TypeVar("T")


class SmallCalls:
    """The built-in function of one tokenizer, and the work space that it uses.

    `call(policy, text)` returns the ids of a str or bytes of up to SMALL_TEXT bytes, uint32[n], or
    None; then `again` sets right what can be set right.
    """

    def __init__(self, new_state: Callable[[], ThreadState], forms: Sequence[int] | None) -> None:
        """Serve texts that no form, of which these are the addresses of the classes, may change.

        Without a list every text goes the general way.
        """
        self._new_state = new_state
        self._state: ThreadState | None = None
        self._policy: Policy | None = None
        self._ids = np.zeros(SMALL_TEXT + 16, np.uint32)
        self.call: Call = _nothing
        self._keys: list[None] = []  # whoever takes the one in it may change the state
        self._frame: I64 = make_frame() if is_possible() else np.zeros(0, np.int64)
        if forms is not None and len(forms) <= N_FORMS and self._frame.size:
            self._frame[CALL_IDS], self._frame[CALL_LONGEST] = self._ids.ctypes.data, SMALL_TEXT
            self._frame[CALL_N_FORMS] = len(forms)
            self._utf8 = np.empty(4 * SMALL_TEXT + 64, np.uint8)
            write_utf8_to(self._frame, self._utf8)
            lend_from_arena(self._frame)
            self._frame[CALL_FORMS : CALL_FORMS + len(forms)] = forms
            self.call = built_in("encode_object", self._frame)
            self._keys.append(None)

    def serve(self, owner: object, name: str, general: Callable[..., Any]) -> None:
        """Let calls of a method of the owner's class be built-in ones, where that is possible."""
        if self._frame.size:
            serve_calls(self._frame, owner, name, general)

    def again(self, policy: Policy, text: Any) -> U32 | None:
        """Prepare for a policy, make room in the memo, and return the ids or None."""
        if self._policy is policy and self._frame[CALL_WHY] == UNFIT:
            return None  # whatever thread it was that could not: the general way is always right
        return self._with_key(lambda: self._prepared(policy, text))

    def _prepared(self, policy: Policy, text: Any) -> U32 | None:
        if self._policy is not policy or self._frame[CALL_POLICY] != id(policy):
            self._change(lambda state: _follow(state, policy), policy)
        ids = self.call(policy, text)
        while ids is None and self._frame[CALL_WHY] == MEMO_FULL:
            self._change(ThreadState.grow_memo, policy)
            ids = self.call(policy, text)
        return ids

    def forget(self) -> None:
        """Empty the memo, unless another thread is changing it."""

        def work() -> None:
            if self._state is not None and self._policy is not None:
                self._change(ThreadState.forget, self._policy)

        self._with_key(work)

    def _with_key(self, work: Callable[[], T]) -> T | None:
        """Do work with the right to change the state, or nothing if another thread has it."""
        taken: list[None] = []
        try:
            with contextlib.suppress(IndexError):
                taken.extend(iter(self._keys.pop, 0))  # in one step: Ctrl-C must not lose the key
            return work() if taken else None
        finally:
            self._keys.extend(taken)

    def _change(self, change: Callable[[ThreadState], None], policy: Policy) -> None:
        """Change the thread state while no call uses it.

        Until the last line calls go the general way. A state whose change was interrupted is gone.
        """
        self._frame[CALL_POLICY] = 0
        state, self._state, self._policy = self._state, None, None
        if state is None:
            state = self._new_state()
            _follow(state, policy)
        change(state)
        self._state, self._policy = state, policy
        self._frame[CALL_STATE] = state.address
        self._frame[CALL_CHOICE] = id(policy.choice) if policy.choice else 0
        self._frame[CALL_POLICY] = id(policy)


def _follow(state: ThreadState, policy: Policy) -> None:
    if state.policy is not policy:
        state.follow(policy, policy.actions, policy.ill_formed)


def _nothing(_policy: Policy, _text: Any) -> None:
    return None
