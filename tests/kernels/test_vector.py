"""Every primitive, compiled, equals its plain twin."""

import inspect

import numba
import numpy as np
import pytest

from numbatok import vector
from numbatok._jit import INTERPRETED, i64, u64
from numbatok.tables import RANK_BITS

MASK_NAMES = ["letter_mask", "digit_mask", "white_space_mask", "non_ascii_mask"]
BIT_NAMES = ["count_trailing_zeros", "highest_bit", "popcount", "clear_lowest_bit"]
rng = np.random.default_rng(20261129)
pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted, a primitive is its twin")


def compiled(primitive):
    """Wrap a primitive in a compiled function of the same arguments, so that a test can call it."""
    names = ", ".join(inspect.signature(primitive.plain).parameters)
    scope = {"primitive": primitive}
    exec(f"def call({names}): return primitive({names})", scope)
    return numba.njit(scope["call"])


def masks():
    edge = [0, 1, 1 << 63, (1 << 64) - 1, 0x8000_0000_0000_0001, 0xAAAA_AAAA_AAAA_AAAA]
    return [u64(m) for m in edge] + list(rng.integers(0, 1 << 64, 300, dtype=np.uint64))


@pytest.mark.parametrize("name", MASK_NAMES)
def test_masks_of_every_byte_at_every_offset(name):
    primitive = getattr(vector, name)
    call = compiled(primitive)
    text = np.tile(np.arange(256, dtype=np.uint8), 2)
    for pos in range(256):
        assert primitive.plain(text, pos) == call(text, pos)


def test_byte_mask():
    call = compiled(vector.byte_mask)
    text = rng.integers(0, 256, 640, dtype=np.uint8)
    for pos in range(512):
        assert vector.byte_mask.plain(text, pos, 39) == call(text, pos, 39)


@pytest.mark.parametrize("first, last", [(0, 255), (0x80, 0xBF), (0xC2, 0xDF), (0x41, 0x41)])
def test_range_mask(first, last):
    call = compiled(vector.range_mask)
    text = rng.permutation(np.tile(np.arange(256, dtype=np.uint8), 3))
    for pos in range(0, 700, 7):
        assert vector.range_mask.plain(text, pos, first, last) == call(text, pos, first, last)


@pytest.mark.parametrize("fold, wanted", [(0x20, ord("s")), (0, ord("S")), (0, 0xC5)])
def test_folded_mask(fold, wanted):
    call = compiled(vector.folded_mask)
    text = rng.permutation(np.tile(np.arange(256, dtype=np.uint8), 3))
    for pos in range(0, 700, 7):
        assert vector.folded_mask.plain(text, pos, fold, wanted) == call(text, pos, fold, wanted)


@pytest.mark.parametrize("bits", [1, 0x80, 0x22, 0xFF])
def test_any_bits_mask(bits):
    call = compiled(vector.any_bits_mask)
    text = rng.permutation(np.tile(np.arange(256, dtype=np.uint8), 3))
    for pos in range(0, 700, 7):
        assert vector.any_bits_mask.plain(text, pos, bits) == call(text, pos, bits)


def test_choose_bytes():
    call = compiled(vector.choose_bytes)
    for mask in masks():
        expected, actual = np.zeros(100, np.uint8), np.zeros(100, np.uint8)
        vector.choose_bytes.plain(mask, 7, 200, expected, 3)
        call(mask, 7, 200, actual, 3)
        assert expected.tolist() == actual.tolist()
        assert actual[:3].sum() == actual[67:].sum() == 0


def test_fill_runs():
    call = compiled(vector.fill_runs)
    for members in masks():
        firsts = int(members) & ~(int(members) << 1)
        for chosen in masks()[:20]:
            seeds = u64(firsts & int(chosen))
            result = int(call(seeds, members))
            assert vector.fill_runs.plain(seeds, members) == result
            assert result & ~(result << 1) == int(seeds)  # the runs that start at a seed
            assert result & ~int(members) == 0


@pytest.mark.parametrize("name", BIT_NAMES)
def test_bits(name):
    primitive = getattr(vector, name)
    call = compiled(primitive)
    for mask in masks():
        assert primitive.plain(mask) == call(mask)


def test_low_bits():
    call = compiled(vector.low_bits)
    assert [vector.low_bits.plain(n) for n in range(65)] == [call(n) for n in range(65)]


def test_wrapping_multiply():
    call = compiled(vector.wrapping_multiply)
    for mask in masks():
        assert vector.wrapping_multiply.plain(mask, mask | u64(1)) == call(mask, mask | u64(1))


def test_load_u64():
    call = compiled(vector.load_u64)
    text = rng.integers(0, 256, 100, dtype=np.uint8)
    for pos in range(92):
        assert vector.load_u64.plain(text, pos) == call(text, pos)


def test_write_positions():
    call = compiled(vector.write_positions)
    expected, actual = np.zeros(200, np.uint32), np.zeros(200, np.uint32)
    for mask in masks():
        count = vector.write_positions.plain(mask, 1000, expected, 3)
        assert count == call(mask, 1000, actual, 3)
        assert expected[3 : 3 + count].tolist() == actual[3 : 3 + count].tolist()


def test_find_slot():
    call = compiled(vector.find_slot)
    buckets = rng.integers(0, 1 << 64, 64, dtype=np.uint64)
    keys = [u64(int(slot) >> RANK_BITS) for slot in buckets] + [u64(5)]
    for first in range(0, 64, 8):
        for key in keys:
            assert vector.find_slot.plain(buckets, first, key) == call(buckets, first, key)


def test_minimum_of_sixteen():
    call = compiled(vector.minimum_of_sixteen)
    values = rng.integers(0, 1 << 32, 64, dtype=np.uint32)
    for first in range(48):
        assert vector.minimum_of_sixteen.plain(values, first) == call(values, i64(first))


def test_pack_eight_keys():
    call = compiled(vector.pack_eight_keys)
    text = rng.integers(0, 256, 400, dtype=np.uint8)
    starts = np.cumsum(rng.integers(0, 20, 33), dtype=np.uint32)  # lengths 0 to 19
    expected, actual = np.zeros((2, 32), np.uint64), np.zeros((2, 32), np.uint64)
    for first in range(0, 32, 8):
        vector.pack_eight_keys.plain(text, starts, first, *expected)
        call(text, starts, first, *actual)
    assert expected.tolist() == actual.tolist()
    assert len(set(expected[1].tolist())) > 10


def test_two_at_once():
    load, store = compiled(vector.load_two), compiled(vector.store_two)
    numbers = rng.integers(0, 1 << 32, 10, dtype=np.uint32)
    copy = numbers.copy()
    for at in range(8):
        assert vector.load_two.plain(numbers, at) == load(numbers, at)
        vector.store_two.plain(u64(at << 40 | 7), numbers, at)
        store(u64(at << 40 | 7), copy, at)
    assert numbers.tolist() == copy.tolist()


def test_copy_and_fill():
    copy, fill = compiled(vector.copy_bytes), compiled(vector.fill_bytes)
    text = rng.integers(0, 256, 300, dtype=np.uint8)
    for count in (0, 1, 7, 64, 200):
        expected, actual = np.zeros(300, np.uint8), np.zeros(300, np.uint8)
        vector.copy_bytes.plain(text, 5, expected, 9, count)
        copy(text, 5, actual, 9, count)
        vector.fill_bytes.plain(expected, 50, 32, count)
        fill(actual, 50, 32, count)
        assert expected.tolist() == actual.tolist()


def test_highest_bit_and_natural():
    highest, natural = compiled(vector.highest_bit), compiled(vector.natural)
    for bit in range(64):
        assert bit == highest(u64(1 << bit)) == vector.highest_bit.plain(u64(1 << bit))
    assert natural(7) == vector.natural.plain(7) == 7


@pytest.mark.parametrize(
    "dtype, most", [(np.uint8, 256), (np.uint16, 1 << 16), (np.uint32, 0x110000)]
)
def test_code_units_to_utf8(dtype, most):
    narrow, write = compiled(vector.narrow_ascii), compiled(vector.write_characters)
    for share in (0.0, 0.05, 0.5, 1.0):
        for _ in range(100):
            units = rng.integers(0, 128, 64).astype(dtype)
            wide = rng.random(64) < share
            units[wide] = rng.integers(0, most, int(wide.sum())).astype(dtype)
            found, wanted = np.zeros(200, np.uint8), np.zeros(200, np.uint8)
            count = narrow(units, i64(7), found, i64(3))
            assert count == vector.narrow_ascii.plain(units, 7, wanted, 3)
            assert (found[: 3 + count] == wanted[: 3 + count]).all()
            size = write(units, i64(9), found, i64(5))
            assert size == vector.write_characters.plain(units, 9, wanted, 5)
            assert (found[5 : 5 + size] == wanted[5 : 5 + max(size, 0)]).all() or size < 0


def test_stream_sixteen():
    call = compiled(vector.stream_sixteen)
    room = np.zeros(64 + 16, np.uint32)
    at = -(room.ctypes.data // 4) % 16  # where 64 bytes begin
    source = rng.integers(0, 1 << 32, 40, dtype=np.uint32)
    for first in range(20):
        for k in range(3):
            call(source, i64(first), room, i64(at + 16 * k))
            assert (room[at + 16 * k : at + 16 * k + 16] == source[first : first + 16]).all()
    assert not room[:at].any() and not room[at + 48 :].any()
