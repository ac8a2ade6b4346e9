"""Tables of the normalizers: NFC, NFD, NFKC, NFKD of Unicode 9.0, Lowercase, StripAccents.

Hugging Face's library normalizes by data of Unicode 9.0, so what was assigned later is inert, and
Python's `unicodedata.normalize` is not the same function. Its Lowercase maps each character alone
by Unicode 17.0: no final sigma, and U+0130 alone gives two characters. Its StripAccents removes the
marks (M) of Unicode 9.0, one by one, with no decomposition.

A code point's place in the columns is `place(tables, code_point)`; kernels write the same out.
Hangul syllables have flags but no sequence: they are decomposed and composed by arithmetic
(Unicode, section 3.12) over the HANGUL_ constants. Ill-formed bytes have no place: they are
inert starters.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.unicode.store import read

NORMALIZATION_VERSION = "9.0.0"
LOWERCASE_VERSION = "17.0.0"
ACCENTS_VERSION = "9.0.0"

NFC_CHANGES = 1
"""Flag: NFC may change it or what precedes it (quick check is No or Maybe)."""
NFD_CHANGES = 2
"""Flag: NFD changes it (quick check is No)."""
NFKC_CHANGES = 4
"""Flag: NFKC may change it or what precedes it (quick check is No or Maybe)."""
NFKD_CHANGES = 8
"""Flag: NFKD changes it (quick check is No)."""
COMBINES_BACKWARD = 16
"""Flag: it is the second of a pair that composes, Hangul vowels and trailing consonants too."""
IS_ACCENT = 32
"""Flag: StripAccents removes it."""

HANGUL_SYLLABLES = 0xAC00
"""First syllable: syllable = HANGUL_SYLLABLES + (leading * 21 + vowel) * 28 + trailing."""
HANGUL_LEADING = 0x1100
HANGUL_VOWELS = 0x1161
HANGUL_TRAILING = 0x11A7
"""One below the first trailing consonant: trailing 0 stands for none, and never composes."""
HANGUL_LEADING_COUNT = 19
HANGUL_VOWEL_COUNT = 21
HANGUL_TRAILING_COUNT = 28
HANGUL_SYLLABLE_COUNT = 11_172


class NormalizationTables(NamedTuple):
    """Read-only arrays. Columns have 256 places a page; sequences are numbered from 1.

    Decompositions are fully expanded and in canonical order. The longest sequence has 18 code
    points (U+FDFA), and in UTF-8 it is 11 times as long as its character.
    """

    pages: NDArray[np.uint8]  # [0x1100] page of the 256 code points from number << 8
    flags: NDArray[np.uint8]  # [places] the flags above
    combining: NDArray[np.uint8]  # [places] canonical combining class; 0 is a starter
    canonical: NDArray[np.uint16]  # [places] sequence of the canonical decomposition, 0: itself
    compatibility: NDArray[np.uint16]  # [places] of the compatibility decomposition, 0: itself
    lowercase: NDArray[np.uint16]  # [places] sequence of the lowercase, 0: itself
    sequence_offsets: NDArray[np.uint16]  # [sequences + 2] sequence n is [n] up to [n + 1]
    sequences: NDArray[np.uint32]  # code points of all sequences
    pair_keys: NDArray[np.uint64]  # [pairs] first << 32 | second, ascending; no Hangul
    pair_composites: NDArray[np.uint32]  # [pairs] what first and second compose to


@cache
def normalization_tables() -> NormalizationTables:
    """Return the tables, loaded on first use in about 1 ms and kept."""
    return NormalizationTables(**read("unicode-normalization.bin").arrays)


def place(tables: NormalizationTables, code_point: int) -> int:
    """Return the index of a code point in the columns of `tables`."""
    return int(tables.pages[code_point >> 8]) << 8 | code_point & 0xFF


def sequence(tables: NormalizationTables, number: int) -> tuple[int, ...]:
    """Return the code points of sequence `number`; () for 0, which stands for no change."""
    start, end = tables.sequence_offsets[number : number + 2]
    return tuple(tables.sequences[start:end].tolist())


def combining_class(code_point: int) -> int:
    """Return the canonical combining class, 0 for a starter."""
    tables = normalization_tables()
    return int(tables.combining[place(tables, code_point)])


def decomposition(code_point: int, compatibility: bool) -> tuple[int, ...]:
    """Return the full decomposition, () if there is none or it is a Hangul syllable."""
    tables = normalization_tables()
    column = tables.compatibility if compatibility else tables.canonical
    return sequence(tables, int(column[place(tables, code_point)]))


def composition(first: int, second: int) -> int | None:
    """Return what a pair composes to, None if it does not or is Hangul."""
    tables = normalization_tables()
    key = np.uint64(first << 32 | second)
    index = int(np.searchsorted(tables.pair_keys, key))
    if index == tables.pair_keys.size or tables.pair_keys[index] != key:
        return None
    return int(tables.pair_composites[index])


def lowercase(code_point: int) -> tuple[int, ...]:
    """Return what Lowercase makes of a character that it changes, () for another."""
    tables = normalization_tables()
    return sequence(tables, int(tables.lowercase[place(tables, code_point)]))


def is_accent(code_point: int) -> bool:
    """Return whether StripAccents removes a character."""
    tables = normalization_tables()
    return bool(tables.flags[place(tables, code_point)] & IS_ACCENT)
