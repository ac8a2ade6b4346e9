"""Threads that encode the parts of a text in turn and place their ids in order, without a lock.

A thread takes the next part, encodes it to work space that stays in its cache, and copies the ids
behind those of the part before. So each page of the result is touched once, by whichever thread is
there first. If the part before is not placed yet the ids are put aside, and the thread waits only
when it has encoded one more part.
"""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel
from numbatok.addresses import call_at, call_with_nine, view_i64, view_u32
from numbatok.atomic import add_shared, fence, load_shared, store_shared
from numbatok.kernels.encode import open_state
from numbatok.kernels.stream import stream_ids
from numbatok.tables import (
    AFTER_FROM,
    AT_BYTE,
    AT_DOCUMENT,
    AT_ID,
    DONE,
    FLOW_ROW,
    FLOW_WITHIN,
    I64,
    LIMIT,
    N_TICKETS,
    N_WORKER,
    NEXT_ADDED,
    NEXT_ADDED_TOKEN,
    NO_ROOM,
    PAUSED,
    SEARCH_FROM,
    TICKET_ENCODED,
    TICKET_IDS,
    TICKET_NEXT,
    TICKET_PLACED,
    TICKET_STOP,
    WORKER_AFTER_FROM,
    WORKER_ASIDE,
    WORKER_ASIDE_IDS,
    WORKER_ASIDE_WORK,
    WORKER_BUDGET,
    WORKER_CAPACITY,
    WORKER_ENCODE,
    WORKER_ENDS,
    WORKER_IDS,
    WORKER_N_DOCUMENTS,
    WORKER_N_PARTS,
    WORKER_NEEDED,
    WORKER_OFFSETS,
    WORKER_PART,
    WORKER_PARTS,
    WORKER_ROOM,
    WORKER_SIZE,
    WORKER_STATE,
    WORKER_TEXT,
    WORKER_TICKETS,
    WORKER_WORK,
    WORKER_YIELD,
)

NO_LIMIT = 1 << 62
SPINS = 200  # looks at the part before between two offers of the core to others: some 10 us


@entry
def encode_parts(worker_address: int) -> int:
    """Encode and place parts until none is left (DONE) or some thread needs the caller.

    Why as in `encode_documents`, of the part in WORKER_PART; NO_ROOM: for the ids of a part that is
    encoded; PAUSED: because another thread came back, or after about a budget of bytes. The caller
    sees to it, clears TICKET_STOP and calls again for all threads that are not done.
    """
    worker = view_i64(worker_address, N_WORKER)
    tickets = view_i64(worker[WORKER_TICKETS], N_TICKETS)
    why = i64(DONE)
    while why == DONE:
        if worker[WORKER_PART] < 0:
            if load_shared(tickets, i64(TICKET_STOP)) != 0:
                return i64(PAUSED)
            take_part(worker, tickets)
        if worker[WORKER_PART] >= worker[WORKER_N_PARTS]:
            why = place_aside(worker, tickets)
            if why == DONE:
                return why
            break
        why = encode_part(worker)
        if why == DONE:
            why = place_aside(worker, tickets)
        if why == DONE:
            why = place_or_put_aside(worker, tickets)
        if why == DONE:
            worker[WORKER_PART] = -1
    store_shared(tickets, i64(TICKET_STOP), i64(1))
    return why


@kernel
def take_part(worker: I64, tickets: I64) -> None:
    """Take the next part, and point the thread state at its first byte."""
    part = add_shared(tickets, i64(TICKET_NEXT), i64(1))
    worker[WORKER_PART] = part
    if part >= worker[WORKER_N_PARTS]:
        return
    parts = view_i64(worker[WORKER_PARTS], worker[WORKER_N_PARTS] + 1)
    ends = view_i64(worker[WORKER_ENDS], worker[WORKER_N_DOCUMENTS])
    state = open_state(worker[WORKER_STATE])
    control, flow, first = state.control, state.scan.flow, parts[part]
    start = i64(0) if first == 0 else ends[first - 1]
    control[AT_DOCUMENT], control[AT_BYTE], control[AT_ID] = first, start, 0
    control[NEXT_ADDED], control[NEXT_ADDED_TOKEN], control[SEARCH_FROM] = -1, -1, start
    control[AFTER_FROM], control[LIMIT] = worker[WORKER_AFTER_FROM], NO_LIMIT
    flow[FLOW_ROW], flow[FLOW_WITHIN] = 0, 0


@kernel
def encode_part(worker: I64) -> int:
    """Encode what is left of the part at hand to work space; return why no further."""
    parts = view_i64(worker[WORKER_PARTS], worker[WORKER_N_PARTS] + 1)
    return call_with_nine(
        worker[WORKER_ENCODE], worker[WORKER_STATE], worker[WORKER_TEXT], worker[WORKER_SIZE],
        worker[WORKER_ENDS], parts[worker[WORKER_PART] + 1],
        worker[WORKER_WORK], worker[WORKER_CAPACITY], worker[WORKER_OFFSETS],
        worker[WORKER_BUDGET],
    )  # fmt: skip


@kernel
def place_or_put_aside(worker: I64, tickets: I64) -> int:
    """Place the part at hand if the one before it is placed, else put it aside."""
    part = worker[WORKER_PART]
    n_ids = open_state(worker[WORKER_STATE]).control[AT_ID]
    if load_shared(tickets, i64(TICKET_PLACED)) == part:
        return place(worker, tickets, part, n_ids, worker[WORKER_WORK])
    worker[WORKER_ASIDE], worker[WORKER_ASIDE_IDS] = part, n_ids
    work, other = worker[WORKER_WORK], worker[WORKER_ASIDE_WORK]
    worker[WORKER_WORK], worker[WORKER_ASIDE_WORK] = other, work
    return i64(DONE)


@kernel
def place_aside(worker: I64, tickets: I64) -> int:
    """Place the part that was put aside, if one was, once the one before it is placed."""
    part, spins = worker[WORKER_ASIDE], i64(0)
    if part < 0:
        return i64(DONE)
    while load_shared(tickets, i64(TICKET_PLACED)) != part:
        if load_shared(tickets, i64(TICKET_STOP)) != 0:
            return i64(PAUSED)
        spins += 1
        if spins % SPINS == 0 and worker[WORKER_YIELD] != 0:
            call_at(worker[WORKER_YIELD], 0, 0, 0, 0)
    why = place(worker, tickets, part, worker[WORKER_ASIDE_IDS], worker[WORKER_ASIDE_WORK])
    if why == DONE:
        worker[WORKER_ASIDE] = -1
    return why


@kernel
def place(worker: I64, tickets: I64, part: int, n_ids: int, work: int) -> int:
    """Copy the ids of a part from work space behind those of the part before, which are placed."""
    at = tickets[TICKET_IDS]
    if work != 0:
        if at + n_ids > worker[WORKER_ROOM]:
            worker[WORKER_NEEDED] = at + n_ids
            return i64(NO_ROOM)
        stream_ids(view_u32(work, n_ids), n_ids, worker[WORKER_IDS] + 4 * at)
        fence()
    parts = view_i64(worker[WORKER_PARTS], worker[WORKER_N_PARTS] + 1)
    offsets = view_i64(worker[WORKER_OFFSETS], worker[WORKER_N_DOCUMENTS] + 1)
    for document in range(parts[part] + 1, parts[part + 1] + 1):
        offsets[document] += at
    ends = view_i64(worker[WORKER_ENDS], worker[WORKER_N_DOCUMENTS])
    done = ends[parts[part + 1] - 1]
    tickets[TICKET_IDS] = at + n_ids
    pause = done - tickets[TICKET_ENCODED] >= worker[WORKER_BUDGET]
    if pause:
        tickets[TICKET_ENCODED] = done
    store_shared(tickets, i64(TICKET_PLACED), part + 1)
    if pause:
        store_shared(tickets, i64(TICKET_STOP), i64(1))
    return i64(DONE)
