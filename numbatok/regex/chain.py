"""A chain of pre-tokenizers as one machine over symbols.

A symbol is what one byte of a text is for the machine: the class of the character that it begins,
or "within a character". After a ByteLevel step a text is a sequence of bytes, each spelled by its
character in the byte alphabet, and steps that come then cut between any two of them; in such a
chain a symbol also says of which class the byte's character is.

A ByteLevel step that puts a space before every piece which it gets ends a chain: the steps before
it are a chain of their own, and what is left sees each piece, with its space, as a whole text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok import unicode
from numbatok.character_classes import byte_alphabet
from numbatok.errors import UnsupportedTokenizer
from numbatok.regex.compose import composed
from numbatok.regex.machine import (
    NO_CUT,
    Machine,
    minimized,
    number_pairs,
    whole_text,
    with_classes,
)
from numbatok.regex.sets import POINTS, STRAY_BYTES, STRAY_MARK, joint_labels
from numbatok.regex.steps import Level, level_of
from numbatok.spec import ByteLevel, PreTokenizer

MOST_STEPS = 32
MOST_CLASSES = 4000  # of characters, and of symbols
WITHIN = -1  # in Symbols.characters: the byte does not begin a character


class Symbols(NamedTuple):
    """The alphabet of a machine.

    characters   class of the character that the byte begins, or WITHIN, by symbol
    letters      class of the byte as a character of the byte alphabet, by symbol
    joint        uint16[(n_classes + 1) << 8]: the symbol of (class + 1, or 0 within a character)
                 << 8 | byte; empty if that is the class + 1, or 0
    """

    characters: NDArray[np.int64]
    letters: NDArray[np.int64]
    joint: NDArray[np.uint16]


@dataclass(frozen=True)
class Chain:
    """A chain of pre-tokenizers, ready for tables.

    machine   over symbols
    joint     as Symbols.joint
    kinds     uint16[POINTS]: class of a point + 1
    """

    machine: Machine
    joint: NDArray[np.uint16]
    kinds: NDArray[np.uint16]

    def ill_formed(self, as_punctuation: bool = False) -> NDArray[np.uint8]:
        """Return the class + 1 of each byte that is part of no well-formed character, uint8[256].

        It is that of the byte's character in the byte alphabet, or of punctuation.
        """
        if as_punctuation:
            return np.full(256, self.kinds[STRAY_MARK], np.uint8)
        return self.kinds[STRAY_BYTES : STRAY_BYTES + 256].astype(np.uint8)


def compile_chain(steps: Sequence[PreTokenizer], engine: str = "tokenizers") -> Chain:
    """Compile pre-tokenizers. `engine` is that of TokenizerSpec.

    Errors: UnsupportedTokenizer, naming what is not supported; InvalidTokenizerFile for a pattern
    that is none.
    """
    if engine == "tokenizers" and not any(isinstance(step, ByteLevel) for step in steps):
        raise UnsupportedTokenizer(
            "pre_tokenizer: it has no ByteLevel step, so the model is not a byte-level one"
        )
    if len(steps) > MOST_STEPS:
        raise UnsupportedTokenizer(f"pre_tokenizer: {len(steps)} steps, supported are {MOST_STEPS}")
    levels = _levels(steps, engine)
    return join_levels(levels.before, levels.after)


def compile_cutter(steps: Sequence[PreTokenizer], engine: str = "tokenizers") -> Chain:
    """Compile the steps before the one that puts a space before each piece that it gets.

    Errors: as `compile_chain`.
    """
    return join_levels(_levels(steps, engine).cutting, [])


def prefixing_step(steps: Sequence[PreTokenizer]) -> int:
    """Return the number of the step that puts a space before each piece that it gets, or -1."""
    prefixing = (isinstance(step, ByteLevel) and step.add_prefix_space for step in steps)
    return next((number for number, found in enumerate(prefixing) if found), -1)


class _Levels(NamedTuple):
    """The steps before one that puts a space before pieces; those that see characters, or bytes."""

    cutting: list[Level]
    before: list[Level]
    after: list[Level]


def _levels(steps: Sequence[PreTokenizer], engine: str) -> _Levels:
    cutting, before, after = _Levels([], [], [])
    to_bytes = False
    for number, step in enumerate(steps):
        try:
            if isinstance(step, ByteLevel):
                if to_bytes:
                    raise UnsupportedTokenizer(
                        "a second ByteLevel step, which would spell the text twice"
                    )
                to_bytes = True
                if step.add_prefix_space:
                    cutting, before = before, []
                before += [level_of(step, engine)] if step.use_regex else []
            elif to_bytes:
                after.append(level_of(step, engine, byte_alphabet()))
            else:
                before.append(level_of(step, engine))
        except UnsupportedTokenizer as error:
            raise UnsupportedTokenizer(f"pre_tokenizer step {number}: {error}") from None
    return _Levels(cutting, before, after)


# --- all levels over common classes ---------------------------------------------------------------


class _Common(NamedTuple):
    """Classes of points that no level tells apart.

    starts, labels   stretches and the class of each, as in Classes
    examples         a point of each class
    """

    starts: NDArray[np.int64]
    labels: NDArray[np.int64]
    examples: NDArray[np.int64]

    def of_points(self, count: int) -> NDArray[np.int64]:
        """Return the class of each of the first `count` points."""
        lengths = np.diff(np.append(self.starts, count))
        return np.repeat(self.labels, lengths)


def _common(levels: list[Level]) -> _Common:
    zero = np.zeros(1, np.int64)
    if not levels:
        return _Common(zero, zero, zero)
    starts = np.unique(np.concatenate([level.classes.starts for level in levels]))
    labels, first = joint_labels(np.array([level.classes.at(starts) for level in levels]))
    labels, first = _stray_bytes_first(starts, labels, first)
    if len(first) > MOST_CLASSES:
        raise UnsupportedTokenizer(
            f"pre_tokenizer: it tells {len(first)} classes of characters apart, supported are "
            f"{MOST_CLASSES}"
        )
    return _Common(starts, labels, starts[first])


def _stray_bytes_first(
    starts: NDArray[np.int64], labels: NDArray[np.int64], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Renumber classes so that those of stray bytes, at most 129, come first."""
    of_strays = np.unique(labels[np.searchsorted(starts, STRAY_BYTES, side="right") - 1 :])
    order = np.concatenate([of_strays, np.setdiff1d(np.arange(len(first)), of_strays)])
    places = np.argsort(order)
    return places[labels], first[order]


def join_levels(before: list[Level], after: list[Level]) -> Chain:
    """Compose all levels over their common symbols."""
    characters, letters = _common(before), _common(after)
    machine: Machine | None = None
    for level in before:
        finer = with_classes(level.machine, level.classes.at(characters.examples))
        machine = minimized(finer) if machine is None else composed(machine, finer)
    symbols = _symbols(characters, letters.of_points(256) if after else None)
    machine = minimized(_on_symbols(machine or whole_text(), symbols.characters))
    for level in after:
        by_letter = level.classes.at(letters.examples)
        machine = composed(machine, with_classes(level.machine, by_letter[symbols.letters]))
    kinds = (characters.of_points(POINTS) + 1).astype(np.uint16)
    return Chain(machine, symbols.joint, kinds)


# --- symbols --------------------------------------------------------------------------------------


def _symbols(characters: _Common, letter_of_byte: NDArray[np.int64] | None) -> Symbols:
    """Return the alphabet; without a class for each byte, symbols are classes of characters."""
    n_classes = len(characters.examples)
    if letter_of_byte is None:
        every = np.arange(-1, n_classes)
        return Symbols(every, np.zeros(n_classes + 1, np.int64), np.zeros(0, np.uint16))
    kinds, first_bytes = _beginnings(characters)
    within = np.arange(0x80, 0xC0)
    kinds = np.concatenate([kinds, np.zeros(len(within), np.int64)])
    letters = letter_of_byte[np.concatenate([first_bytes, within])]
    n_letters = int(letter_of_byte.max()) + 1
    pairs = np.unique(kinds * n_letters + letters)
    if len(pairs) > MOST_CLASSES:
        raise UnsupportedTokenizer(
            f"pre_tokenizer: it tells {len(pairs)} kinds of bytes apart, supported are "
            f"{MOST_CLASSES}"
        )
    joint = np.zeros((n_classes + 1) * n_letters, np.uint16)
    joint[pairs] = np.arange(len(pairs))
    joint = joint.reshape(-1, n_letters)[:, letter_of_byte].ravel()
    by_kind, by_letter = np.divmod(pairs, n_letters)
    return Symbols(by_kind - 1, by_letter, joint)


def _beginnings(characters: _Common) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the class + 1 and the first byte of characters, all pairs of them that there are."""
    first_of_lead = np.concatenate([
        np.arange(0x80), np.arange(0x80, 0x800, 0x40), np.arange(0x800, 0x10000, 0x1000),
        np.arange(0x10000, unicode.CODE_POINTS, 0x40000),
    ])  # fmt: skip
    points = np.union1d(characters.starts[characters.starts < unicode.CODE_POINTS], first_of_lead)
    leads = np.select(
        [points < 0x80, points < 0x800, points < 0x10000],
        [points, 0xC0 | points >> 6, 0xE0 | points >> 12],
        0xF0 | points >> 18,
    )
    high = np.arange(0x80, 0x100)
    points = np.concatenate([points, STRAY_BYTES + high, np.full(len(high), STRAY_MARK)])
    places = np.searchsorted(characters.starts, points, side="right") - 1
    return characters.labels[places] + 1, np.concatenate([leads, high, high])


def _on_symbols(machine: Machine, characters: NDArray[np.int64]) -> Machine:
    """Return a machine over characters as one over symbols, which never cuts within a character.

    Outlook n + k is outlook k seen from within a character, n being their number.
    """
    n, within = len(machine.back), characters == WITHIN
    classes = np.where(within, 0, characters)
    beginning = machine.back[:, classes]
    back = np.where(within, n + np.arange(n, dtype=np.int32)[:, None], beginning)
    back = np.vstack([back, back])
    pairs, outlooks, by_symbol = number_pairs(back)
    old = np.zeros((n, machine.back.shape[1]), np.int32)
    old[machine.outlooks, machine.classes] = np.arange(len(machine.outlooks))
    after = machine.after[:, old[outlooks % n, classes[by_symbol]]]
    states = np.arange(len(after), dtype=np.int32)[:, None]
    return replace(
        machine, back=back, pairs=pairs, outlooks=outlooks, classes=by_symbol,
        after=np.where(within[by_symbol], states, after),
        cuts=np.hstack([machine.cuts, np.full_like(machine.cuts, NO_CUT)]),
        meets=np.hstack([machine.meets, machine.meets]),
    )  # fmt: skip
