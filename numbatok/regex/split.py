"""One step of a chain as a machine: a regex with a behavior, fixed lengths, scripts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import UnsupportedTokenizer
from numbatok.regex.machine import (
    CUT,
    CUT_AT_EMPTY_MATCH,
    NO_CUT,
    Machine,
    check_cells,
    number_pairs,
)
from numbatok.regex.outlook import Outlook
from numbatok.regex.program import write_program
from numbatok.regex.sets import Classes, SetTable
from numbatok.regex.threads import Alphabet, outlook_of
from numbatok.regex.tree import Node, sets_behind
from numbatok.spec import Behavior

LONGEST_PIECE = 1024  # of FixedLength: each length is a state


class Cutting(NamedTuple):
    """What a behavior makes of matches and of the gaps between them."""

    gap_to_match: int  # is there a cut where a match follows a gap?
    match_to_gap: int
    match_to_match: int
    drops_gaps: bool = False
    drops_matches: bool = False


def cutting_of(behavior: Behavior, invert: bool) -> Cutting:
    """Return what a behavior means; `invert` takes matches for gaps and gaps for matches."""
    match behavior:
        case "isolated":
            return Cutting(CUT, CUT, CUT)
        case "removed":
            return Cutting(CUT, CUT, CUT, drops_gaps=invert, drops_matches=not invert)
        case "contiguous":
            return Cutting(CUT, CUT, NO_CUT)
        case "merged_with_previous":
            return Cutting(CUT if invert else NO_CUT, NO_CUT if invert else CUT, CUT)
        case "merged_with_next":
            return Cutting(NO_CUT if invert else CUT, CUT if invert else NO_CUT, CUT)


def split_machine(node: Node, sets: SetTable, classes: Classes, cutting: Cutting) -> Machine:
    """Return the machine that cuts at the matches of a regex.

    Errors: UnsupportedTokenizer if that takes too many states.
    """
    alphabet = alphabet_of(node, sets, classes)
    return _Split(outlook_of(write_program(node), alphabet), alphabet.kinds, cutting).machine()


def alphabet_of(node: Node, sets: SetTable, classes: Classes) -> Alphabet:
    """Return the classes of points as a tree sees them, at a place and behind it."""
    asked = sorted(sets_behind(node))
    signatures = [(False,) * len(asked), *map(tuple, classes.holds[asked].T.tolist())]
    numbers: dict[tuple[bool, ...], int] = {}
    kinds = [numbers.setdefault(signature, len(numbers)) for signature in signatures]
    behind = np.zeros((len(numbers), len(sets.edges)), np.bool_)
    for signature, kind in numbers.items():
        behind[kind, asked] = signature
    return Alphabet(classes.holds, np.array(kinds[1:], np.int64), behind)


class _Split:
    """Builds the machine of a regex.

    Its states are START, one between matches for each kind of point before, and one in a match for
    each state of the regex.
    """

    def __init__(self, regex: Outlook, kinds: NDArray[np.int64], cutting: Cutting) -> None:
        self._regex, self._kinds, self._cutting = regex, kinds, cutting
        self._starts = np.array(regex.threads.starts)
        self._first_match = 1 + len(self._starts)

    def machine(self) -> Machine:
        regex, cutting = self._regex, self._cutting
        n_states = self._first_match + len(regex.threads.kinds)
        pairs, outlooks, classes = number_pairs(regex.back)
        check_cells(n_states, len(outlooks))
        drops, empties = np.zeros(n_states, np.bool_), np.zeros(n_states, np.bool_)
        drops[1 : self._first_match] = cutting.drops_gaps
        drops[self._first_match :] = cutting.drops_matches
        empties[: self._first_match] = regex.ends[0][self._at_boundary()[: self._first_match]]
        return Machine(
            regex.back, pairs, outlooks, classes, self._after(outlooks, classes), self._cuts(),
            self._meets(), drops, empties,
        )  # fmt: skip

    def _at_boundary(self) -> NDArray[np.int64]:
        """Return the state of the regex where a match would start, by state."""
        kinds = np.concatenate([[0], np.arange(len(self._starts)), self._regex.threads.kinds])
        found: NDArray[np.int64] = self._starts[kinds]
        return found

    def _ended(self) -> NDArray[np.bool_]:
        """Return [n_states, n_outlooks]: whether the place is not within a match."""
        in_match = ~self._regex.ends[:, :-1].T
        outside = np.ones((self._first_match, len(self._regex.back)), np.bool_)
        return np.vstack([outside, ~in_match])

    def _matches(self) -> NDArray[np.bool_]:
        """Return [n_states, n_outlooks]: whether a match that is not empty would start here."""
        starts, regex = self._at_boundary(), self._regex
        found: NDArray[np.bool_] = ~(regex.never | regex.ends)[:, starts].T
        return found

    def _cuts(self) -> NDArray[np.uint8]:
        cutting, ended, matches = self._cutting, self._ended(), self._matches()
        cuts = np.where(matches, np.uint8(cutting.gap_to_match), np.uint8(NO_CUT))
        empty = self._regex.ends[:, self._at_boundary()].T
        cuts[empty] = CUT_AT_EMPTY_MATCH
        # an empty match right after another match does not count
        after_match = np.where(matches, cutting.match_to_match, cutting.match_to_gap)
        cuts[self._first_match :] = after_match[self._first_match :]
        cuts[~ended] = NO_CUT
        cuts[0] = np.where(empty[0], CUT_AT_EMPTY_MATCH, CUT)
        return cuts

    def _after(self, outlooks: NDArray[np.int32], classes: NDArray[np.int32]) -> NDArray[np.int32]:
        threads, n_gaps = self._regex.threads, len(self._starts)
        bases = self._regex.bases[outlooks]
        first = self._first_match
        matching = first + threads.follows[:, bases, classes]  # [n_regex_states, n_pairs]
        gap = 1 + self._kinds[classes]
        starting = np.where(self._matches()[:, outlooks], matching[self._at_boundary()], gap)
        going_on = np.vstack([starting[: 1 + n_gaps], matching])
        after = np.where(self._ended()[:, outlooks], starting, going_on)
        return np.where(self._meets()[:, outlooks], after, 0).astype(np.int32)

    def _meets(self) -> NDArray[np.bool_]:
        in_match = ~self._regex.never[:, :-1].T
        outside = np.ones((self._first_match, len(self._regex.back)), np.bool_)
        return np.vstack([outside, in_match])


def fixed_length_machine(length: int) -> Machine:
    """Return the machine that cuts after every `length` points. Errors: UnsupportedTokenizer."""
    if not 1 <= length <= LONGEST_PIECE:
        raise UnsupportedTokenizer(
            f"pre_tokenizer FixedLength: length {length}, supported are 1 to {LONGEST_PIECE}"
        )
    zeros = np.zeros((1, 1), np.int32)
    after = np.arange(1, length + 2, dtype=np.int32)[:, None]
    after[length] = 1
    cuts = np.full((length + 1, 1), NO_CUT, np.uint8)
    cuts[0] = cuts[length] = CUT
    nothing = np.zeros(length + 1, np.bool_)
    return Machine(
        zeros, zeros, zeros[0], zeros[0], after, cuts, ~nothing[:, None], nothing, nothing
    )


def scripts_machine(n_scripts: int) -> Machine:
    """Return the machine that cuts where the script changes; class 0 is of any script.

    What stands before the first point of a script is dropped.
    """
    n = n_scripts + 1  # outlooks: nothing or any script comes next, or script k
    back = np.tile(np.arange(n, dtype=np.int32), (n, 1))
    pairs, outlooks, classes = number_pairs(back)
    states = np.arange(n + 1)  # START; of no script yet; 1 + k: script k
    after = np.where(classes > 0, 1 + classes, np.maximum(states, 1)[:, None]).astype(np.int32)
    comes = np.arange(n)
    cuts = ((comes > 0) & (states[:, None] != 1 + comes)).astype(np.uint8)
    cuts[0] = CUT
    drops = states == 1
    return Machine(
        back, pairs, outlooks, classes, after, cuts, np.ones(cuts.shape, np.bool_), drops,
        np.zeros(n + 1, np.bool_),
    )  # fmt: skip
