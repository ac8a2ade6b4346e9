"""Vector primitives: a plain Python function each, compiled to LLVM vector code.

A primitive takes (array, index), never an address, so a kernel reads as one over arrays. LLVM
lowers the vectors to AVX-512, AVX2, SSE2 or NEON. Nothing is bounds-checked: callers guarantee
`MARGIN` readable bytes after a position, and test both forms against each other.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir

from numbatok._jit import ARRAY, INT, MASK, NOTHING, i64, primitive, u64
from numbatok.tables import RANK_BITS, U8, U16, U32, U64, UNITS

BLOCK = 64  # bytes that one mask describes: bit k is the byte at pos + k
SLOTS = 8  # u64 keys in one bucket, a cache line
LANES = 16  # u32 values of which `minimum_of_sixteen` takes the least
ALL_BITS = (1 << 64) - 1

_I1, _I8, _I32, _I64 = (ir.IntType(n) for n in (1, 8, 32, 64))
_BYTES = ir.VectorType(_I8, BLOCK)


# --- how LLVM code is built: loads, splats, calls ------------------------------------------------


def _load(builder: Any, data: Any, index: Any, kind: Any) -> Any:
    """Load an unaligned `kind` from element `index` of an array."""
    address = builder.gep(data, [index])
    return builder.load(builder.bitcast(address, kind.as_pointer()), align=1)


def _store(builder: Any, value: Any, data: Any, index: Any) -> None:
    address = builder.gep(data, [index])
    builder.store(value, builder.bitcast(address, value.type.as_pointer()), align=1)


def _splat(builder: Any, value: Any, lanes: int) -> Any:
    """Copy one number into every lane of a vector."""
    kind = ir.VectorType(value.type, lanes)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, _I32(0))
    zeros = ir.VectorType(_I32, lanes)([0] * lanes)
    return builder.shuffle_vector(first, kind(ir.Undefined), zeros)


def _all_lanes(kind: Any, number: int) -> Any:
    return ir.Constant(kind, [number] * kind.count)


def _call(builder: Any, name: str, returns: Any, *operands: Any) -> Any:
    """Call an LLVM intrinsic by name."""
    signature = ir.FunctionType(returns, [operand.type for operand in operands])
    function = builder.module.globals.get(name) or ir.Function(builder.module, signature, name)
    return builder.call(function, operands)


def _to_mask(builder: Any, truths: Any) -> Any:
    """Turn 64 truth values into one u64, lane k into bit k."""
    return builder.bitcast(truths, _I64)


def _between(builder: Any, block: Any, first: int, last: int) -> Any:
    """Compare 64 bytes with a closed range; one subtraction makes the range start at 0."""
    shifted = builder.sub(block, _all_lanes(_BYTES, first))
    return builder.icmp_unsigned("<=", shifted, _all_lanes(_BYTES, last - first))


# --- masks: which of the 64 bytes at pos belong to a class ---------------------------------------


def _emit_letters(builder: Any, text: Any, pos: Any) -> Any:
    block = _load(builder, text, pos, _BYTES)
    lower = builder.or_(block, _all_lanes(_BYTES, 0x20))  # "A" | 0x20 == "a"
    return _to_mask(builder, _between(builder, lower, ord("a"), ord("z")))


@primitive(MASK, ARRAY, INT, emit=_emit_letters)
def letter_mask(text: U8, pos: int) -> u64:
    """Return the mask of the ASCII letters in the 64 bytes at pos."""
    return _mask_where(text, pos, lambda byte: ord("a") <= byte | 0x20 <= ord("z"))


def _emit_digits(builder: Any, text: Any, pos: Any) -> Any:
    block = _load(builder, text, pos, _BYTES)
    return _to_mask(builder, _between(builder, block, ord("0"), ord("9")))


@primitive(MASK, ARRAY, INT, emit=_emit_digits)
def digit_mask(text: U8, pos: int) -> u64:
    """Return the mask of the ASCII digits in the 64 bytes at pos."""
    return _mask_where(text, pos, lambda byte: ord("0") <= byte <= ord("9"))


def _emit_white_space(builder: Any, text: Any, pos: Any) -> Any:
    block = _load(builder, text, pos, _BYTES)
    spaces = builder.icmp_unsigned("==", block, _all_lanes(_BYTES, ord(" ")))
    return _to_mask(builder, builder.or_(spaces, _between(builder, block, ord("\t"), ord("\r"))))


@primitive(MASK, ARRAY, INT, emit=_emit_white_space)
def white_space_mask(text: U8, pos: int) -> u64:
    """Return the mask of the ASCII white space in the 64 bytes at pos."""
    return _mask_where(text, pos, lambda byte: byte in b" \t\n\v\f\r")


def _emit_equal(builder: Any, text: Any, pos: Any, wanted: Any) -> Any:
    block = _load(builder, text, pos, _BYTES)
    same = builder.icmp_unsigned("==", block, _splat(builder, builder.trunc(wanted, _I8), BLOCK))
    return _to_mask(builder, same)


@primitive(MASK, ARRAY, INT, INT, emit=_emit_equal)
def byte_mask(text: U8, pos: int, wanted: int) -> u64:
    """Return the mask of the bytes equal to `wanted` in the 64 bytes at pos."""
    return _mask_where(text, pos, lambda byte: byte == wanted)


def _emit_non_ascii(builder: Any, text: Any, pos: Any) -> Any:
    block = _load(builder, text, pos, _BYTES)
    return _to_mask(builder, builder.icmp_signed("<", block, _all_lanes(_BYTES, 0)))


@primitive(MASK, ARRAY, INT, emit=_emit_non_ascii)
def non_ascii_mask(text: U8, pos: int) -> u64:
    """Return the mask of the bytes 0x80-0xFF in the 64 bytes at pos."""
    return _mask_where(text, pos, lambda byte: byte >= 0x80)


def _emit_range(builder: Any, text: Any, pos: Any, first: Any, last: Any) -> Any:
    low, high = (_splat(builder, builder.trunc(byte, _I8), BLOCK) for byte in (first, last))
    shifted = builder.sub(_load(builder, text, pos, _BYTES), low)  # the range starts at 0
    return _to_mask(builder, builder.icmp_unsigned("<=", shifted, builder.sub(high, low)))


@primitive(MASK, ARRAY, INT, INT, INT, emit=_emit_range)
def range_mask(text: U8, pos: int, first: int, last: int) -> u64:
    """Return the mask of the bytes first ... last in the 64 bytes at pos; first <= last."""
    return _mask_where(text, pos, lambda byte: first <= byte <= last)


def _emit_folded(builder: Any, text: Any, pos: Any, fold: Any, wanted: Any) -> Any:
    bits, byte = (_splat(builder, builder.trunc(n, _I8), BLOCK) for n in (fold, wanted))
    folded = builder.or_(_load(builder, text, pos, _BYTES), bits)
    return _to_mask(builder, builder.icmp_unsigned("==", folded, byte))


@primitive(MASK, ARRAY, INT, INT, INT, emit=_emit_folded)
def folded_mask(text: U8, pos: int, fold: int, wanted: int) -> u64:
    """Return the mask of the bytes that are `wanted` once the bits `fold` are set in them.

    With 0x20 a letter in either case equals its small form.
    """
    return _mask_where(text, pos, lambda byte: byte | fold == wanted)


def _emit_any_bits(builder: Any, text: Any, pos: Any, bits: Any) -> Any:
    block = _load(builder, text, pos, _BYTES)
    common = builder.and_(block, _splat(builder, builder.trunc(bits, _I8), BLOCK))
    return _to_mask(builder, builder.icmp_unsigned("!=", common, _all_lanes(_BYTES, 0)))


@primitive(MASK, ARRAY, INT, INT, emit=_emit_any_bits)
def any_bits_mask(text: U8, pos: int, bits: int) -> u64:
    """Return the mask of the bytes that share a bit with `bits` in the 64 bytes at pos."""
    return _mask_where(text, pos, lambda byte: byte & bits != 0)


def _emit_choose(builder: Any, mask: Any, one: Any, other: Any, out: Any, at: Any) -> None:
    bytes_ = (_splat(builder, builder.trunc(byte, _I8), BLOCK) for byte in (one, other))
    lanes = builder.bitcast(mask, ir.VectorType(_I1, BLOCK))
    _store(builder, builder.select(lanes, *bytes_), out, at)


@primitive(NOTHING, MASK, INT, INT, ARRAY, INT, emit=_emit_choose)
def choose_bytes(mask: u64, one: int, other: int, out: U8, at: int) -> None:
    """Write 64 bytes to out[at:]: `one` where the mask is set, `other` elsewhere."""
    out[at : at + BLOCK] = [one if int(mask) >> k & 1 else other for k in range(BLOCK)]


def _mask_where(text: U8, pos: int, belongs: Any) -> u64:
    return u64(sum(1 << k for k in range(BLOCK) if belongs(int(text[pos + k]))))


# --- bits of one u64 -----------------------------------------------------------------------------


def _emit_trailing(builder: Any, mask: Any) -> Any:
    return _call(builder, "llvm.cttz.i64", _I64, mask, _I1(0))  # 0: an empty mask gives 64


@primitive(INT, MASK, emit=_emit_trailing)
def count_trailing_zeros(mask: u64) -> int:
    """Return the index of the lowest set bit; 64 for an empty mask."""
    bits = int(mask)
    return i64((bits & -bits).bit_length() - 1 if bits else 64)


def _emit_leading(builder: Any, mask: Any) -> Any:
    return builder.sub(_I64(63), _call(builder, "llvm.ctlz.i64", _I64, mask, _I1(0)))


@primitive(INT, MASK, emit=_emit_leading)
def highest_bit(mask: u64) -> int:
    """Return the index of the highest set bit; -1 for an empty mask."""
    return i64(int(mask).bit_length() - 1)


def _emit_popcount(builder: Any, mask: Any) -> Any:
    return _call(builder, "llvm.ctpop.i64", _I64, mask)


@primitive(INT, MASK, emit=_emit_popcount)
def popcount(mask: u64) -> int:
    """Return the number of set bits."""
    return i64(int(mask).bit_count())


def _emit_clear_lowest(builder: Any, mask: Any) -> Any:
    return builder.and_(mask, builder.sub(mask, _I64(1)))


@primitive(MASK, MASK, emit=_emit_clear_lowest)
def clear_lowest_bit(mask: u64) -> u64:
    """Return the mask without its lowest set bit."""
    bits = int(mask)
    return u64(bits & (bits - 1) if bits else 0)


def _emit_low_bits(builder: Any, count: Any) -> Any:
    in_range = builder.icmp_unsigned("<", count, _I64(64))  # a shift by 64 is poison in LLVM
    partial = builder.sub(builder.shl(_I64(1), builder.and_(count, _I64(63))), _I64(1))
    return builder.select(in_range, partial, _I64(-1))


@primitive(MASK, INT, emit=_emit_low_bits)
def low_bits(count: int) -> u64:
    """Return the mask of the lowest `count` bits, 0 <= count <= 64."""
    return u64((1 << int(count)) - 1)


def _emit_fill_runs(builder: Any, seeds: Any, members: Any) -> Any:
    """Add, so that a carry clears a run from its seed on."""
    return builder.and_(members, builder.not_(builder.add(members, seeds)))


@primitive(MASK, MASK, MASK, emit=_emit_fill_runs)
def fill_runs(seeds: u64, members: u64) -> u64:
    """Return the runs of members whose first bit is a seed; no other bit may be one.

    members  1 1 0 1 1 1 0     seeds  1 0 0 0 0 0 0     result  1 1 0 0 0 0 0
    """
    return u64(int(members) & ~(int(members) + int(seeds)) & ALL_BITS)


def _emit_multiply(builder: Any, left: Any, right: Any) -> Any:
    return builder.mul(left, right)


@primitive(MASK, MASK, MASK, emit=_emit_multiply)
def wrapping_multiply(left: u64, right: u64) -> u64:
    """Return the product modulo 2**64; NumPy scalars would warn on the wrap."""
    return u64(int(left) * int(right) & ALL_BITS)


def _emit_natural(builder: Any, number: Any) -> Any:
    _call(builder, "llvm.assume", ir.VoidType(), builder.icmp_signed(">=", number, _I64(0)))
    return number


@primitive(INT, INT, emit=_emit_natural)
def natural(number: int) -> int:
    """Return the number, promised not to be negative.

    Numba lets array[-1] mean the last element; the promise removes that test from array[number].
    """
    assert number >= 0
    return number


# --- memory --------------------------------------------------------------------------------------


def _emit_load_u64(builder: Any, text: Any, pos: Any) -> Any:
    return _load(builder, text, pos, _I64)


@primitive(MASK, ARRAY, INT, emit=_emit_load_u64)
def load_u64(text: U8, pos: int) -> u64:
    """Return the eight bytes at pos, the first one lowest."""
    return u64(int.from_bytes(text[pos : pos + 8].tobytes(), "little"))


def _emit_store_u64(builder: Any, value: Any, text: Any, pos: Any) -> None:
    _store(builder, value, text, pos)


@primitive(NOTHING, MASK, ARRAY, INT, emit=_emit_store_u64)
def store_u64(value: u64, text: U8, pos: int) -> None:
    """Write eight bytes to text[pos:], the lowest one first."""
    text[pos : pos + 8] = memoryview(int(value).to_bytes(8, "little"))


@primitive(MASK, ARRAY, INT, emit=_emit_load_u64)
def load_two(numbers: U32, at: int) -> u64:
    """Return numbers[at] and numbers[at + 1] as the low and the high half of a u64."""
    return u64(int(numbers[at]) | int(numbers[at + 1]) << 32)


def _emit_store_two(builder: Any, value: Any, numbers: Any, at: Any) -> None:
    _store(builder, value, numbers, at)


@primitive(NOTHING, MASK, ARRAY, INT, emit=_emit_store_two)
def store_two(value: u64, numbers: U32, at: int) -> None:
    """Write the low and the high half of a u64 to numbers[at] and numbers[at + 1]."""
    numbers[at], numbers[at + 1] = int(value) & 0xFFFF_FFFF, int(value) >> 32


KEY_BYTES = 15  # a longer pretoken has no key
LONG_KEY = ALL_BITS  # key_high of a pretoken without a key
_EIGHT = ir.VectorType(_I64, 8)


def _emit_pack_eight_keys(
    builder: Any, text: Any, starts: Any, first: Any, key_low: Any, key_high: Any
) -> None:
    """Take sixteen bytes of each of eight pretokens, cut to its length, and append that."""
    start = _load_widened(builder, starts, first)
    length = builder.sub(_load_widened(builder, starts, builder.add(first, _I64(1))), start)
    low, high = _sixteen_bytes(builder, text, starts, first)

    ones, zeros, eight = (_all_lanes(_EIGHT, n) for n in (ALL_BITS, 0, 8))
    bits = builder.and_(builder.shl(length, _all_lanes(_EIGHT, 3)), _all_lanes(_EIGHT, 63))
    partial = builder.not_(builder.shl(ones, bits))  # bytes 0 ... length % 8
    whole = builder.icmp_unsigned(">=", length, eight)
    low = builder.and_(low, builder.select(whole, ones, partial))
    high = builder.and_(high, builder.select(whole, partial, zeros))
    high = builder.or_(high, builder.shl(length, _all_lanes(_EIGHT, 56)))

    long = builder.icmp_unsigned(">", length, _all_lanes(_EIGHT, KEY_BYTES))
    _store(builder, builder.select(long, zeros, low), key_low, first)
    _store(builder, builder.select(long, ones, high), key_high, first)


def _load_widened(builder: Any, numbers: Any, first: Any) -> Any:
    """Load eight u32 as u64."""
    return builder.zext(_load(builder, numbers, first, ir.VectorType(_I32, 8)), _EIGHT)


def _sixteen_bytes(builder: Any, text: Any, starts: Any, first: Any) -> tuple[Any, Any]:
    """Load sixteen bytes at each of eight positions; return the first eight of all, and the rest.

    By eight loads and eight shuffles: 2.5 ms for the keys of 4 MB, 2.9 by two gathers (Zen 4).
    """
    rows = []
    for k in range(8):
        at = builder.zext(_load(builder, starts, builder.add(first, _I64(k)), _I32), _I64)
        rows.append(_load(builder, text, at, ir.VectorType(_I64, 2)))
    while len(rows) > 2:
        n = rows[0].type.count // 2
        order = [*range(n), *range(2 * n, 3 * n), *range(n, 2 * n), *range(3 * n, 4 * n)]
        rows = [_shuffle(builder, a, b, order) for a, b in zip(rows[::2], rows[1::2], strict=True)]
    one, other = rows
    low = _shuffle(builder, one, other, [0, 1, 2, 3, 8, 9, 10, 11])
    high = _shuffle(builder, one, other, [4, 5, 6, 7, 12, 13, 14, 15])
    return low, high


def _shuffle(builder: Any, one: Any, other: Any, order: list[int]) -> Any:
    mask = ir.Constant(ir.VectorType(_I32, len(order)), order)
    return builder.shuffle_vector(one, other, mask)


@primitive(NOTHING, ARRAY, ARRAY, INT, ARRAY, ARRAY, emit=_emit_pack_eight_keys)
def pack_eight_keys(text: U8, starts: U32, first: int, key_low: U64, key_high: U64) -> None:
    """Write the keys of pretokens first ... first + 7; pretoken i is starts[i] : starts[i + 1].

    "token"   key_low  t o k e n 0 0 0    key_high  0 0 0 0 0 0 0 5
    More than 15 bytes: key_low 0, key_high LONG_KEY.
    """
    for i in range(first, first + 8):
        start, end = int(starts[i]), int(starts[i + 1])
        if 0 <= end - start <= KEY_BYTES:
            packed = bytes(text[start:end]).ljust(KEY_BYTES, b"\0") + bytes([end - start])
            key_low[i] = int.from_bytes(packed[:8], "little")
            key_high[i] = int.from_bytes(packed[8:], "little")
        else:
            key_low[i], key_high[i] = 0, LONG_KEY


def _emit_prefetch(builder: Any, array: Any, index: Any) -> Any:
    address = builder.gep(array, [index])
    address = builder.bitcast(address, _I8.as_pointer())
    return _call(builder, "llvm.prefetch.p0", ir.VoidType(), address, _I32(0), _I32(3), _I32(1))


@primitive(NOTHING, ARRAY, INT, emit=_emit_prefetch)
def prefetch(array: U32 | U64, index: int) -> None:
    """Bring the cache line of array[index] closer; no effect on any result."""


def _emit_stream(builder: Any, source: Any, at: Any, target: Any, to: Any) -> Any:
    kind = ir.VectorType(_I32, LANES)
    address = builder.bitcast(builder.gep(target, [to]), kind.as_pointer())
    store = builder.store(_load(builder, source, at, kind), address, align=64)
    store.set_metadata("nontemporal", builder.module.add_metadata([_I32(1)]))


@primitive(NOTHING, ARRAY, INT, ARRAY, INT, emit=_emit_stream)
def stream_sixteen(source: U32, at: int, target: U32, to: int) -> None:
    """Copy sixteen u32 past the caches, to a multiple of 64 bytes."""
    target[to : to + LANES] = source[at : at + LANES]


def _emit_write_positions(builder: Any, mask: Any, base: Any, out: Any, at: Any) -> Any:
    """Squeeze the byte vector 0, 1, ... 63 to the set bits, widen it, add base.

    mask  0 1 1 0 1 0 ...     compressed  1 2 4 . . .     out  base+1 base+2 base+4 . .
    """
    count = _emit_popcount(builder, mask)
    indexes, zeros = _BYTES(list(range(BLOCK))), _all_lanes(_BYTES, 0)
    lanes = builder.bitcast(mask, ir.VectorType(_I1, BLOCK))
    name = "llvm.experimental.vector.compress.v64i8"
    compressed = _call(builder, name, _BYTES, indexes, lanes, zeros)
    bases = _splat(builder, builder.trunc(base, _I32), LANES)
    _store_widened(builder, compressed, 0, bases, out, at)
    with builder.if_then(builder.icmp_unsigned(">", count, _I64(16)), likely=False):
        for group in (1, 2, 3):
            _store_widened(builder, compressed, group, bases, out, at)
    return count


def _store_widened(builder: Any, block: Any, group: int, bases: Any, out: Any, at: Any) -> None:
    """Store bytes 16 * group ... of a block as u32 numbers, each plus its base."""
    lanes = ir.VectorType(_I32, LANES)([LANES * group + lane for lane in range(LANES)])
    part = builder.shuffle_vector(block, _BYTES(ir.Undefined), lanes)
    numbers = builder.add(builder.zext(part, ir.VectorType(_I32, LANES)), bases)
    _store(builder, numbers, out, builder.add(at, _I64(LANES * group)))


@primitive(INT, MASK, INT, ARRAY, INT, emit=_emit_write_positions)
def write_positions(mask: u64, base: int, out: U32, at: int) -> int:
    """Write base + k for every set bit k to out[at:]; return their number.

    Writes: up to 64 elements, of which those after the returned number mean nothing.
    """
    positions = [base + k for k in range(BLOCK) if int(mask) >> k & 1]
    out[at : at + len(positions)] = positions
    return i64(len(positions))


def _emit_find_slot(builder: Any, buckets: Any, first: Any, key: Any) -> Any:
    bucket = _load(builder, buckets, first, ir.VectorType(_I64, SLOTS))
    keys = builder.lshr(bucket, _all_lanes(bucket.type, RANK_BITS))
    equal = builder.bitcast(builder.icmp_unsigned("==", keys, _splat(builder, key, SLOTS)), _I8)
    guarded = builder.or_(builder.zext(equal, _I64), _I64(1 << SLOTS))  # no match: bit 8 is first
    return _emit_trailing(builder, guarded)


@primitive(INT, ARRAY, INT, MASK, emit=_emit_find_slot)
def find_slot(buckets: U64, first: int, key: u64) -> int:
    """Return which of the slots buckets[first : first + 8] holds the key; 8 if none."""
    keys = [int(slot) >> RANK_BITS for slot in buckets[first : first + SLOTS]]
    return i64(keys.index(int(key)) if int(key) in keys else SLOTS)


def _emit_minimum(builder: Any, values: Any, first: Any) -> Any:
    kind = ir.VectorType(_I32, LANES)
    vector = _load(builder, values, first, kind)
    least = _call(builder, "llvm.vector.reduce.umin.v16i32", _I32, vector)
    return builder.zext(least, _I64)


@primitive(INT, ARRAY, INT, emit=_emit_minimum)
def minimum_of_sixteen(values: U32, first: int) -> int:
    """Return the least of values[first : first + 16]."""
    return i64(values[first : first + LANES].min())


def _emit_copy(builder: Any, source: Any, at: Any, target: Any, to: Any, count: Any) -> Any:
    pointers = (builder.gep(target, [to]), builder.gep(source, [at]))
    name = "llvm.memmove.p0.p0.i64"
    return _call(builder, name, ir.VoidType(), *pointers, count, _I1(0))


@primitive(NOTHING, ARRAY, INT, ARRAY, INT, INT, emit=_emit_copy)
def copy_bytes(source: U8, at: int, target: U8, to: int, count: int) -> None:
    """Copy source[at : at + count] to target[to:]."""
    target[to : to + count] = source[at : at + count].copy()


def _emit_narrow(builder: Any, units: Any, at: Any, text: Any, to: Any) -> Any:
    block = _load(builder, units, at, ir.VectorType(units.type.pointee, UNITS))
    narrow = ir.VectorType(_I8, UNITS)
    _store(builder, block if block.type == narrow else builder.trunc(block, narrow), text, to)
    wide = builder.icmp_unsigned(">=", block, _all_lanes(block.type, 0x80))
    mask = builder.zext(builder.bitcast(wide, _I32), _I64)
    return _emit_trailing(builder, builder.or_(mask, _I64(1 << UNITS)))


@primitive(INT, ARRAY, INT, ARRAY, INT, emit=_emit_narrow)
def narrow_ascii(units: U8 | U16 | U32, at: int, text: U8, to: int) -> int:
    """Write the ASCII units before the first other one of units[at : at + 32] to text[to:].

    Return how many these are. Writes: 32 bytes, of which those after them mean nothing.
    """
    block = units[at : at + UNITS].astype(np.int64)
    text[to : to + UNITS] = block.astype(np.uint8)
    return i64(np.append(block >= 0x80, True).argmax())


def _emit_utf8(builder: Any, units: Any, at: Any, text: Any, to: Any) -> Any:
    """Spread each character over the four bytes of a lane, then squeeze out those it lacks."""
    kind = ir.VectorType(_I32, LANES)
    block = _load(builder, units, at, ir.VectorType(units.type.pointee, LANES))
    character = block if block.type == kind else builder.zext(block, kind)

    def part(shift: int, lead: int, place: int) -> Any:
        bits = builder.lshr(character, _all_lanes(kind, shift))
        if lead == 0x80:
            bits = builder.and_(bits, _all_lanes(kind, 63))
        bits = builder.or_(bits, _all_lanes(kind, lead))
        return builder.shl(bits, _all_lanes(kind, 8 * place))

    def joined(*parts: Any) -> Any:
        return functools.reduce(builder.or_, parts)

    spread, valid = character, _all_lanes(kind, 1)
    for least, longer, valid_bytes in (
        (0x80, joined(part(6, 0xC0, 0), part(0, 0x80, 1)), 0x0101),
        (0x800, joined(part(12, 0xE0, 0), part(6, 0x80, 1), part(0, 0x80, 2)), 0x010101),
        (
            0x10000,
            joined(part(18, 0xF0, 0), part(12, 0x80, 1), part(6, 0x80, 2), part(0, 0x80, 3)),
            0x01010101,
        ),
    ):
        is_longer = builder.icmp_unsigned(">=", character, _all_lanes(kind, least))
        spread = builder.select(is_longer, longer, spread)
        valid = builder.select(is_longer, _all_lanes(kind, valid_bytes), valid)
    lanes = builder.icmp_unsigned("!=", builder.bitcast(valid, _BYTES), _all_lanes(_BYTES, 0))
    name = "llvm.experimental.vector.compress.v64i8"
    zeros = _all_lanes(_BYTES, 0)
    _store(
        builder,
        _call(builder, name, _BYTES, builder.bitcast(spread, _BYTES), lanes, zeros),
        text,
        to,
    )
    high = builder.lshr(character, _all_lanes(kind, 11))
    surrogates = builder.icmp_unsigned("==", high, _all_lanes(kind, 0xD800 >> 11))
    is_none = builder.icmp_unsigned(
        "==", builder.bitcast(surrogates, ir.IntType(LANES)), ir.IntType(LANES)(0)
    )
    return builder.select(is_none, _emit_popcount(builder, _to_mask(builder, lanes)), _I64(-1))


@primitive(INT, ARRAY, INT, ARRAY, INT, emit=_emit_utf8)
def write_characters(units: U8 | U16 | U32, at: int, text: U8, to: int) -> int:
    """Write the UTF-8 of the characters units[at : at + 16] to text[to:]; return its size, or -1.

    -1: one is a surrogate. Writes: 64 bytes, of which those after the size mean nothing.
    """
    characters = units[at : at + LANES].tolist()
    if any(0xD800 <= character < 0xE000 for character in characters):
        return i64(-1)
    found = np.frombuffer("".join(map(chr, characters)).encode(), np.uint8)
    text[to : to + found.size] = found
    return i64(found.size)


def _emit_fill(builder: Any, target: Any, at: Any, value: Any, count: Any) -> Any:
    byte = builder.trunc(value, _I8)
    name = "llvm.memset.p0.i64"
    return _call(builder, name, ir.VoidType(), builder.gep(target, [at]), byte, count, _I1(0))


@primitive(NOTHING, ARRAY, INT, INT, INT, emit=_emit_fill)
def fill_bytes(target: U8, at: int, value: int, count: int) -> None:
    """Write `count` copies of a byte to target[at:]."""
    target[at : at + count] = value
