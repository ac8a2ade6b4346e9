"""Find added tokens: the leftmost, of those the longest, then what their flags say."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import opener, view_i64, view_u8
from numbatok.kernels.utf8 import class_within
from numbatok.tables import (
    I64,
    LSTRIP,
    NEXT_ADDED,
    NEXT_ADDED_END,
    NEXT_ADDED_TOKEN,
    PLAIN,
    RSTRIP,
    SEARCH_FROM,
    SINGLE_WORD,
    SPACE,
    U8,
    WORD,
    AddedTokens,
    CharacterClasses,
    Search,
)
from numbatok.vector import (
    BLOCK,
    byte_mask,
    count_trailing_zeros,
    wrapping_multiply,
)

ZERO, HALF, BYTE_BITS = u64(0), u64(32), u64(8)
CHILD = u64(0xFFFF_FFFF)
TRIE_MIX = u64(0x9E3779B97F4A7C15)
NO_TOKEN = -1
TRIPLE = 3  # int64 that `find_all_added` writes for each token

open_search = opener(Search)


@entry
def find_all_added(
    search_address: int, text_address: int, size: int, found_address: int, capacity: int
) -> int:
    """Find the added tokens of a text, from where control says; return how many were written.

    found[3 k] becomes the number of a token, then its start and its end. As many as the capacity:
    there may be more, and the search goes on there.
    """
    search = open_search(search_address)
    text, found = view_u8(text_address, size), view_i64(found_address, TRIPLE * capacity)
    added, actions, control = search.added, search.actions, search.control
    count = i64(0)
    while count < capacity:
        find_added(text, i64(0), control[NEXT_ADDED_END], size, size, added, actions, control)
        if control[NEXT_ADDED_TOKEN] < 0:
            break
        found[TRIPLE * count] = control[NEXT_ADDED_TOKEN]
        found[TRIPLE * count + 1] = control[NEXT_ADDED]
        found[TRIPLE * count + 2] = control[NEXT_ADDED_END]
        count += 1
    return count


@kernel
def find_added(
    text: U8,
    first: int,
    pos: int,
    stop: int,
    end: int,
    added: AddedTokens,
    actions: U8,
    control: I64,
) -> None:
    """Find the first added token that starts in text[control[SEARCH_FROM]:stop] and acts as one.

    text[first:end] is the document and text[pos:] has not been encoded. Writes: NEXT_ADDED ... of
    control; without a token NEXT_ADDED is `stop` and the search goes on there. A token that is
    plain in this call, or no single word, is passed over whole: nothing is searched inside. So is
    one that takes the white space before it where the token before took all that it is made of.
    """
    at = control[SEARCH_FROM]
    while True:
        at = next_candidate(text, at, stop, added)
        if at >= stop:
            break
        token, token_end = longest_match(text, at, end, added)
        if token < 0:
            at += 1
        elif actions[token] == PLAIN or not is_isolated(
            text, first, at, token_end, end, token, added
        ):
            at = token_end
        else:
            start = stripped_start(text, pos, at, token, added)
            stripped = stripped_end(text, token_end, end, token, added)
            if start < stripped or not has_flag(token, LSTRIP, added):
                control[NEXT_ADDED_TOKEN], control[SEARCH_FROM] = token, token_end
                control[NEXT_ADDED], control[NEXT_ADDED_END] = start, stripped
                return
            at = token_end
    control[NEXT_ADDED], control[NEXT_ADDED_END] = stop, stop
    control[NEXT_ADDED_TOKEN], control[SEARCH_FROM] = NO_TOKEN, at


@part
def next_candidate(text: U8, pos: int, stop: int, added: AddedTokens) -> int:
    """Return the first position from pos on whose byte starts an added token, or `stop`."""
    at = pos
    few = added.few_first
    if few.size > 0:
        while at + BLOCK <= text.size and at < stop:
            mask = ZERO
            for k in range(few.size):
                mask |= byte_mask(text, at, i64(few[k]))
            if mask != ZERO:
                return min(stop, at + count_trailing_zeros(mask))
            at += BLOCK
    while at < stop and added.first_bytes[i64(text[at])] == 0:
        at += 1
    return min(stop, at)


@kernel
def longest_match(text: U8, pos: int, end: int, added: AddedTokens) -> tuple[int, int]:
    """Return the number of the longest added token at pos and its end, or NO_TOKEN and pos."""
    node, at = i64(0), i64(pos)
    token, token_end = i64(NO_TOKEN), i64(pos)
    while at < end:
        node = child_of(node, i64(text[at]), added)
        if node < 0:
            break
        at += 1
        if added.tokens[node] >= 0:
            token, token_end = added.tokens[node], at
    return token, token_end


@part
def child_of(node: int, byte: int, added: AddedTokens) -> int:
    """Return the child of a trie node by a byte, or -1."""
    slots = added.slots
    key = (u64(node) << BYTE_BITS | u64(byte)) + u64(1)
    slot = i64((wrapping_multiply(key, TRIE_MIX) >> HALF) * u64(slots.size) >> HALF)
    while slots[slot] != ZERO:
        if slots[slot] >> HALF == key:
            return i64(slots[slot] & CHILD)
        slot = slot + 1 if slot + 1 < slots.size else 0
    return -1


# --- flags ----------------------------------------------------------------------------------------


@part
def has_flag(token: int, flag: int, added: AddedTokens) -> bool:
    """Tell whether an added token has a flag."""
    return added.flags.size > 0 and added.flags[token] & flag != 0


@kernel
def is_isolated(
    text: U8, first: int, start: int, stop: int, end: int, token: int, added: AddedTokens
) -> bool:
    """Tell whether text[start:stop] is no part of a longer word, where its token asks for that."""
    if not has_flag(token, SINGLE_WORD, added):
        return True
    neighbors = added.neighbors
    if start > first and class_before(text, first, start, neighbors)[0] == WORD:
        return False
    return stop >= end or class_within(text, stop, end, neighbors)[0] != WORD


@kernel
def stripped_start(text: U8, pos: int, start: int, token: int, added: AddedTokens) -> int:
    """Return where a token starts with the white space that it takes before it."""
    if has_flag(token, LSTRIP, added):
        while start > pos:
            kind, at = class_before(text, pos, start, added.neighbors)
            if kind != SPACE:
                break
            start = at
    return max(start, pos)


@kernel
def stripped_end(text: U8, stop: int, end: int, token: int, added: AddedTokens) -> int:
    """Return where a token ends with the white space that it takes after it."""
    if has_flag(token, RSTRIP, added):
        while stop < end:
            kind, length = class_within(text, stop, end, added.neighbors)
            if kind != SPACE:
                break
            stop += length
    return stop


@kernel
def class_before(text: U8, first: int, pos: int, neighbors: CharacterClasses) -> tuple[int, int]:
    """Return the class of the character that ends at pos > first, and where it starts."""
    for back in range(4, 0, -1):
        at = pos - back
        if at >= first:
            kind, length = class_within(text, at, pos, neighbors)
            if length == back:
                return kind, at
    return i64(0), pos - 1
