"""A Unicode form of one stretch of text: decompose, put marks in order, compose (Unicode, 3.11)."""

from __future__ import annotations

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.utf8 import STRAY, point_within
from numbatok.tables import U8, U64, Changes, Stretch
from numbatok.unicode.normalization import (
    HANGUL_LEADING,
    HANGUL_LEADING_COUNT,
    HANGUL_SYLLABLE_COUNT,
    HANGUL_SYLLABLES,
    HANGUL_TRAILING,
    HANGUL_TRAILING_COUNT,
    HANGUL_VOWEL_COUNT,
    HANGUL_VOWELS,
)
from numbatok.vector import natural

KIND_SHIFT, POINT_MASK = 21, (1 << 21) - 1
NO_KIND = 256  # above every combining class
HALF = u64(32)


@kernel
def normalize_stretch(text: U8, start: int, stop: int, changes: Changes, work: Stretch) -> int:
    """Write text[start:stop] as the form has it to the work space; return how many bytes."""
    count = decompose(text, start, stop, changes, work)
    order(count, work)
    if changes.pair_keys.size > 0:
        count = compose(count, changes, work)
    size = i64(0)
    for k in range(count):
        size = put_point(i64(work.points[k]), work.out, size)
    return size


@kernel
def stays(text: U8, start: int, stop: int, changes: Changes) -> bool:
    """Tell whether text[start:stop] surely is as the form has it."""
    starter, last, at, is_next = i64(-1), i64(0), i64(start), True
    while at < stop:
        point, length = point_within(text, at, stop)
        place = place_of(point, changes)
        kind = i64(changes.combining[place])
        if changes.sequences[place] != 0 or is_syllable(point) or (kind != 0 and kind < last):
            return False
        if starter >= 0 and (is_next or last < kind) and composed(starter, point, changes) >= 0:
            return False
        is_next = kind == 0
        starter, last = point if is_next else starter, kind
        at += length
    return True


@part
def place_of(point: int, changes: Changes) -> int:
    """Return where a code point is in the columns of the tables."""
    return natural(i64(changes.places[point >> 8]) << 8 | point & 0xFF)


@part
def is_syllable(point: int) -> bool:
    """Tell whether a code point is a Hangul syllable."""
    return HANGUL_SYLLABLES <= point < HANGUL_SYLLABLES + HANGUL_SYLLABLE_COUNT


# --- decompose ------------------------------------------------------------------------------------


@kernel
def decompose(text: U8, start: int, stop: int, changes: Changes, work: Stretch) -> int:
    """Write the code points of text[start:stop], decomposed, and their classes; return how many."""
    count, at = i64(0), i64(start)
    while at < stop:
        point, length = point_within(text, at, stop)
        at += length
        number = natural(i64(changes.sequences[place_of(point, changes)]))
        if is_syllable(point):
            count = put_syllable(point - HANGUL_SYLLABLES, count, work)
        elif number == 0:
            count = put(point, count, changes, work)
        else:
            for k in range(i64(changes.offsets[number]), i64(changes.offsets[number + 1])):
                count = put(i64(changes.points[natural(k)]), count, changes, work)
    return count


@part
def put(point: int, count: int, changes: Changes, work: Stretch) -> int:
    """Append a code point; return how many there are."""
    work.points[count] = point
    work.kinds[count] = changes.combining[place_of(point, changes)]
    return count + 1


@kernel
def put_syllable(number: int, count: int, work: Stretch) -> int:
    """Append the two or three parts of a Hangul syllable, all of them starters."""
    rest, trailing = number // HANGUL_TRAILING_COUNT, number % HANGUL_TRAILING_COUNT
    work.points[count] = HANGUL_LEADING + rest // HANGUL_VOWEL_COUNT
    work.points[count + 1] = HANGUL_VOWELS + rest % HANGUL_VOWEL_COUNT
    work.points[count + 2] = HANGUL_TRAILING + trailing
    work.kinds[count], work.kinds[count + 1], work.kinds[count + 2] = 0, 0, 0
    return count + 2 + (trailing > 0)


# --- order ----------------------------------------------------------------------------------------


@kernel
def order(count: int, work: Stretch) -> None:
    """Sort each run of marks by class, equal ones staying in order."""
    start = i64(0)
    while start < count:
        end, in_order = start, True
        while end < count and work.kinds[end] != 0:
            in_order &= end == start or work.kinds[end - 1] <= work.kinds[end]
            end += 1
        if not in_order:
            sort_run(start, end, work)
        start = end + 1


@kernel
def sort_run(start: int, end: int, work: Stretch) -> None:
    """Sort a run of marks: once through it for each class that occurs, at most 55 of them."""
    kind, done = i64(1), i64(0)
    while kind < NO_KIND:
        following = i64(NO_KIND)
        for k in range(start, end):
            found = i64(work.kinds[k])
            if found == kind:
                work.sorted[done] = found << KIND_SHIFT | i64(work.points[k])
                done += 1
            elif kind < found < following:
                following = found
        kind = following
    for k in range(done):
        value = i64(work.sorted[k])
        work.points[start + k], work.kinds[start + k] = value & POINT_MASK, value >> KIND_SHIFT


# --- compose --------------------------------------------------------------------------------------


@kernel
def compose(count: int, changes: Changes, work: Stretch) -> int:
    """Compose each starter with what follows it and is not blocked from it; return how many."""
    starter, last, size = i64(-1), i64(0), i64(0)
    for k in range(count):
        point, kind = i64(work.points[k]), i64(work.kinds[k])
        if starter >= 0 and (starter == size - 1 or last < kind):
            made = composed(i64(work.points[natural(starter)]), point, changes)
            if made >= 0:
                work.points[natural(starter)] = made
                continue
        if kind == 0:
            starter = size
        last = kind
        work.points[size] = point
        size += 1
    return size


@kernel
def composed(first: int, second: int, changes: Changes) -> int:
    """Return the code point that two compose to, or -1."""
    if changes.pair_keys.size == 0:
        return i64(-1)
    syllable = composed_syllable(first, second)
    if syllable >= 0:
        return syllable
    key = u64(first) << HALF | u64(second)
    at = lower_bound(changes.pair_keys, key)
    if at < changes.pair_keys.size and changes.pair_keys[natural(at)] == key:
        return i64(changes.composites[natural(at)])
    return i64(-1)


@part
def composed_syllable(first: int, second: int) -> int:
    """Return the Hangul syllable that two code points compose to, or -1."""
    leading, vowel = first - HANGUL_LEADING, second - HANGUL_VOWELS
    if 0 <= leading < HANGUL_LEADING_COUNT and 0 <= vowel < HANGUL_VOWEL_COUNT:
        number = (leading * HANGUL_VOWEL_COUNT + vowel) * HANGUL_TRAILING_COUNT
        return HANGUL_SYLLABLES + number
    trailing = second - HANGUL_TRAILING
    if is_syllable(first) and 0 < trailing < HANGUL_TRAILING_COUNT:
        if (first - HANGUL_SYLLABLES) % HANGUL_TRAILING_COUNT == 0:
            return first + trailing
    return i64(-1)


@part
def lower_bound(keys: U64, key: u64) -> int:
    """Return how many of some ascending keys are less than a key."""
    low, high = i64(0), i64(keys.size)
    while low < high:
        middle = natural((low + high) >> 1)
        if keys[middle] < key:
            low = middle + 1
        else:
            high = i64(middle)
    return low


# --- UTF-8 ----------------------------------------------------------------------------------------


@part
def put_point(point: int, out: U8, at: int) -> int:
    """Write a code point as UTF-8, or the byte that it stands for; return where it ends."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point >> 8 == STRAY >> 8:
        out[at] = point & 0xFF
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | point >> 6
        at += 1
    else:
        if point < 0x10000:
            out[at] = 0xE0 | point >> 12
            at += 1
        else:
            out[at] = 0xF0 | point >> 18
            out[at + 1] = 0x80 | point >> 12 & 0x3F
            at += 2
        out[at] = 0x80 | point >> 6 & 0x3F
        at += 1
    out[at] = 0x80 | point & 0x3F
    return at + 1
