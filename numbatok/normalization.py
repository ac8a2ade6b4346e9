"""Normalize text as a tokenizer's normalizers do; text that needs no change is only looked at.

A kernel knows the Unicode forms. Bytes that are not UTF-8 stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from numbatok.alignment import Edit, put_before
from numbatok.character_classes import two_stages
from numbatok.errors import UnsupportedTokenizer
from numbatok.memory import address_of, addresses_of
from numbatok.native import function
from numbatok.pages import borrow, settle
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
    DONE,
    FIRST_IDEOGRAPH,
    LAST_IDEOGRAPH,
    MAY_CHANGE,
    MOST_BYTES,
    MOST_POINTS,
    N_NORMALIZE,
    NEAR_TOKEN,
    NO_ROOM,
    NO_WORK,
    NORMALIZE_COPIED,
    NORMALIZE_ENDS,
    NORMALIZE_MARKS,
    NORMALIZE_N_DOCUMENTS,
    NORMALIZE_NEEDED,
    NORMALIZE_NEW_ENDS,
    NORMALIZE_OUT,
    NORMALIZE_ROOM,
    NORMALIZE_WORK,
    NORMALIZE_WRITTEN,
    U8,
    Changes,
    Stretch,
)
from numbatok.unicode import normalization as data
from numbatok.unicode import white_space

Step = Callable[[bytes], bytes]
SHORT = 1024  # bytes of a stretch for which there is work space at once


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
    """A Unicode form, which changes short stretches of a text, each for itself."""

    def __init__(self, changes: Changes) -> None:
        self._changes, self._addresses = changes, addresses_of(changes)
        self.address = int(self._addresses.ctypes.data)
        self._normalize = function("normalize")  # now, so that no text has to wait for it

    def __call__(self, text: bytes) -> bytes:
        """Return the normalized text."""
        data = np.frombuffer(text, np.uint8)
        done = self.normalized(data, np.array([data.size], np.int64))
        return text if done is None or done[0] is data else done[0].tobytes()

    def normalized(
        self, text: U8, ends: NDArray[np.int64], marks: U8 | None = None
    ) -> tuple[U8, NDArray[np.int64]] | None:
        """Return documents in this form, each for itself, and their ends; the same if none changes.

        None if `marks`, of bytes of added tokens, say that one may be where something changes.
        """
        new_ends, flow = np.empty_like(ends), np.zeros(N_NORMALIZE, np.int64)
        work, out = _work(SHORT), np.empty(0, np.uint8)
        addresses = addresses_of(work)
        flow[NORMALIZE_ENDS], flow[NORMALIZE_N_DOCUMENTS] = address_of(ends), ends.size
        flow[NORMALIZE_NEW_ENDS] = address_of(new_ends)
        flow[NORMALIZE_MARKS] = 0 if marks is None else address_of(marks)
        flow[NORMALIZE_WORK] = address_of(addresses)
        arguments = self.address, address_of(text), text.size, address_of(flow)
        while (why := self._normalize(*arguments)) != DONE:
            if why == NEAR_TOKEN:
                return None
            needed, written = int(flow[NORMALIZE_NEEDED]), int(flow[NORMALIZE_WRITTEN])
            if why == NO_WORK:
                work = _work(needed)
                addresses[:] = addresses_of(work)
            elif why == NO_ROOM:
                wider = borrow(max(needed + text.size // 8, 2 * out.size))
                wider[:written], out = out[:written], wider
                flow[NORMALIZE_OUT], flow[NORMALIZE_ROOM] = address_of(out), out.size
        written = int(flow[NORMALIZE_WRITTEN])
        settle(out, written)
        return (out[:written], new_ends) if flow[NORMALIZE_COPIED] else (text, ends)

    def changes(self, text: U8) -> Iterator[Edit]:
        """Yield start and end of each part of the text that changes, and what it becomes."""
        stretch, done, find_change = np.empty(2, np.int64), 0, function("find_change")
        address, size, stretch_address = text.ctypes.data, text.size, stretch.ctypes.data
        view = text.data
        while find_change(self.address, address, done, size, stretch_address):
            start, done = stretch.tolist()
            old = bytes(view[start:done])
            new = self(old)
            if new != old:
                yield _narrowed(start, old, new)


def _narrowed(start: int, old: bytes, new: bytes) -> Edit:
    """Return the edit of a stretch at `start` without the characters that stay at its ends."""
    was, now = (part.decode("utf-8", "surrogateescape") for part in (old, new))
    most = min(len(was), len(now)) - 1
    first = next((k for k in range(most) if was[k] != now[k]), most)
    most -= first
    last = next((k for k in range(most) if was[-1 - k] != now[-1 - k]), most)
    before, after = (
        len(part.encode("utf-8", "surrogateescape"))
        for part in (was[:first], was[len(was) - last :])
    )
    return start + before, start + len(old) - after, new[before : len(new) - after]


def _work(n_bytes: int) -> Stretch:
    """Return work space for a stretch of so many bytes."""
    n_points = MOST_POINTS * n_bytes + 3
    points, in_order = np.empty(n_points, np.uint32), np.empty(n_points, np.uint32)
    kinds, out = np.empty(n_points, np.uint8), np.empty(MOST_BYTES * n_bytes, np.uint8)
    return Stretch(points, kinds, in_order, out)


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
    composing = form.endswith("C")
    return StretchStep(
        Changes(
            two_stages(kinds, np.zeros(256, np.uint8)),
            _pages(kinds),
            tables.pages,
            tables.combining,
            tables.compatibility if form.startswith("NFK") else tables.canonical,
            tables.sequence_offsets,
            tables.sequences,
            tables.pair_keys if composing else tables.pair_keys[:0],
            tables.pair_composites if composing else tables.pair_composites[:0],
        )
    )


def _places() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return where each code point is in the columns of the normalization tables."""
    points = np.arange(0x110000)
    pages = data.normalization_tables().pages.astype(np.int64)
    return pages[points >> 8] << 8 | points & 0xFF


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
