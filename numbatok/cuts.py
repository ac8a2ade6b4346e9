r"""Certified cuts: positions at which a text may be cut without changing its ids.

A cut between two pretokens is safe for a pattern if neither side can tell that the other is gone:
what stands before it ends a pretoken there whether the text ends or what follows it follows; what
stands after it starts a pretoken, and no pattern looks back. Not every pretoken boundary is safe:
"\n\nA" has one after the first line feed, but alone "\n\n" is one pretoken.

    CUT_WORDS        letter | space letter, all ASCII
    CUT_COMMAS       ideograph | ideographic comma or full stop
    CUT_WIDE_WORDS   what is no white space | space, letter beyond ASCII

In every family a space after what is no white space starts a pretoken, and no rule takes it to what
is before it but bloom's for what is between words, which leaves a space to the word after it. An
ideograph is a letter, and a comma is none: they are never in one pretoken. The tests compare the
pretokens of the whole with those of the parts for every family (`Pattern.cuts`); for an automaton
CUT_WORDS and CUT_COMMAS are shown on its tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numbatok.spec import AddedToken
from numbatok.tables import CUT_COMMAS, CUT_WIDE_WORDS, CUT_WORDS, PLAIN, SAFE_CUTS, U8, Automaton

if TYPE_CHECKING:
    from numbatok.pattern import Pattern

REACH = 1 << 16  # bytes that are searched for a cut; without one the part grows
FIRST_REACH = 256  # bytes that are searched first: most cuts are near, and 64 KB take 1 ms
IN_ALL = CUT_WORDS | CUT_COMMAS  # in every family

_SPACE = ord(" ")


def _bytes_where(*ranges: tuple[int, int]) -> NDArray[np.bool_]:
    table = np.zeros(256, bool)
    for first, last in ranges:
        table[first : last + 1] = True
    return table


_IS_LETTER = _bytes_where((ord("A"), ord("Z")), (ord("a"), ord("z")))
# U+5000 to U+8FFF, all of them letters, start with these bytes; U+FF0C, U+3001, U+3002 are commas
_IDEOGRAPHS = _bytes_where((0xE5, 0xE8))
_COMMAS = (b"\xef\xbc\x8c", b"\xe3\x80\x81", b"\xe3\x80\x82")
# Latin, Greek, Cyrillic, Hebrew, the scripts of India, Hangul: no white space, no stop of bloom's
_WIDE_LEADS = _bytes_where((0xC3, 0xD7), (0xE0, 0xE0), (0xEA, 0xED))
# A white character beyond ASCII ends with one of each; controls below the space may be white too.
_WHITE_LAST = _bytes_where((0x80, 0x8A), (0x9F, 0xA0), (0xA8, 0xA9), (0xAF, 0xAF))
_WHITE_BEFORE_LAST = _bytes_where((0xC2, 0xC2), (0x9A, 0x9A), (0x80, 0x81))
_IS_BLANK = _bytes_where((0x00, ord(" ")))


def cut_kinds(pattern: Pattern, automaton: Automaton) -> int:
    """Return which cuts are safe for a pattern: bits, 0 for none."""
    if pattern.chain is None:
        return pattern.cuts
    return int(automaton.shape[SAFE_CUTS])


def find_cut(text: U8, pos: int, end: int, kinds: int = IN_ALL) -> int:
    """Return the first safe cut in text[pos:end] within REACH, or `end`."""
    first, stop, size = max(pos, 3), min(end, pos + REACH), FIRST_REACH
    while stop - first >= 3:
        found = _find_cut(text[first - 3 : min(first + size, stop)], kinds)
        if found >= 0:
            return first + found
        first, size = first + size - 3, 4 * size  # a cut is seen with the three bytes behind it
    return end


def _find_cut(window: U8, kinds: int) -> int:
    """Return the first safe cut as bytes behind the third of the window, or -1."""
    found = _safe_places(window, kinds)
    return int(np.argmax(found)) if found.any() else -1


def _safe_places(windows: U8, kinds: int) -> NDArray[np.bool_]:
    """Return where windows may be cut, bool[..., n - 5], counted from behind the third byte."""
    before, here = windows[..., 2:-3], windows[..., 3:-2]
    after, last = windows[..., 4:-1], windows[..., 5:]
    found = np.zeros(here.shape, bool)
    if kinds & CUT_WORDS:
        found |= _IS_LETTER[before] & (here == _SPACE) & _IS_LETTER[after]
    if kinds & CUT_WIDE_WORDS:
        white = _WHITE_LAST[before] & _WHITE_BEFORE_LAST[windows[..., 1:-4]] | _IS_BLANK[before]
        found |= ~white & (here == _SPACE) & _WIDE_LEADS[after]
    if kinds & CUT_COMMAS:
        ideograph = _IDEOGRAPHS[windows[..., :-5]] & ((before & 0xC0) == 0x80)
        for comma in _COMMAS:
            a, b, c = comma
            found |= ideograph & (here == a) & (after == b) & (last == c)
    return found


def can_cut(tokens: Sequence[AddedToken], actions: U8) -> bool:
    """Tell whether no added token that a call looks for can reach over a cut."""
    every = IN_ALL | CUT_WIDE_WORDS
    for token, action in zip(tokens, actions.tolist(), strict=False):
        if action == PLAIN:
            continue
        if token.lstrip or token.rstrip or token.single_word:
            return False
        for after in ("   ", "a  ", "\u0430  ", "\u3002"):  # what may stand after a cut
            content = f"   {token.content}".encode()
            text = np.frombuffer(content + after.encode(), np.uint8)
            if find_cut(text, 3, text.size, every) < len(content):
                return False
    return True


def cut_points(text: U8, ends: NDArray[np.int64], n_parts: int, kinds: int) -> list[int]:
    """Return where to cut documents so that parts of about equal size can be made."""
    targets = text.size * np.arange(1, n_parts, dtype=np.int64) // n_parts
    documents = np.searchsorted(ends, targets, side="right")
    bounds = np.concatenate([[0], ends, [text.size]])
    starts, stops = bounds[documents], bounds[documents + 1]
    # parts are made of whole documents where these are small
    is_long = stops - starts > text.size // (4 * n_parts)
    starts, stops = starts[is_long], stops[is_long]
    firsts = np.maximum(targets[is_long], starts + 3)
    cuts = _near_cuts(text, firsts, stops, kinds)
    for k in np.flatnonzero(cuts < 0).tolist():
        cuts[k] = find_cut(text, int(firsts[k]), int(stops[k]), kinds)
    return np.unique(cuts[(starts < cuts) & (cuts < stops)]).tolist()


def _near_cuts(
    text: U8, firsts: NDArray[np.int64], stops: NDArray[np.int64], kinds: int
) -> NDArray[np.int64]:
    """Return the first safe cut from each position on if it is near, else -1.

    All at once: 244 cuts of 64 MB took 10 ms one by one.
    """
    cuts = np.full(len(firsts), -1)
    is_inside = np.flatnonzero(firsts + FIRST_REACH <= stops)
    if is_inside.size:
        windows = text[firsts[is_inside, None] - 3 + np.arange(FIRST_REACH)]
        found = _safe_places(windows, kinds)
        near = np.where(found.any(axis=1), firsts[is_inside] + np.argmax(found, axis=1), -1)
        cuts[is_inside] = near
    return cuts
