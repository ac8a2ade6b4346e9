"""The steps of a chain, each as a machine over its own classes of points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok import unicode
from numbatok.errors import UnsupportedTokenizer
from numbatok.pattern_names import GPT2
from numbatok.regex.machine import Machine
from numbatok.regex.parser import literal_node, parse
from numbatok.regex.sets import (
    Classes,
    SetTable,
    classify,
    of_characters,
    with_property,
)
from numbatok.regex.split import (
    Cutting,
    cutting_of,
    fixed_length_machine,
    scripts_machine,
    split_machine,
)
from numbatok.regex.tree import Node, One
from numbatok.spec import (
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    PreTokenizer,
    Punctuation,
    Split,
    UnicodeScripts,
    WhitespaceSplit,
    WhitespaceWords,
)

WHITESPACE_PATTERN = r"\w+|[^\w\s]+"  # of the Whitespace step, in the dialect of tiktoken's engine


class Level(NamedTuple):
    """One step."""

    classes: Classes
    machine: Machine


def level_of(step: PreTokenizer, engine: str, points: NDArray[np.int64] | None = None) -> Level:
    """Return the level of a step; with `points` it is over these only, as in `classify`.

    Errors: UnsupportedTokenizer, InvalidTokenizerFile.
    """
    if isinstance(step, FixedLength):
        return Level(classify([], points), fixed_length_machine(step.length))
    if isinstance(step, UnicodeScripts):
        return _scripts(points)
    sets = SetTable()
    node, cutting = _regex_of(step, engine, sets)
    return split_level(node, sets, cutting, points)


def split_level(
    node: Node, sets: SetTable, cutting: Cutting, points: NDArray[np.int64] | None = None
) -> Level:
    """Return the level that cuts at the matches of a regex."""
    classes = classify(sets.edges, points)
    return Level(classes, split_machine(node, sets, classes, cutting))


def _regex_of(step: PreTokenizer, engine: str, sets: SetTable) -> tuple[Node, Cutting]:
    """Return the regex that a step stands for, and what becomes of its matches."""
    match step:
        case Split(pattern, is_regex, behavior, invert):
            node = parse(pattern, engine, sets) if is_regex else literal_node(pattern, sets)
            if engine == "tiktoken":  # a match is a pretoken, the rest is dropped
                behavior, invert = "removed", True
            return node, cutting_of(behavior, invert)
        case ByteLevel():
            return parse(GPT2, "tokenizers", sets), cutting_of("isolated", False)
        case WhitespaceWords():
            return parse(WHITESPACE_PATTERN, "tiktoken", sets), cutting_of("removed", True)
        case Digits(individual):
            mask = with_property(unicode.numeric_characters())
            behavior = "isolated" if individual else "contiguous"
        case Punctuation(behavior):
            mask = with_property(unicode.punctuation_characters())
        case WhitespaceSplit():
            mask, behavior = with_property(unicode.white_space()), "removed"
        case CharDelimiterSplit(delimiter):
            table = np.arange(unicode.CODE_POINTS) == ord(delimiter)
            mask, behavior = of_characters(table), "removed"
        case _:
            raise UnsupportedTokenizer(f"{step!r} is not supported")
    return One(sets.number(mask)), cutting_of(behavior, False)


def _scripts(points: NDArray[np.int64] | None) -> Level:
    table = with_property(unicode.cutting_scripts())
    if points is not None:
        table = table[points]
    unknown = unicode.SCRIPT_NAMES.index("Unknown")
    numbers = np.where(table == unknown, 0, table.astype(np.int64) + 1)
    starts = np.append(0, np.flatnonzero(numbers[1:] != numbers[:-1]) + 1)
    present = np.unique(np.append(numbers[starts], 0))
    labels = np.searchsorted(present, numbers[starts])
    classes = Classes(starts, labels, np.zeros((0, len(present)), np.bool_))
    return Level(classes, scripts_machine(len(present) - 1))
