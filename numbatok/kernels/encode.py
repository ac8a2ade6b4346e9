"""The driver: documents -> windows -> pretokens -> ids, one window at a time."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import call_at, opener, view_i64, view_u8, view_u32
from numbatok.kernels.added import find_added
from numbatok.kernels.long import copy_long, look_up_long
from numbatok.kernels.merge import merge_new
from numbatok.kernels.odd import merge_odd
from numbatok.kernels.segments import (
    SHORTEST,
    copy_segment,
    find_segment,
    hash_segment,
    is_met_again,
    keep_segment,
)
from numbatok.kernels.words import (
    copy_from_memo,
    look_up_missed,
    pack_keys,
    probe_memo,
    probe_words,
)
from numbatok.tables import (
    AFTER_FROM,
    AT_BYTE,
    AT_DOCUMENT,
    AT_ID,
    BREAK_DOCUMENT,
    DONE,
    FLOW_GOES_ON,
    FLOW_OUTLOOK,
    FLOW_ROW,
    FLOW_WITHIN,
    FORESEEN_FROM,
    FORESEEN_TO,
    I64,
    LIMIT,
    LIMIT_PASSED,
    MARGIN,
    MEMO_FULL,
    NEXT_ADDED,
    NEXT_ADDED_END,
    NEXT_ADDED_TOKEN,
    PAUSED,
    REFUSE,
    REFUSED,
    SCAN_WINDOW,
    SEARCH_FROM,
    SEGMENT_TAKEN,
    SPILLED,
    STRIDE,
    U8,
    U32,
    USED_ENTRIES,
    USED_LONG,
    USED_LONG_BYTES,
    USED_SPILLED,
    WINDOW_SHORT,
    Batch,
    Memo,
    Scan,
    State,
)
from numbatok.vector import copy_bytes, fill_bytes, load_two, natural, store_two

ZERO, COUNT_SHIFT, COUNT_MASK, HALF = u64(0), u64(29), u64(7), u64(32)
WITHOUT_COUNT = ~(COUNT_MASK << COUNT_SHIFT)
SPACE = ord(" ")

open_state = opener(State)


@entry
def encode_documents(
    state_address: int,
    text_address: int,
    size: int,
    ends_address: int,
    n_documents: int,
    ids_address: int,
    capacity: int,
    offsets_address: int,
    budget: int,
) -> int:
    """Encode documents from where control says to ids; return why no further.

    Document d is text[ends[d - 1] : ends[d]]. With AFTER_FROM what stands after each
    document follows there in `ends`: -1 or an id.
    offsets[d + 1] becomes where the ids of document d end. Without ids (capacity 0) they are only
    counted. DONE; PAUSED after about `budget` bytes; MEMO_FULL; WINDOW_SHORT: the pretoken at
    AT_BYTE is longer than the window; REFUSED: the added token in NEXT_ADDED_TOKEN stands at
    NEXT_ADDED; LIMIT_PASSED. The caller provides what is short and calls again.
    """
    state = open_state(state_address)
    text, ids = view_u8(text_address, size), view_u32(ids_address, capacity)
    ends = view_i64(ends_address, 2 * n_documents)
    offsets = view_i64(offsets_address, n_documents + 1)
    return encode_from(state, state_address, text, ends, n_documents, ids, offsets, budget)


@kernel
def encode_from(
    state: State,
    state_address: int,
    text: U8,
    ends: I64,
    n_documents: int,
    ids: U32,
    offsets: I64,
    budget: int,
) -> int:
    """Encode from where control says."""
    control = state.control
    pause_at = control[AT_BYTE] + budget
    while control[AT_DOCUMENT] < n_documents:
        document, pos, at = control[AT_DOCUMENT], control[AT_BYTE], control[AT_ID]
        unit = i64(0)
        if state.segments.slots.size > 0 and ids.size > 0:
            unit = next_segment(state, text, ends)
        hashed = hash_segment(text, pos, unit) if unit > 0 else ZERO
        slot = find_segment(text, pos, unit, hashed, state.segments) if unit > 0 else i64(-1)
        if slot >= 0:
            control[AT_ID] = copy_segment(slot, state.segments, ids, at)
            control[AT_BYTE] = pos + i64(state.segments.slots[slot + SEGMENT_TAKEN])
        else:
            why = encode_batch(state, state_address, text, ends, n_documents, ids, offsets)
            if why != DONE:
                return why
            taken, end = control[AT_BYTE] - pos, control[AT_DOCUMENT]
            is_alone = end == document if unit > taken else end == document + 1 and unit == taken
            if unit > 0 and is_alone and control[AFTER_FROM] == 0:
                if is_met_again(hashed, state.segments):
                    n_ids = control[AT_ID] - at
                    keep_segment(text, pos, unit, taken, hashed, ids, at, n_ids, state.segments)
        if control[AT_ID] > control[LIMIT]:
            return LIMIT_PASSED
        if control[AT_BYTE] >= pause_at and control[AT_DOCUMENT] < n_documents:
            return PAUSED
    return DONE


@kernel
def encode_batch(
    state: State, state_address: int, text: U8, ends: I64, n_documents: int, ids: U32, offsets: I64
) -> int:
    """Encode one window; return DONE, or why not, with control as it was."""
    control = state.control
    document, pos, at = control[AT_DOCUMENT], control[AT_BYTE], control[AT_ID]
    added, added_end = control[NEXT_ADDED], control[NEXT_ADDED_END]
    added_token, search_from = control[NEXT_ADDED_TOKEN], control[SEARCH_FROM]
    row, within = state.scan.flow[FLOW_ROW], state.scan.flow[FLOW_WITHIN]
    count, used, n_breaks, why = fill_batch(state, state_address, text, ends, n_documents)
    if why != DONE:
        return why
    if not resolve(count, used, state):
        control[AT_DOCUMENT], control[AT_BYTE] = document, pos
        control[NEXT_ADDED], control[NEXT_ADDED_END] = added, added_end
        control[NEXT_ADDED_TOKEN], control[SEARCH_FROM] = added_token, search_from
        state.scan.flow[FLOW_ROW], state.scan.flow[FLOW_WITHIN] = row, within
        return i64(MEMO_FULL)
    if state.scan.dropped.size > 0:
        drop_pretokens(count, state)
    if ids.size > 0:
        control[AT_ID] = write_batch(state, count, n_breaks, ids, at, offsets, document)
    else:
        control[AT_ID] = count_batch(state, count, n_breaks, at, offsets, document)
    return i64(DONE)


@part
def next_segment(state: State, text: U8, ends: I64) -> int:
    """Return how many bytes decide the ids of the stretch that starts here, 0 if there is none.

    Those are a window and what the scan looks ahead, or the rest of the document.
    """
    control, size = state.control, state.scan.window.size
    document, pos = control[AT_DOCUMENT], control[AT_BYTE]
    end = ends[document]
    if end - pos < SHORTEST:
        return i64(0)
    first = i64(0) if document == 0 else ends[document - 1]
    stop = next_stop(state, text, first, pos, end)
    if stop - pos >= size:
        return i64(size)
    is_rest = stop == end and control[NEXT_ADDED_TOKEN] < 0 and end - pos >= SHORTEST
    return end - pos if is_rest and end - pos <= size - MARGIN else i64(0)


@kernel
def fill_batch(
    state: State, state_address: int, text: U8, ends: I64, n_documents: int
) -> tuple[int, int, int, int]:
    """Fill the window with documents or parts of one and cut them into pretokens.

    Return the number of pretokens, of bytes of the window and of breaks, and DONE or why not.
    Advances control: document, byte, next added token.
    """
    control, breaks, scan = state.control, state.batch.breaks, state.scan
    segment = scan.window.size - MARGIN
    document, pos = control[AT_DOCUMENT], control[AT_BYTE]
    count, used, n_breaks = i64(0), i64(0), i64(0)
    while document < n_documents and used < segment and 2 * n_breaks + 2 < breaks.size:
        end = ends[document]
        first = i64(0) if document == 0 else ends[document - 1]
        stop = next_stop(state, text, first, pos, end)
        token = control[NEXT_ADDED_TOKEN]
        if pos == stop:
            if pos == end and token < 0:
                what = i64(BREAK_DOCUMENT)
                if control[AFTER_FROM] != 0:
                    what += BREAK_DOCUMENT - ends[control[AFTER_FROM] + document]
                breaks[2 * n_breaks], breaks[2 * n_breaks + 1] = count, what
                document += 1
                control[SEARCH_FROM] = pos
            elif state.actions[token] == REFUSE:
                control[AT_DOCUMENT] = document
                return count, used, n_breaks, i64(REFUSED)
            else:
                breaks[2 * n_breaks], breaks[2 * n_breaks + 1] = count, state.added.ids[token]
                pos = control[NEXT_ADDED_END]
            control[NEXT_ADDED], scan.flow[FLOW_ROW], scan.flow[FLOW_WITHIN] = -1, 0, 0
            n_breaks += 1
            continue
        size = foreseen(scan, pos, min(stop - pos, segment - used), stop)
        goes_on = size < stop - pos or (stop < end and token < 0)
        scan.flow[FLOW_GOES_ON] = i64(goes_on)
        fill_window(text, pos, size, stop, scan.window, used)
        before = count
        count = call_at(state.functions[SCAN_WINDOW], state_address, used, used + size, count)
        if goes_on:  # and the last pretoken may too
            count -= 1
            size = i64(scan.starts[count]) - used
            if count == before:
                if used == 0 and n_breaks == 0:
                    return count, used, n_breaks, i64(WINDOW_SHORT)
                break
            pos, used = pos + size, used + size
            break
        pos, used = pos + size, used + size
    scan.starts[count] = used
    control[AT_DOCUMENT], control[AT_BYTE] = document, pos
    return count, used, n_breaks, i64(DONE)


@part
def next_stop(state: State, text: U8, first: int, pos: int, end: int) -> int:
    """Return where the text from pos on is interrupted: by an added token, or the end.

    Added tokens are searched as far as one window may read, where the text just goes on; to the
    end if some have flags: such a token may take white space from far before it.
    """
    control = state.control
    if state.actions.size == 0:
        control[NEXT_ADDED_TOKEN] = -1
        return end
    reach = end
    if state.added.flags.size == 0:
        reach = min(end, pos + state.scan.window.size)
    if control[NEXT_ADDED] < pos or (control[NEXT_ADDED_TOKEN] < 0 and control[NEXT_ADDED] < reach):
        find_added(text, first, pos, reach, end, state.added, state.actions, control)
    return i64(control[NEXT_ADDED])


@part
def has_room(memo: Memo, count: int, size: int) -> bool:
    """Tell whether the memo can learn `count` pretokens of `size` bytes; tables stay 3/4 full."""
    used = memo.used
    return (
        (used[USED_ENTRIES] + count) * 4 < memo.entries.slots.size // 4 * 3
        and (used[USED_LONG] + count) * 4 < memo.long_slots.size // 4 * 3
        and used[USED_SPILLED] + size < memo.spilled.size
        and used[USED_LONG_BYTES] + size < memo.long_bytes.size
    )


@part
def foreseen(scan: Scan, pos: int, size: int, stop: int) -> int:
    """Return how many bytes to scan, up to a place of which an automaton knows the outlook.

    Tells it the outlook; without one, `size` bytes and -1.
    """
    flow = scan.flow
    flow[FLOW_OUTLOOK] = -1
    if flow[FORESEEN_TO] == stop and flow[FORESEEN_FROM] <= pos and size < stop - pos:
        over = (pos + size - flow[FORESEEN_FROM]) % STRIDE
        if over < size:
            size -= over
            flow[FLOW_OUTLOOK] = scan.walk.outlooks[(pos + size - flow[FORESEEN_FROM]) // STRIDE]
    return size


@part
def drop_pretokens(count: int, state: State) -> None:
    """Leave the pretokens of the batch that are dropped without ids."""
    ids, dropped = state.batch.ids, state.scan.dropped
    for i in range(count):
        if dropped[i] != 0:
            ids[2 * i] = ZERO


@part
def fill_window(text: U8, pos: int, size: int, stop: int, window: U8, used: int) -> None:
    """Copy text[pos : pos + size] and MARGIN bytes more to window[used:]; after `stop` spaces."""
    n_text = min(size + MARGIN, stop - pos)
    copy_bytes(text, pos, window, used, n_text)
    fill_bytes(window, used + n_text, SPACE, size + MARGIN - n_text)


@part
def resolve(count: int, size: int, state: State) -> bool:
    """Write the ids of the `count` pretokens of the batch, of `size` bytes; False: no room."""
    scan, batch, memo = state.scan, state.batch, state.memo
    pack_keys(scan, batch, count, state.words)
    n_missed = probe_words(batch, count, state.words)
    if n_missed > 0:
        n_missed = probe_memo(batch, n_missed, memo)
    if n_missed == 0:
        return True
    if not has_room(memo, n_missed, size):
        return False
    if state.merges.odd.size > 0:
        merge_odd(n_missed, state)
    n_new = look_up_missed(batch, n_missed, state.words, memo)
    if n_new > 0:
        merge_new(scan, batch, n_new, state.merges, state.lanes, memo, memo.entries.slots)
    n_long = copy_from_memo(batch, n_missed, memo)
    if n_long > 0:
        n_new = look_up_long(n_missed, state)
        if n_new > 0:
            merge_new(scan, batch, n_new, state.merges, state.lanes, memo, memo.long_slots)
        copy_long(n_missed, batch, memo)
    return True


@kernel
def write_batch(
    state: State, count: int, n_breaks: int, ids: U32, at: int, offsets: I64, document: int
) -> int:
    """Write the ids of the batch, with what stands at its breaks; return where they end."""
    batch, memo = state.batch, state.memo
    first = i64(0)
    for b in range(n_breaks):
        number, what = batch.breaks[2 * b], batch.breaks[2 * b + 1]
        at = write_ids(batch, first, number, memo, ids, at)
        first = number
        if what >= 0:
            ids[at] = what
            at += 1
        else:
            if what != BREAK_DOCUMENT:
                ids[at] = BREAK_DOCUMENT - 1 - what
                at += 1
            document += 1
            offsets[document] = at
    return write_ids(batch, first, count, memo, ids, at)


@part
def write_ids(batch: Batch, first: int, last: int, memo: Memo, ids: U32, at: int) -> int:
    """Write the ids of pretokens first ... last - 1 to ids[at:]; return where they end.

    Four ids are written each time and the next pretoken overwrites those that do not count.
    """
    packed = batch.ids
    for i in range(natural(first), last):
        at = natural(at)
        low, high = packed[2 * i], packed[2 * i + 1]
        n_ids = i64(low >> COUNT_SHIFT & COUNT_MASK)
        if n_ids == SPILLED:
            n_ids, start = natural(i64(low >> HALF)), natural(i64(high))
            for k in range(0, n_ids, 2):  # by twos: LLVM would unroll and vectorize a copy of 5
                store_two(load_two(memo.spilled, start + k), ids, at + k)
        else:
            store_two(low & WITHOUT_COUNT, ids, at)
            store_two(high, ids, at + 2)
        at += n_ids
    return at


@kernel
def count_batch(
    state: State, count: int, n_breaks: int, at: int, offsets: I64, document: int
) -> int:
    """Count the ids of the batch as `write_batch` writes them."""
    batch = state.batch
    first = i64(0)
    for b in range(n_breaks):
        number, what = batch.breaks[2 * b], batch.breaks[2 * b + 1]
        at += count_ids(batch, first, number)
        first = number
        at += i64(what != BREAK_DOCUMENT)
        if what < 0:
            document += 1
            offsets[document] = at
    return at + count_ids(batch, first, count)


@part
def count_ids(batch: Batch, first: int, last: int) -> int:
    """Return how many ids pretokens first ... last - 1 have."""
    total = i64(0)
    for i in range(natural(first), last):
        low = batch.ids[2 * i]
        n_ids = i64(low >> COUNT_SHIFT & COUNT_MASK)
        total += i64(low >> HALF) if n_ids == SPILLED else n_ids
    return total
