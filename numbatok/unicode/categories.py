"""What nearly every pattern needs: general categories, white space, Han. Loads in about 1 ms."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import InvalidValue
from numbatok.unicode.names import CATEGORY_NAMES
from numbatok.unicode.store import Content, read, set_of_runs, table_of_runs

GROUPS: dict[str, tuple[str, ...]] = {
    **{letter: tuple(name for name in CATEGORY_NAMES if name[0] == letter) for letter in "LMNPSZC"},
    "LC": ("Lu", "Ll", "Lt"),
    **{name: (name,) for name in CATEGORY_NAMES},
}
"""Name of a category or group of categories -> the categories in it."""


@cache
def _content() -> Content:
    return read("unicode-categories.bin")


@cache
def general_categories() -> NDArray[np.uint8]:
    """Return uint8[CODE_POINTS]: the place of each code point's category in CATEGORY_NAMES."""
    arrays = _content().arrays
    return table_of_runs(arrays["category.values"], arrays["category.lengths"])


@cache
def category(name: str) -> NDArray[np.bool_]:
    """Return bool[CODE_POINTS]: the members of a category ("Lu") or group ("L", "LC").

    Errors: InvalidValue for another name (long names: `oniguruma_property`).
    """
    if name not in GROUPS:
        raise InvalidValue(
            f"{name!r} is not a general category; use one of {', '.join(sorted(GROUPS))}"
        )
    inside = np.array([each in GROUPS[name] for each in CATEGORY_NAMES])
    table: NDArray[np.bool_] = inside[general_categories()]
    table.flags.writeable = False
    return table


@cache
def white_space() -> NDArray[np.bool_]:
    r"""Return bool[CODE_POINTS]: the 25 characters of White_Space, which is `\s` everywhere."""
    return set_of_runs(_content().arrays["white_space"])


@cache
def han() -> NDArray[np.bool_]:
    """Return bool[CODE_POINTS]: the 99,030 characters whose script is Han."""
    return set_of_runs(_content().arrays["han"])
