"""Bring a corpus of bytes to where given merges take it."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import view_u8, view_u32
from numbatok.kernels.count import pack_key
from numbatok.kernels.encode import COUNT_MASK, COUNT_SHIFT, open_state
from numbatok.kernels.long import find_long, hash_long
from numbatok.kernels.merge_long import merge_list
from numbatok.kernels.recount import open_growth
from numbatok.kernels.train_tables import BOUNDARY, CONSUMED, Corpus
from numbatok.kernels.words import find_entry, first_of_bucket, hash_key
from numbatok.tables import U8, State
from numbatok.vector import KEY_BYTES

NO_ID = -1
ID_MASK = u64((1 << 29) - 1)


@entry
def merge_corpus(
    growth_address: int,
    state_address: int,
    start: int,
    stop: int,
    bytes_address: int,
    buffer_address: int,
    longest: int,
    symbols_address: int,
    whole: int,
) -> int:
    """Merge the pretokens in cells[start:stop], all of bytes, by a tokenizer; return where it ends.

    bytes[symbol] is the byte of a symbol that is one, symbols[id] the symbol of a token. buffer has
    room for the longest pretoken and MARGIN bytes more, as has the state's work space. `whole`
    takes a pretoken that is a token as it is.
    """
    growth, state = open_growth(growth_address), open_state(state_address)
    corpus, cells = growth.corpus, growth.corpus.cells
    spelled, buffer = (
        view_u8(bytes_address, corpus.lengths.size),
        view_u8(buffer_address, longest + 80),
    )
    pos = start
    while pos < stop:
        if cells[pos] == BOUNDARY:
            pos += 1
            continue
        length = i64(0)
        while cells[pos + length] != BOUNDARY:
            buffer[length] = spelled[cells[pos + length]]
            length += 1
        write_symbols(corpus, state, pos, length, buffer, symbols_address, whole != 0)
        pos += length
    return pos


@kernel
def write_symbols(
    corpus: Corpus,
    state: State,
    pos: int,
    length: int,
    buffer: U8,
    symbols_address: int,
    whole: bool,
) -> None:
    """Merge the bytes in buffer and write the symbols to the cells at pos."""
    work, ids = state.work, state.merges.ids
    if whole:
        token = find_token(buffer, length, state)
        if token != NO_ID:
            symbol = view_u32(symbols_address, token + 1)[token]
            put_symbol(corpus, pos, length, i64(symbol))
            return
    merge_list(buffer, i64(0), length, state.merges, work)
    at = i64(0)
    while at < length:
        token, following = i64(ids[work.symbols[at]]), i64(work.following[at])
        symbol = view_u32(symbols_address, token + 1)[token]
        put_symbol(corpus, pos + at, following - at, i64(symbol))
        at = following


@part
def put_symbol(corpus: Corpus, pos: int, length: int, symbol: int) -> None:
    """Make one symbol of some cells."""
    for at in range(pos + 1, pos + length):
        corpus.cells[at] = CONSUMED
    corpus.cells[pos] = symbol
    corpus.cells[pos + length - 1] = symbol


@kernel
def find_token(text: U8, length: int, state: State) -> int:
    """Return the id of a pretoken that is a token, or NO_ID, from words that hold whole tokens."""
    if length <= KEY_BYTES:
        slots = state.words.slots
        low, high = pack_key(text, i64(0), length)
        at = find_entry(slots, first_of_bucket(hash_key(low, high), slots), low, high)
    else:
        slots = state.long_words
        hashed = hash_long(text, i64(0), length)
        at = find_long(text, i64(0), length, hashed, slots, state.long_word_bytes)
    if at < 0 or i64(slots[at + 2] >> COUNT_SHIFT & COUNT_MASK) != 1:
        return i64(NO_ID)
    return i64(slots[at + 2] & ID_MASK)
