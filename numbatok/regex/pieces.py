"""The pieces into which the steps before a ByteLevel step with a prefix space cut a text.

Each of them gets the space and is scanned alone, so they are found before the scan.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numbatok.regex.find import find_marks
from numbatok.regex.rows import AFTER_DROPPED
from numbatok.tables import COLUMN_BITS, ENDS_DROPPED, PUNCTUATION, Automaton


def find_pieces(automaton: Automaton, text: bytes) -> list[tuple[int, int]]:
    """Return start and end of each piece that an automaton does not drop."""
    if not text:
        return []
    marks, row = find_marks(automaton, text)
    at_end = automaton.ends[row >> int(automaton.shape[COLUMN_BITS])] & ENDS_DROPPED
    bounds = np.concatenate([[0], marks >> 2, [len(text)]])
    kept = np.append(marks & 3 != AFTER_DROPPED, at_end == 0)
    kept &= bounds[:-1] < bounds[1:]
    spans: NDArray[np.int64] = np.stack([bounds[:-1], bounds[1:]], axis=1)[kept]
    return [(start, end) for start, end in spans.tolist()]


def with_punctuation(automaton: Automaton) -> Automaton:
    """Return an automaton for which bytes that are no UTF-8 count as punctuation."""
    classes = np.full(256, automaton.shape[PUNCTUATION], np.uint8)
    return automaton._replace(classes=automaton.classes._replace(ill_formed=classes))
