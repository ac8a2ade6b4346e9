r"""Which characters match which under `(?i:..)`: case folding of Unicode 16.0.

A literal character or a bracket class matches the case variants of its members, in Oniguruma and in
tiktoken's engine alike. Beyond that the engines differ (facts found by probing tokenizers 0.23.3):

- Oniguruma does not widen `\w` or `\p{..}` outside brackets: `(?i:\p{Lu})` does not match "a". In
  brackets it does. The complement of a class is that of the widened class. tiktoken's engine widens
  all of them.
- Oniguruma also equates a character with its full folding of two or three characters, both ways:
  `(?i:ss)` matches "ß", `(?i:ß)` and `(?i:[ß])` match "SS". The letters must be one literal run:
  `(?i:s{2})`, `(?i:(s)s)` and `(?i:ss?)` do not match "ß", `(?i:(?:s)s)` does. A partial folding
  never counts: `(?i:ffi)` matches U+FB03 but not U+FB00 "i".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from numbatok.unicode.properties import content


@cache
def _variants() -> Mapping[int, tuple[int, ...]]:
    """Return code point -> its case group, for the members of groups."""
    arrays = content().arrays
    groups: dict[int, list[int]] = {}
    code_points, numbers = arrays["case.code_points"].tolist(), arrays["case.groups"].tolist()
    for code_point, number in zip(code_points, numbers, strict=True):
        groups.setdefault(number, []).append(code_point)
    return {member: tuple(group) for group in groups.values() for member in group}


@cache
def _expansions() -> Mapping[int, tuple[int, ...]]:
    """Return code point -> its full case folding, for those that fold to several."""
    arrays = content().arrays
    targets = arrays["expansion.targets"].reshape(-1, 3).tolist()
    return {
        code_point: tuple(code for code in target if code)
        for code_point, target in zip(
            arrays["expansion.code_points"].tolist(), targets, strict=True
        )
    }


def case_variants(code_point: int) -> tuple[int, ...]:
    """Return the code points that a literal `code_point` matches under `(?i:..)`, itself included.

    Sorted: ord("s") gives (0x53, 0x73, 0x17F).
    """
    return _variants().get(code_point, (code_point,))


def case_expansion(code_point: int) -> tuple[int, ...]:
    """Return the two or three code points of the full case folding, or () if it has none.

    Only 104 characters have one: U+00DF gives (0x73, 0x73).
    """
    return _expansions().get(code_point, ())


def expanding_characters() -> tuple[int, ...]:
    """Return the code points that have a full case folding of two or three."""
    return tuple(_expansions())


def close_under_case(members: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return `members` (bool[CODE_POINTS]) with the case variants of every member."""
    arrays = content().arrays
    code_points, groups = arrays["case.code_points"], arrays["case.groups"]
    present = np.zeros(int(groups.max()) + 1, np.bool_)
    present[groups[members[code_points]]] = True
    closed = members.copy()
    closed[code_points] |= present[groups]
    return closed
