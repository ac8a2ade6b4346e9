"""Find the ids of the parts and products of a long list of merges: 446,189 of them in 0.1 s."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import view_i64, view_u8, view_u32, view_u64
from numbatok.kernels.late_merges import hash_bytes
from numbatok.tables import I64, U8, U64
from numbatok.vector import natural

ZERO, HALF = u64(0), u64(32)
LOW_HALF = u64((1 << 32) - 1)
NO_TOKEN = -1


@entry
def find_merge_ids(
    text_address: int, lengths_address: int, n_merges: int,
    tokens_address: int, ends_address: int, n_tokens: int,
    names_address: int, n_names: int, found_address: int,
) -> int:  # fmt: skip
    """Write the numbers of the tokens that merge m joins and makes to found[3 m : 3 m + 3].

    Its parts are lengths[2 m] and lengths[2 m + 1] bytes of text, part after part; token t is
    tokens[ends[t] : ends[t + 1]]. Both texts have 16 readable bytes more. names: n_names zeros, a
    power of 2 above 2 n_tokens. Returns the first merge of which one of the three is no token, or
    n_merges.
    """
    lengths, found = view_u32(lengths_address, 2 * n_merges), view_u32(found_address, 3 * n_merges)
    ends, names = view_i64(ends_address, n_tokens + 1), view_u64(names_address, n_names)
    tokens = view_u8(tokens_address, ends[n_tokens] + 16)
    for token in range(n_tokens):
        put_name(token, tokens, ends, names)
    size = i64(0)
    for k in range(2 * n_merges):
        size += i64(lengths[k])
    text = view_u8(text_address, size + 16)
    start, last_start, last_length = i64(0), i64(0), i64(0)
    for m in range(n_merges):
        left, right = i64(lengths[2 * m]), i64(lengths[2 * m + 1])
        a = find_token(text, start, left, tokens, ends, names)
        b = find_token(text, start + left, right, tokens, ends, names)
        if left + right == last_length and same(text, start, text, last_start, last_length):
            product = i64(found[natural(3 * m - 1)])  # the splits of a token stand together
        else:
            product = find_token(text, start, left + right, tokens, ends, names)
        if a < 0 or b < 0 or product < 0:
            return i64(m)
        found[3 * m], found[3 * m + 1], found[3 * m + 2] = a, b, product
        last_start, last_length = start, left + right
        start += left + right
    return i64(n_merges)


@part
def put_name(token: int, tokens: U8, ends: I64, names: U64) -> None:
    """Put a token into the first free slot from its home on."""
    hashed = hash_bytes(tokens, ends[token], ends[token + 1] - ends[token])
    last = i64(names.size) - 1
    slot = i64(hashed >> HALF) & last
    while names[natural(slot)] != ZERO:
        slot = (slot + 1) & last
    names[natural(slot)] = hashed & ~LOW_HALF | u64(token + 1)


@kernel
def find_token(text: U8, start: int, length: int, tokens: U8, ends: I64, names: U64) -> int:
    """Return the number of the token that these bytes are, or NO_TOKEN."""
    hashed = hash_bytes(text, start, length)
    last = i64(names.size) - 1
    slot = i64(hashed >> HALF) & last
    while names[natural(slot)] != ZERO:
        name = names[natural(slot)]
        if name >> HALF == hashed >> HALF:
            token = i64(name & LOW_HALF) - 1
            if ends[token + 1] - ends[token] == length:
                if same(text, start, tokens, ends[token], length):
                    return token
        slot = (slot + 1) & last
    return i64(NO_TOKEN)


@part
def same(text: U8, start: int, other: U8, other_start: int, length: int) -> bool:
    """Compare bytes."""
    k = i64(0)
    while k < length and text[natural(start + k)] == other[natural(other_start + k)]:
        k += 1
    return k == length
