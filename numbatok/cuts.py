r"""Certified cuts: positions at which a text may be cut without changing its ids.

A cut between two pretokens is safe for the supported patterns if neither side can tell that the
other is gone: what stands before the cut is a letter, so its pretoken ends there whatever follows
that is no letter, mark or apostrophe; what stands after it starts a pretoken, and no pattern looks
back. Not every pretoken boundary is safe: "\n\nA" has one after the first line feed, but alone
"\n\n" is one pretoken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from numbatok.spec import AddedToken
from numbatok.tables import MAY_CUT, PLAIN, U8, Automaton

REACH = 1 << 16  # bytes that are searched for a cut; without one the part grows

_IS_LETTER = np.zeros(256, bool)
_IS_LETTER[[*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1)]] = True
_SPACE = ord(" ")
# U+5000 to U+8FFF, all of them letters, start with these bytes; U+FF0C, U+3001, U+3002 are commas
_IDEOGRAPHS = np.zeros(256, bool)
_IDEOGRAPHS[0xE5:0xE9] = True
_COMMAS = (b"\xef\xbc\x8c", b"\xe3\x80\x81", b"\xe3\x80\x82")


def find_cut(text: U8, pos: int, end: int) -> int:
    """Return the first safe cut in text[pos:end] within REACH, or `end`.

    Safe are: letter | space letter, all ASCII; ideograph | ideographic comma or full stop.
    """
    window = text[max(pos, 3) : min(end, pos + REACH)]
    first = max(pos, 3)
    if window.size < 3:
        return end
    before = text[first - 1 : first - 1 + window.size - 2]
    spaced = _IS_LETTER[before] & (window[:-2] == _SPACE) & _IS_LETTER[window[1:-1]]
    found = [int(np.argmax(spaced))] if spaced.any() else []
    leads = _IDEOGRAPHS[text[first - 3 : first - 3 + window.size - 2]]
    for comma in _COMMAS:
        a, b, c = comma
        here = leads & (window[:-2] == a) & (window[1:-1] == b) & (window[2:] == c)
        here &= (before & 0xC0) == 0x80
        if here.any():
            found.append(int(np.argmax(here)))
    return first + min(found) if found else end


def may_cut(automaton: Automaton) -> bool:
    """Tell whether the cuts are safe for a pattern; for an automaton that was shown on its tables.

    For the families, which have none, they are.
    """
    return automaton.back.size == 0 or bool(automaton.shape[MAY_CUT])


def can_cut(tokens: Sequence[AddedToken], actions: U8) -> bool:
    """Tell whether no added token that a call looks for can reach over a cut."""
    for token, action in zip(tokens, actions.tolist(), strict=False):
        if action == PLAIN:
            continue
        if token.lstrip or token.rstrip or token.single_word:
            return False
        content = np.frombuffer(b"   " + token.content.encode() + b"   ", np.uint8)
        if find_cut(content, 3, content.size) < content.size:
            return False
    return True


def cut_points(text: U8, ends: NDArray[np.int64], n_parts: int) -> list[int]:
    """Return where to cut documents so that parts of about equal size can be made."""
    cuts = []
    for part in range(1, n_parts):
        target = text.size * part // n_parts
        document = int(np.searchsorted(ends, target, side="right"))
        start = int(ends[document - 1]) if document else 0
        end = int(ends[document]) if document < len(ends) else text.size
        if end - start <= text.size // (4 * n_parts):
            continue  # parts are made of whole documents here
        cut = find_cut(text, max(target, start + 3), end)
        if start < cut < end:
            cuts.append(cut)
    return sorted(set(cuts))
