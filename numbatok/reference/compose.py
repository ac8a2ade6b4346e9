"""Unicode normalization forms by their definition (Unicode, section 3.11), with the data of 9.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from numbatok.unicode.normalization import combining_class, composition, decomposition

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

# Hangul syllables are computed: 19 leads, 21 vowels, 28 tails of which the first is none.
SYLLABLES, LEADS, VOWELS, TAILS = 0xAC00, 0x1100, 0x1161, 0x11A7
N_LEADS, N_VOWELS, N_TAILS = 19, 21, 28
N_SYLLABLES = N_LEADS * N_VOWELS * N_TAILS


def normal_form(form: Form, codes: Sequence[int]) -> list[int]:
    """Return code points in a normalization form."""
    is_compatible = form in ("NFKC", "NFKD")
    decomposed = [part for code in codes for part in decompose(code, is_compatible)]
    ordered = reorder(decomposed)
    return compose(ordered) if form in ("NFC", "NFKC") else ordered


def decompose(code: int, is_compatible: bool) -> list[int]:
    """Return the full decomposition of a character, itself if it has none."""
    if 0 <= code - SYLLABLES < N_SYLLABLES:
        lead, rest = divmod(code - SYLLABLES, N_VOWELS * N_TAILS)
        vowel, tail = divmod(rest, N_TAILS)
        return [LEADS + lead, VOWELS + vowel, TAILS + tail][: 3 if tail else 2]
    parts = decomposition(code, is_compatible)
    if not parts:
        return [code]
    return [piece for part in parts for piece in decompose(part, is_compatible)]


def reorder(codes: Sequence[int]) -> list[int]:
    """Sort every run of characters with a combining class by it, keeping the order of equals."""
    ordered: list[int] = []
    run: list[int] = []
    for code in codes:
        if combining_class(code):
            run.append(code)
            continue
        ordered += [*sorted(run, key=combining_class), code]
        run = []
    return [*ordered, *sorted(run, key=combining_class)]


def compose(codes: Sequence[int]) -> list[int]:
    """Join every character to the last starter before it, if they compose and nothing blocks it."""
    composed: list[int] = []
    starter: int | None = None  # place of the last starter in `composed`
    for code in codes:
        joined = None
        if starter is not None and not _is_blocked(composed[starter + 1 :], code):
            joined = pair(composed[starter], code)
        if joined is not None and starter is not None:
            composed[starter] = joined
            continue
        if combining_class(code) == 0:
            starter = len(composed)
        composed.append(code)
    return composed


def _is_blocked(between: Sequence[int], code: int) -> bool:
    """Return whether what stands after the starter keeps a character from composing with it."""
    return bool(between) and combining_class(between[-1]) >= combining_class(code)


def pair(first: int, second: int) -> int | None:
    """Return the character that two compose to, or None."""
    lead, vowel = first - LEADS, second - VOWELS
    if 0 <= lead < N_LEADS and 0 <= vowel < N_VOWELS:
        return SYLLABLES + (lead * N_VOWELS + vowel) * N_TAILS
    syllable, tail = first - SYLLABLES, second - TAILS
    if 0 <= syllable < N_SYLLABLES and syllable % N_TAILS == 0 and 0 < tail < N_TAILS:
        return first + tail
    return composition(first, second)
