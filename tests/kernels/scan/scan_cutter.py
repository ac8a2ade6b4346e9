"""Cut bytes by the compiled entries of a pattern, window by window as the driver does."""

from __future__ import annotations

import numpy as np

from numbatok.compile import NO_AUTOMATON, build_classes
from numbatok.memory import addresses_of, aligned_zeros
from numbatok.native import function
from numbatok.pattern import Pattern
from numbatok.scratch import make_walk
from numbatok.tables import FLOW_GOES_ON, MARGIN, N_FLOW, Scan

SEGMENT = 8192


class Cutter:
    """The two entries of a pattern over a window of their own."""

    def __init__(
        self, pattern: Pattern, invalid: str = "byte-alphabet", segment: int = SEGMENT
    ) -> None:
        self.segment = segment
        self.window = aligned_zeros(segment + 2 * MARGIN, np.uint8)[: segment + MARGIN]
        self.starts = aligned_zeros(segment + 128, np.uint32)
        self.flow = np.zeros(N_FLOW, np.int64)
        classes = build_classes(pattern, NO_AUTOMATON)
        if invalid == "punct":
            classes = classes._replace(ill_formed=np.full(256, pattern.punctuation, np.uint8))
        self._scan = Scan(
            self.window, self.starts, classes, np.array(pattern.parameters, np.int64),
            aligned_zeros(64, np.uint8), NO_AUTOMATON, make_walk(NO_AUTOMATON),
            np.zeros(0, np.uint8), self.flow,
        )  # fmt: skip
        self._addresses = addresses_of(self._scan)
        self.address = self._addresses.ctypes.data
        self._scan_window = function(pattern.scan)
        self._pretoken_end = function(pattern.pretoken_end)

    def scan(self, text: bytes, size: int, goes_on: bool) -> list[int]:
        """Return the starts that the masks find in text[:size]; the rest of it follows."""
        ahead = text[: size + MARGIN]
        self.window[: size + MARGIN] = np.frombuffer(ahead.ljust(size + MARGIN), np.uint8)
        self.flow[FLOW_GOES_ON] = goes_on
        count = int(self._scan_window(self.address, 0, size, 0))
        return self.starts[:count].tolist()

    def scan_at(self, text: bytes, place: int, count: int) -> list[int]:
        """Return the starts of a whole text at a place of the window, after `count` others."""
        padded = text + b" " * MARGIN
        self.window[place : place + len(padded)] = np.frombuffer(padded, np.uint8)
        self.flow[FLOW_GOES_ON] = 0
        end = self._scan_window(self.address, place, place + len(text), count)
        return self.starts[count:end].tolist()

    def by_masks(self, text: bytes) -> list[int]:
        """Return the ends of the pretokens, by the mask kernel."""
        ends: list[int] = []
        pos = 0
        while pos < len(text):
            size = min(len(text) - pos, self.segment)
            goes_on = size < len(text) - pos
            found = self.scan(text[pos : pos + size + MARGIN], size, goes_on)
            assert found[0] == 0
            if not goes_on:
                return ends + [pos + start for start in found[1:]] + [len(text)]
            if len(found) == 1:  # longer than the window
                ends.append(self.end_by_twin(text, pos))
            else:
                ends += [pos + start for start in found[1:]]
            pos = ends[-1]
        return ends

    def by_twin(self, text: bytes) -> list[int]:
        """Return the ends of the pretokens, by the scalar kernel."""
        padded = np.frombuffer(text + b"x" * MARGIN, np.uint8)  # another text follows
        address, end, ends = padded.ctypes.data, 0, []
        while end < len(text):
            end = int(self._pretoken_end(self.address, address, end, len(text)))
            ends.append(end)
        return ends

    def end_by_twin(self, text: bytes, pos: int) -> int:
        """Return where the pretoken at pos ends, by the scalar kernel."""
        padded = np.frombuffer(text + bytes(MARGIN), np.uint8)
        return int(self._pretoken_end(self.address, padded.ctypes.data, pos, len(text)))
