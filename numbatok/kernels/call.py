"""Texts from their Python objects, in one call of CPython's kind.

A short text goes to a new array of ids; of a batch the kernel finds where the bytes of each text
are. A call through ctypes takes 0.5 us more for a short text: finding the bytes, converting, and
copying the ids in Python. Here the kernel is the body of a built-in function. What it reads of
objects is what every compiled extension reads by macro (the type, the length, the data of bytes,
lists and arrays); the rest it asks CPython and NumPy by the addresses of their functions.
"""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel
from numbatok.addresses import call_at, call_with_nine, view_i64, view_u32
from numbatok.kernels.arena import give_block, take_block
from numbatok.kernels.encode import open_state
from numbatok.kernels.normalize import find_change
from numbatok.kernels.stream import stream_ids
from numbatok.tables import (
    AFTER_FROM,
    AT_BYTE,
    AT_DOCUMENT,
    AT_ID,
    CALL_ADD_REFERENCE,
    CALL_ARENA,
    CALL_ARRAY_TYPE,
    CALL_AS_UTF8,
    CALL_BYTES_TYPE,
    CALL_CALL,
    CALL_CHOICE,
    CALL_CHOICE_NAME,
    CALL_CLEAR_ERROR,
    CALL_COMPARE,
    CALL_DEFAULT_CHOICE,
    CALL_DROP_REFERENCE,
    CALL_ENCODE,
    CALL_FORMS,
    CALL_GENERAL,
    CALL_IDS,
    CALL_KEPT,
    CALL_LONGEST,
    CALL_N_FORMS,
    CALL_NEW_ARRAY,
    CALL_NEW_CAPSULE,
    CALL_NEW_METHOD,
    CALL_NONE,
    CALL_OFFSETS_ADDRESS,
    CALL_POLICY,
    CALL_RELEASE,
    CALL_SET_BASE,
    CALL_SIGHTS,
    CALL_SIZE,
    CALL_SIZE_ADDRESS,
    CALL_STATE,
    CALL_STR_TYPE,
    CALL_STRETCH_ADDRESS,
    CALL_TUPLE_ITEMS,
    CALL_UINT32,
    CALL_UNITS,
    CALL_UTF8,
    CALL_WHY,
    CALL_WIDTH_SHIFT,
    CALL_WRITE_UTF8,
    DONE,
    FLOW_ROW,
    FLOW_WITHIN,
    FRAME,
    I64,
    LARGEST_BLOCK,
    LEAST_BLOCK,
    LIMIT,
    N_ARENA,
    N_CALL,
    N_SIGHTS,
    NEXT_ADDED,
    OTHER_POLICY,
    SEARCH_FROM,
    UNFIT,
    State,
)

TYPE, LENGTH, BYTES_DATA, FLAGS = 8, 16, 32, 32  # where these are in an object, with a GIL
# In the flags, counted from the width. A str that is not compact has its code units elsewhere:
# before Python 3.12 an extension may still make one.
COMPACT, ASCII = 1 << 3, 1 << 4
ARRAY_DATA, LIST_ITEMS = 16, 24
C_INT = 0xFFFFFFFF
WRITABLE = 0x0501  # NumPy's flags: contiguous, aligned, writable


@entry
def encode_object(frame_object: int, arguments: int, n_arguments: int) -> int:
    """Return the address of an array of the ids of a text, or of None with the reason in the frame.

    METH_FASTCALL: of the frame, an array of int64, called with a policy and a str or bytes.
    The caller takes the general way for None. 0: an exception is set.
    """
    frame = view_i64(word(frame_object + ARRAY_DATA), N_CALL)
    if n_arguments != 2 or word(arguments) != frame[CALL_POLICY]:
        return none(frame, i64(OTHER_POLICY))
    why = encode_short(frame, word(arguments + 8))
    if why != DONE:
        return none(frame, why)
    return new_array(frame)


@entry
def encode_call(tokenizer: int, arguments: int, n_arguments: int, names: int) -> int:
    """Return what Tokenizer.encode does, by its function of Python where this is no short text.

    METH_FASTCALL | METH_KEYWORDS: a method of objects that have a frame in their first slot. To go
    through a function of Python takes 0.15 of 0.45 us. 0: an exception is set.
    """
    frame_object = word(tokenizer + FRAME)
    if frame_object == 0:
        return i64(0)  # __init__ was not called
    frame = view_i64(word(frame_object + ARRAY_DATA), N_CALL)
    if (
        frame[CALL_POLICY] != 0
        and is_choice(frame, choice_of(frame, arguments, n_arguments, names))
        and encode_short(frame, word(arguments)) == DONE
    ):
        return new_array(frame)
    method = call_at(frame[CALL_NEW_METHOD], frame[CALL_GENERAL], tokenizer, 0, 0)
    if method == 0:
        return i64(0)
    result = call_at(frame[CALL_CALL], method, arguments, n_arguments, names)
    call_at(frame[CALL_DROP_REFERENCE], method, 0, 0, 0)
    return result


@kernel
def choice_of(frame: I64, arguments: int, n_arguments: int, names: int) -> int:
    """Return the object that is `special` in a call with a text and nothing else, or 0."""
    if names != 0 and word(names + LENGTH) == 1 and n_arguments == 1:
        is_special = word(names + frame[CALL_TUPLE_ITEMS]) == frame[CALL_CHOICE_NAME]
        return word(arguments + 8) if is_special else i64(0)
    if names != 0 and word(names + LENGTH) > 0:
        return i64(0)
    if n_arguments == 2:
        return word(arguments + 8)
    return frame[CALL_DEFAULT_CHOICE] if n_arguments == 1 else i64(0)


@kernel
def is_choice(frame: I64, choice: int) -> bool:
    """Tell whether the value of `special` stands for the policy at hand."""
    if choice == 0 or frame[CALL_CHOICE] == 0:
        return False
    if choice == frame[CALL_CHOICE]:
        return True
    if word(choice + TYPE) != frame[CALL_STR_TYPE]:
        return False
    return call_at(frame[CALL_COMPARE], choice, frame[CALL_CHOICE], 0, 0) & C_INT == 0


@kernel
def encode_short(frame: I64, text: int) -> int:
    """Encode a str or bytes to where the frame says; why as in `encode_documents`, or UNFIT."""
    address = bytes_of(frame, text)
    if address == 0 or may_normalize(frame, address):
        return i64(UNFIT)
    return encode_text(open_state(frame[CALL_STATE]), frame, address)


@kernel
def encode_text(state: State, frame: I64, text_address: int) -> int:
    """Encode one text from its start to where the frame says; why as in `encode_documents`.

    That is called by its address: as a part of this function it would be compiled once more.
    Bound: one id per byte, and four more are overwritten.
    """
    control, flow, size = state.control, state.scan.flow, frame[CALL_SIZE]
    control[AT_DOCUMENT], control[AT_BYTE], control[AT_ID] = 0, 0, 0
    control[NEXT_ADDED], control[SEARCH_FROM] = -1, 0
    control[AFTER_FROM], control[LIMIT] = 0, size
    flow[FLOW_ROW], flow[FLOW_WITHIN] = 0, 0
    return call_with_nine(
        frame[CALL_ENCODE], frame[CALL_STATE], text_address, size, frame[CALL_SIZE_ADDRESS], 1,
        frame[CALL_IDS], size + 4, frame[CALL_OFFSETS_ADDRESS], size + 1,
    )  # fmt: skip


@entry
def list_rows(frame_object: int, arguments: int, n_arguments: int) -> int:
    """Write where the bytes or the code units of each text of a list are; return None.

    METH_FASTCALL: of the frame, called with a list of n str and bytes and an array of 3n + 1 int64:
    addresses, how many, and the bytes of a code unit, 0 for bytes and UTF-8. All hold as long as
    the texts. The last one becomes -1, or the number of the first row that is something else or has
    lone surrogates.
    """
    frame = view_i64(word(frame_object + ARRAY_DATA), N_CALL)
    rows, n_rows = word(arguments), word(word(arguments) + LENGTH)
    objects = view_i64(word(rows + LIST_ITEMS), n_rows)
    places = view_i64(word(word(arguments + 8) + ARRAY_DATA), 3 * n_rows + 1)
    places[3 * n_rows] = -1
    for row in range(n_rows):
        text = objects[row]
        width = width_of(frame, text)
        if width > 0:
            frame[CALL_SIZE] = word(text + LENGTH)
            address = text + frame[CALL_UNITS]
        else:
            address = bytes_of(frame, text)
        if address == 0:
            places[3 * n_rows] = row
            break
        places[row], places[n_rows + row] = address, frame[CALL_SIZE]
        places[2 * n_rows + row] = width
    return none(frame, i64(DONE))


@kernel
def width_of(frame: I64, text: int) -> int:
    """Return the bytes of a code unit of a str that has no UTF-8 yet, else 0."""
    if frame[CALL_UNITS] == 0 or word(text + TYPE) != frame[CALL_STR_TYPE]:
        return i64(0)
    flags = word(text + FLAGS) >> frame[CALL_WIDTH_SHIFT]
    if flags & (COMPACT | ASCII) != COMPACT or word(text + frame[CALL_KEPT]) != 0:
        return i64(0)
    return flags & 7


@kernel
def word(address: int) -> int:
    """Return the int64 at an address."""
    return view_i64(address, 1)[0]


@kernel
def none(frame: I64, why: int) -> int:
    """Say why there are no ids, and return None."""
    frame[CALL_WHY] = why
    call_at(frame[CALL_ADD_REFERENCE], frame[CALL_NONE], 0, 0, 0)
    return frame[CALL_NONE]


@kernel
def bytes_of(frame: I64, text: int) -> int:
    """Return where the UTF-8 of a str or the content of bytes is, or 0; their number in the frame.

    Of a str that is ASCII that is the str itself. Of another one it is written to the frame's own
    memory the first time, in a fifth of the time; it keeps what CPython makes the second time.
    """
    kind, address = word(text + TYPE), text + BYTES_DATA
    if kind != frame[CALL_STR_TYPE] and kind != frame[CALL_BYTES_TYPE]:
        return i64(0)  # an object may end where others have a length
    size = word(text + LENGTH)
    if size > frame[CALL_LONGEST]:
        return i64(0)
    frame[CALL_SIZE] = size
    if is_new(frame, text):
        width = word(text + FLAGS) >> frame[CALL_WIDTH_SHIFT] & 7
        address = frame[CALL_UTF8]
        units = text + frame[CALL_UNITS]
        frame[CALL_SIZE] = call_at(frame[CALL_WRITE_UTF8], units, size, width, address)
        if frame[CALL_SIZE] < 0:  # lone surrogates
            return i64(0)
    elif kind == frame[CALL_STR_TYPE]:
        address = call_at(frame[CALL_AS_UTF8], text, frame[CALL_SIZE_ADDRESS], 0, 0)
        if address == 0:  # lone surrogates
            call_at(frame[CALL_CLEAR_ERROR], 0, 0, 0, 0)
    return address if frame[CALL_SIZE] <= frame[CALL_LONGEST] else i64(0)


@kernel
def is_new(frame: I64, text: int) -> bool:
    """Tell whether a str without UTF-8 is met for the first time, as far as the frame remembers."""
    if frame[CALL_WRITE_UTF8] == 0 or width_of(frame, text) == 0:
        return False
    place, name = CALL_SIGHTS + (text >> 4 & N_SIGHTS - 1), text ^ word(text + LENGTH)
    known = frame[place] == name
    frame[place] = name
    return not known


@kernel
def may_normalize(frame: I64, address: int) -> bool:
    """Tell whether a normalizer may change the text."""
    for k in range(frame[CALL_N_FORMS]):
        classes, stretch = frame[CALL_FORMS + k], frame[CALL_STRETCH_ADDRESS]
        if find_change(classes, address, 0, frame[CALL_SIZE], stretch) != 0:
            return True
    return False


@kernel
def new_array(frame: I64) -> int:
    """Return a new array with the ids that the frame points to. No Python code runs meanwhile."""
    n_ids = open_state(frame[CALL_STATE]).control[AT_ID]
    if frame[CALL_ARENA] != 0 and LEAST_BLOCK <= 4 * n_ids <= LARGEST_BLOCK:
        block, is_new = take_block(view_i64(frame[CALL_ARENA], N_ARENA), 4 * n_ids)
        if block != 0:
            if is_new:  # 20.0 ms instead of 21.2 for 4 MB of code in chunks of 4 KiB
                stream_ids(view_u32(frame[CALL_IDS], n_ids), n_ids, block)
            else:
                copy_ids(frame, n_ids, block)
            return new_lent_array(frame, n_ids, block)
    array = make_array(frame, n_ids, i64(0), i64(0))
    if array != 0:
        copy_ids(frame, n_ids, word(array + ARRAY_DATA))
    return array


@kernel
def make_array(frame: I64, n_ids: int, data: int, flags: int) -> int:
    """Return a new array of ids, of memory of its own if `data` is 0; 0 with an exception set."""
    frame[CALL_SIZE] = n_ids
    return call_with_nine(
        frame[CALL_NEW_ARRAY], frame[CALL_ARRAY_TYPE], 1, frame[CALL_SIZE_ADDRESS],
        frame[CALL_UINT32], 0, data, 0, flags, 0,
    )  # fmt: skip


@kernel
def copy_ids(frame: I64, n_ids: int, address: int) -> None:
    """Copy the ids that the frame points to."""
    source, ids = view_u32(frame[CALL_IDS], n_ids), view_u32(address, n_ids)
    for k in range(n_ids):
        ids[k] = source[k]


@kernel
def new_lent_array(frame: I64, n_ids: int, block: int) -> int:
    """Return a new array of the ids in a block, which is given back when the last view is gone."""
    array = make_array(frame, n_ids, block, i64(WRITABLE))
    capsule = i64(0)
    if array != 0:
        capsule = call_at(frame[CALL_NEW_CAPSULE], block, 0, frame[CALL_RELEASE], 0)
    if capsule == 0:
        give_block(view_i64(frame[CALL_ARENA], N_ARENA), block)
        if array != 0:
            call_at(frame[CALL_DROP_REFERENCE], array, 0, 0, 0)
        return i64(0)
    call_at(frame[CALL_SET_BASE], array, capsule, 0, 0)  # fails for no new array
    return array
