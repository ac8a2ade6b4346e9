"""Normalize text as a tokenizer's normalizers do; text that needs no change is only looked at.

Unicode forms act on short stretches that a kernel finds; each stretch is worked out once in Python
and remembered. Bytes that are not UTF-8 stay as they are.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np

from numbatok.alignment import Edit, put_before
from numbatok.character_classes import two_stages
from numbatok.errors import UnsupportedTokenizer
from numbatok.memory import addresses_of
from numbatok.native import function
from numbatok.regex.find import Pattern
from numbatok.spec import (
    AddedToken,
    Lowercase,
    Normalizer,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from numbatok.tables import (
    FIRST_IDEOGRAPH,
    LAST_IDEOGRAPH,
    LONGEST_UNCHANGED,
    MAY_CHANGE,
    N_UNCHANGED,
    U8,
    Changes,
)
from numbatok.unicode import normalization as data
from numbatok.unicode import white_space

Step = Callable[[bytes], bytes]
SHORT = 64  # bytes of a stretch of which it is remembered what it becomes


class Normalization:
    """The normalizers of one tokenizer."""

    def __init__(self, normalizers: Sequence[Normalizer]) -> None:
        self._steps = [_step(normalizer) for normalizer in normalizers]
        self._normalizers = normalizers

    def __bool__(self) -> bool:
        return bool(self._steps)

    def edits(self, text: bytes) -> Iterator[list[Edit]]:
        """Yield what each step changes in the result of the one before, in the order of the text.

        Errors: UnsupportedTokenizer for a step whose changes cannot be told apart.
        """
        for normalizer, step in zip(self._normalizers, self._steps, strict=True):
            yield _edits(normalizer, step, text)
            text = step(text)

    def stretch_steps(self) -> list[StretchStep] | None:
        """Return the steps if a kernel finds what each of them changes."""
        steps = [step for step in self._steps if isinstance(step, StretchStep)]
        return steps if len(steps) == len(self._steps) else None

    def form_addresses(self) -> list[int] | None:
        """Return the addresses by which `find_change` looks at a text for each step, if it can."""
        steps = self.stretch_steps()
        return None if steps is None else [step.address for step in steps]

    def apply(self, text: bytes) -> bytes:
        """Return the normalized text."""
        for step in self._steps:
            text = step(text)
        return text


def searched_contents(tokens: Sequence[AddedToken], normalization: Normalization) -> list[bytes]:
    """Return what is searched for each added token: a normalized one as it is normalized."""
    contents = [token.content.encode() for token in tokens]
    return [
        normalization.apply(content) if token.normalized else content
        for token, content in zip(tokens, contents, strict=True)
    ]


def _step(normalizer: Normalizer) -> Step | StretchStep:
    if isinstance(normalizer, UnicodeForm):
        return _form_step(normalizer.form)
    if isinstance(normalizer, Lowercase):
        return _lowercase_step()
    if isinstance(normalizer, StripAccents):
        return _accents_step()
    if isinstance(normalizer, Strip):
        return _Strip(normalizer)
    if isinstance(normalizer, Prepend):
        content = normalizer.content.encode()
        return lambda text: content + text if text else text
    return _replace_step(normalizer)


def _edits(normalizer: Normalizer, step: Step | StretchStep, text: bytes) -> list[Edit]:
    """Return the changes of one step: start, end and replacement of each."""
    if isinstance(step, StretchStep):
        return list(step.changes(np.frombuffer(text, np.uint8)))
    if isinstance(step, _Translate):
        return list(step.edits(text))
    changed = step(text)
    if isinstance(normalizer, Prepend):
        return put_before(text, normalizer.content.encode())
    if isinstance(normalizer, Strip):
        start = text.find(changed)
        return [(0, start, b""), (start + len(changed), len(text), b"")]
    if isinstance(step, _ReplaceMatches):
        edits = step.edits(text)
        if all(start < end for start, end, _ in edits):
            return edits
    elif isinstance(normalizer, Replace):
        pattern, content = normalizer.pattern.encode(), normalizer.content.encode()
        return [(m.start(), m.end(), content) for m in re.finditer(re.escape(pattern), text)]
    if changed != text:
        raise UnsupportedTokenizer(f"offsets through the normalizer {normalizer!r}")
    return []


def _replace_step(normalizer: Replace) -> Step:
    if normalizer.is_regex or not normalizer.pattern:
        return _ReplaceMatches(normalizer)
    pattern, content = normalizer.pattern.encode(), normalizer.content.encode()
    return lambda text: text.replace(pattern, content)


class _ReplaceMatches:
    """Replaces all matches of a regex, or of the empty string."""

    def __init__(self, normalizer: Replace) -> None:
        try:
            self._pattern = Pattern(normalizer.pattern, normalizer.is_regex)
        except UnsupportedTokenizer as error:
            raise UnsupportedTokenizer(f"normalizer Replace: {error}") from None
        self._content = normalizer.content.encode()

    def __call__(self, text: bytes) -> bytes:
        edits, pieces, done = self.edits(text), [], 0
        for start, end, content in edits:
            pieces += [text[done:start], content]
            done = end
        return b"".join([*pieces, text[done:]]) if pieces else text

    def edits(self, text: bytes) -> list[Edit]:
        """Return start and end of every match, and what comes there."""
        return [(start, end, self._content) for start, end in self._pattern.spans(text).tolist()]


class _Strip:
    """Removes white space at the ends."""

    def __init__(self, normalizer: Strip) -> None:
        self._left, self._right = normalizer.left, normalizer.right
        self._white = "".join(map(chr, np.flatnonzero(white_space()).tolist()))

    def __call__(self, text: bytes) -> bytes:
        decoded = text.decode("utf-8", "surrogateescape")
        if self._left:
            decoded = decoded.lstrip(self._white)
        if self._right:
            decoded = decoded.rstrip(self._white)
        return decoded.encode("utf-8", "surrogateescape")


class StretchStep:
    """A step that changes short stretches of a text, each independent of the others."""

    def __init__(self, kinds: U8, change: Callable[[str], str]) -> None:
        self._changes = Changes(
            two_stages(kinds, np.zeros(256, np.uint8)),
            _pages(kinds),
            np.zeros(2 * N_UNCHANGED, np.uint64),
        )
        self._n_unchanged = 0
        self._addresses = addresses_of(self._changes)
        self.address = int(self._addresses.ctypes.data)

        def change_bytes(stretch: bytes) -> bytes:
            changed = change(stretch.decode("utf-8", "surrogateescape"))
            return changed.encode("utf-8", "surrogateescape")

        self._change, self._change_short = change_bytes, lru_cache(1 << 16)(change_bytes)
        self._lock = threading.Lock()

    def change(self, stretch: bytes) -> bytes:
        """Return what a stretch becomes."""
        return (self._change_short if len(stretch) <= SHORT else self._change)(stretch)

    def __call__(self, text: bytes) -> bytes:
        """Return the text with every stretch changed."""
        pieces, done = [], 0
        for start, end, changed in self.changes(np.frombuffer(text, np.uint8)):
            pieces += [text[done:start], changed]
            done = end
        return b"".join([*pieces, text[done:]]) if pieces else text

    def changes(self, text: U8) -> Iterator[Edit]:
        """Yield start and end of each stretch that changes, and what it becomes."""
        stretch, done, find_change = np.empty(2, np.int64), 0, function("find_change")
        address, size, stretch_address = text.ctypes.data, text.size, stretch.ctypes.data
        view = text.data
        while find_change(self.address, address, done, size, stretch_address):
            start, done = stretch.tolist()
            old = bytes(view[start:done])
            new = self.change(old)
            if new != old:
                yield start, done, new
            else:
                self._learn(old)

    def _learn(self, stretch: bytes) -> None:
        """Let kernels know a stretch that stays as it is, if there is a place for it."""
        if len(stretch) > LONGEST_UNCHANGED:
            return
        text = np.frombuffer(stretch, np.uint8)
        with self._lock:
            if self._n_unchanged < N_UNCHANGED // 2:
                learn = function("learn_unchanged")
                self._n_unchanged += learn(self.address, text.ctypes.data, text.size)


def _pages(kinds: U8) -> U8:
    """Return where classes other than 0 are, by the first two bytes of a character; see Changes."""
    marked = (kinds.reshape(-1, 64) != 0).any(axis=1)  # by code point >> 6
    pages = np.zeros((64, 64), np.uint8)
    pages[:32] = marked[:32, None]
    pages[32:48] = marked[: 16 * 64].reshape(16, 64)
    pages[48:53].flat[: 17 * 16] = marked.reshape(-1, 64).any(axis=1)
    ideographs = pages[FIRST_IDEOGRAPH & 63 : (LAST_IDEOGRAPH & 63) + 1]
    assert not ideographs.any() and not marked[:2].any(), "kernels pass over these and over ASCII"
    return pages.reshape(-1)


# --- Unicode forms --------------------------------------------------------------------------------


@cache
def _form_step(form: str) -> StretchStep:
    tables = data.normalization_tables()
    flag = {
        "NFC": data.NFC_CHANGES,
        "NFD": data.NFD_CHANGES,
        "NFKC": data.NFKC_CHANGES,
        "NFKD": data.NFKD_CHANGES,
    }[form]
    if form in ("NFC", "NFKC"):
        flag |= data.COMBINES_BACKWARD
    places = _places()
    kinds = tables.combining[places].copy()
    kinds[(tables.flags[places] & flag) != 0] = MAY_CHANGE
    compatibility, composing = form.startswith("NFK"), form.endswith("C")

    def change(text: str) -> str:
        points = _ordered(_decomposed(map(ord, text), compatibility))
        return "".join(map(chr, _composed(points) if composing else points))

    return StretchStep(kinds, change)


def _places() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return where each code point is in the columns of the normalization tables."""
    points = np.arange(0x110000)
    pages = data.normalization_tables().pages.astype(np.int64)
    return pages[points >> 8] << 8 | points & 0xFF


def _decomposed(points: Iterable[int], compatibility: bool) -> list[int]:
    result: list[int] = []
    for point in points:
        syllable = point - data.HANGUL_SYLLABLES
        if 0 <= syllable < data.HANGUL_SYLLABLE_COUNT:
            rest, trailing = divmod(syllable, data.HANGUL_TRAILING_COUNT)
            leading, vowel = divmod(rest, data.HANGUL_VOWEL_COUNT)
            result += [data.HANGUL_LEADING + leading, data.HANGUL_VOWELS + vowel]
            if trailing:
                result.append(data.HANGUL_TRAILING + trailing)
        else:
            result += data.decomposition(point, compatibility) or (point,)
    return result


def _ordered(points: list[int]) -> list[int]:
    """Sort each run of combining characters by class, equal ones staying in order."""
    start = 0
    while start < len(points):
        end = start
        while end < len(points) and data.combining_class(points[end]):
            end += 1
        if end - start > 1:
            points[start:end] = sorted(points[start:end], key=data.combining_class)
        start = max(end, start) + 1
    return points


def _composed(points: list[int]) -> list[int]:
    """Compose each starter with what follows it and is not blocked from it."""
    result: list[int] = []
    starter, last = -1, 0
    for point in points:
        kind = data.combining_class(point)
        blocked = starter >= 0 and starter < len(result) - 1 and last >= kind
        if starter >= 0 and not blocked and (made := _pair(result[starter], point)) is not None:
            result[starter] = made
            continue
        if kind == 0:
            starter, last = len(result), 0
        else:
            last = kind
        result.append(point)
    return result


def _pair(first: int, second: int) -> int | None:
    leading, vowel = first - data.HANGUL_LEADING, second - data.HANGUL_VOWELS
    if 0 <= leading < data.HANGUL_LEADING_COUNT and 0 <= vowel < data.HANGUL_VOWEL_COUNT:
        number = (leading * data.HANGUL_VOWEL_COUNT + vowel) * data.HANGUL_TRAILING_COUNT
        return data.HANGUL_SYLLABLES + number
    syllable, trailing = first - data.HANGUL_SYLLABLES, second - data.HANGUL_TRAILING
    if (
        0 <= syllable < data.HANGUL_SYLLABLE_COUNT
        and syllable % data.HANGUL_TRAILING_COUNT == 0
        and 0 < trailing < data.HANGUL_TRAILING_COUNT
    ):
        return first + trailing
    return data.composition(first, second)


# --- one character at a time ----------------------------------------------------------------------


class _Translate:
    """Replaces each character by itself, wherever it stands."""

    def __init__(self, table: Mapping[int, str]) -> None:
        self._table = table

    def __call__(self, text: bytes) -> bytes:
        decoded = text.decode("utf-8", "surrogateescape").translate(self._table)
        return decoded.encode("utf-8", "surrogateescape")

    def edits(self, text: bytes) -> Iterator[Edit]:
        """Yield start, end and replacement of every character that changes."""
        end = 0
        for character in text.decode("utf-8", "surrogateescape"):
            start, end = end, end + len(character.encode("utf-8", "surrogateescape"))
            if ord(character) in self._table:
                yield start, end, self._table[ord(character)].encode()


@cache
def _lowercase_step() -> Step:
    changed = np.flatnonzero(data.normalization_tables().lowercase[_places()]).tolist()
    return _Translate({point: "".join(map(chr, data.lowercase(point))) for point in changed})


@cache
def _accents_step() -> Step:
    accents = data.normalization_tables().flags[_places()] & data.IS_ACCENT
    return _Translate(dict.fromkeys(np.flatnonzero(accents).tolist(), ""))
