"""The normalization tables of Unicode 9.0, lowercase of 17.0 and accents of 9.0.

Fields and meaning: `numbatok/unicode/normalization.py`.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import unicodedata2
from numpy.typing import NDArray
from unicode_sources import CODE_POINTS, Normalization9, members, read_version

HANGUL = range(0xAC00, 0xAC00 + 11_172)
VOWELS = range(0x1161, 0x1176)
TRAILING = range(0x11A8, 0x11C3)

Sequence = tuple[int, ...]


class Decompositions:
    """Full canonical and compatibility decompositions, without the Hangul syllables."""

    def __init__(self, source: Normalization9) -> None:
        self.combining = source.combining
        raw = {code: source.decomposition(code) for code in range(CODE_POINTS)}
        self._mappings = {code: pair for code, pair in raw.items() if pair[1]}
        self.canonical = self._all(False)
        self.compatibility = self._all(True)

    def _expand(self, code: int, compatibility: bool) -> list[int]:
        is_canonical, mapping = self._mappings.get(code, (False, []))
        if not (is_canonical or (compatibility and mapping)):
            return [code]
        return [part for child in mapping for part in self._expand(child, compatibility)]

    def _all(self, compatibility: bool) -> dict[int, Sequence]:
        expanded = {code: self._expand(code, compatibility) for code in self._mappings}
        return {code: self._order(e) for code, e in expanded.items() if e != [code]}

    def _order(self, code_points: list[int]) -> Sequence:
        """Sort every run of non-starters by combining class, keeping the order of equals."""
        result: list[int] = []
        run: list[int] = []
        for code in [*code_points, 0]:
            if self.combining[code]:
                run.append(code)
                continue
            result += [*sorted(run, key=lambda mark: int(self.combining[mark])), code]
            run = []
        return tuple(result[:-1])

    def pairs(self, excluded: NDArray[np.bool_]) -> dict[tuple[int, int], int]:
        """Return (first, second) -> composite, Hangul left out."""
        return {
            (mapping[0], mapping[1]): code
            for code, (is_canonical, mapping) in self._mappings.items()
            if is_canonical and len(mapping) == 2 and not excluded[code]
        }


def check_against_16(table: Decompositions, assigned: NDArray[np.bool_]) -> None:
    """Unicode never changes these for an assigned character: 16.0 must say what 9.0 says."""
    for code in range(CODE_POINTS):
        if code in HANGUL or 0xD800 <= code < 0xE000:
            continue
        for form, known in (("NFD", table.canonical), ("NFKD", table.compatibility)):
            text = unicodedata2.normalize(form, chr(code)) if assigned[code] else chr(code)
            if tuple(map(ord, text)) != known.get(code, (code,)):
                raise SystemExit(f"{form} of U+{code:04X} differs between Unicode 9.0 and 16.0")
        if assigned[code] and unicodedata2.combining(chr(code)) != table.combining[code]:
            raise SystemExit(f"combining class of U+{code:04X} differs between 9.0 and 16.0")


def quick_checks(
    table: Decompositions, excluded: NDArray[np.bool_], pairs: dict[tuple[int, int], int]
) -> NDArray[np.uint8]:
    """Return the bits that say in which forms a character may change."""
    flags = np.zeros(CODE_POINTS, np.uint8)
    flags[excluded] |= 1 | 4
    combines = sorted({second for _, second in pairs} | {*VOWELS, *TRAILING})
    flags[combines] |= 1 | 4 | 16
    flags[[*table.canonical, *HANGUL]] |= 2
    flags[[*table.compatibility, *HANGUL]] |= 8
    # NFKC changes what decomposes further for compatibility than canonically.
    canonical = table.canonical
    flags[[c for c, full in table.compatibility.items() if full != canonical.get(c)]] |= 4
    return flags


def lowercase(sources: Path) -> dict[int, Sequence]:
    """Return the unconditional lowercase mapping of Unicode 17.0, one character each but one."""
    data = read_version(sources, 17, "Simple_Case_Mapping", "Special_Casing")
    mapping = {code: (target,) for code, target in data["Simple_Case_Mapping"]["Lowercase"]}
    mapping |= {code: tuple(full) for code, full in data["Special_Casing"]["Lowercase"]}
    return {code: full for code, full in mapping.items() if full != (code,)}


class Paged:
    """Columns over all code points, in pages of 256 of which equal ones are kept once."""

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        split = [column.reshape(-1, 256) for column in columns.values()]
        first: dict[bytes, int] = {}
        keys = [b"".join(column[page].tobytes() for column in split) for page in range(0x1100)]
        numbers = [first.setdefault(key, len(first)) for key in keys]
        kept = [keys.index(key) for key in first]
        self.arrays: dict[str, NDArray[Any]] = {"pages": np.array(numbers, np.uint8)}
        for name, column in zip(columns, split, strict=True):
            self.arrays[name] = column[kept].reshape(-1)
        if len(first) > 256:
            raise SystemExit(f"{len(first)} different pages do not fit uint8 page numbers")


def sequence_numbers(
    mapping: dict[int, Sequence], numbers: defaultdict[Sequence, int]
) -> NDArray[np.uint16]:
    """Return the number of each code point's sequence, 0 for one that does not change."""
    column = np.zeros(CODE_POINTS, np.uint16)
    for code, sequence in mapping.items():
        column[code] = numbers[sequence]
    return column


def normalization_file(sources: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays of unicode-normalization.bin."""
    data = read_version(sources, 9, "General_Category", "Binary_Property")
    table = Decompositions(Normalization9(sources))
    check_against_16(table, ~members(data["General_Category"]["Unassigned"]))
    excluded = members(data["Binary_Property"]["Full_Composition_Exclusion"])
    pairs = table.pairs(excluded)
    flags = quick_checks(table, excluded, pairs)
    flags[members(data["General_Category"]["Mark"])] |= 32
    numbers: defaultdict[Sequence, int] = defaultdict(lambda: len(numbers))
    numbers[()] = 0
    columns = {
        "flags": flags,
        "combining": table.combining,
        "canonical": sequence_numbers(table.canonical, numbers),
        "compatibility": sequence_numbers(table.compatibility, numbers),
        "lowercase": sequence_numbers(lowercase(sources), numbers),
    }
    keys = sorted(pairs)
    return {"normalization": "9.0.0", "lowercase": "17.0.0", "accents": "9.0.0"}, {
        **Paged(columns).arrays,
        "sequence_offsets": np.cumsum([0, *map(len, numbers)]).astype(np.uint16),
        "sequences": np.array([code for sequence in numbers for code in sequence], np.uint32),
        "pair_keys": np.array([first << 32 | second for first, second in keys], np.uint64),
        "pair_composites": np.array([pairs[key] for key in keys], np.uint32),
    }
