"""All matches of a regex in a text, found by the automaton that cuts at them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from numbatok.memory import addresses_of
from numbatok.native import function
from numbatok.regex.automaton import lay_out
from numbatok.regex.chain import join_levels
from numbatok.regex.parser import literal_node, parse
from numbatok.regex.sets import SetTable
from numbatok.regex.split import cutting_of
from numbatok.regex.steps import split_level
from numbatok.tables import (
    COLUMN_BITS,
    ENDS_AT_EMPTY_MATCH,
    ENDS_DROPPED,
    FLOW_ROW,
    MARGIN,
    N_FLOW,
    STRIDE,
    Automaton,
    Finder,
    Walk,
)

MATCH_ENDS, EMPTY_MATCH = 2, 3  # as find_marks tells them


@lru_cache(maxsize=64)
def _automaton(pattern: str, is_regex: bool) -> Automaton:
    sets = SetTable()
    node = parse(pattern, "tokenizers", sets) if is_regex else literal_node(pattern, sets)
    level = split_level(node, sets, cutting_of("removed", invert=False))
    return lay_out(join_levels([level], []), marks_empty=True)


def find_marks(automaton: Automaton, text: bytes) -> tuple[NDArray[np.int64], int]:
    """Return the places with a cut, as the kernel writes them, and the row at the end.

    `text` is not empty.
    """
    padded = np.frombuffer(text + bytes(MARGIN), np.uint8)
    outlooks = np.empty(len(text) // STRIDE + 3, np.uint32)
    work = np.empty((2, STRIDE + MARGIN), np.uint16)
    flow, marks = np.zeros(N_FLOW, np.int64), np.empty(STRIDE, np.int64)
    no_marks = np.zeros(0, np.uint8)
    finder = Finder(automaton, Walk(work[0], work[1], no_marks, outlooks), flow)
    addresses, kernel = addresses_of(finder), function("find_marks")
    found = []
    for pos in range(0, len(text), STRIDE):
        count = kernel(addresses.ctypes.data, padded.ctypes.data, pos, len(text), marks.ctypes.data)
        found.append(marks[:count].copy())
    return np.concatenate(found), int(flow[FLOW_ROW])


class Pattern:
    """A regex, or a literal string, that can be searched for. Safe for any number of threads.

    Errors: UnsupportedTokenizer, naming the construct; InvalidTokenizerFile.
    """

    def __init__(self, pattern: str, is_regex: bool = True) -> None:
        self._automaton = _automaton(pattern, is_regex)

    def spans(self, text: bytes) -> NDArray[np.int64]:
        """Return start and end of every match, int64[n, 2], as Hugging Face finds them.

        From left to right, without overlaps; an empty match counts unless it is right after
        another match. An empty text has none.
        """
        if not text:
            return np.empty((0, 2), np.int64)
        marks, row = find_marks(self._automaton, text)
        places, what = marks >> 2, marks & 3
        ends = self._automaton.ends[row >> int(self._automaton.shape[COLUMN_BITS])]
        starts = np.append(0, places[:-1])
        spans = [
            np.stack([starts, places], axis=1)[what == MATCH_ENDS],
            np.stack([places, places], axis=1)[what == EMPTY_MATCH],
        ]
        if ends & ENDS_DROPPED:
            spans.append(np.array([[places[-1], len(text)]]))
        if ends & ENDS_AT_EMPTY_MATCH:
            spans.append(np.array([[len(text), len(text)]]))
        found = np.concatenate(spans)
        return found[np.lexsort((found[:, 1], found[:, 0]))]
