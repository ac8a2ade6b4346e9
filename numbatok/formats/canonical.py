"""The one merge that can make each token of a rank file.

In a rank file any two neighbors whose concatenation is a token may merge. But two symbols x and y
are neighbors at some moment of merging a text only if merging the bytes of xy alone comes to x|y as
its last step: until then no merge has crossed the borders of xy, so inside them the same merges
happened in the same order as they do alone. So of all the ways to split a token at most one is ever
used in any text, and a list of these merges, in the order of the tokens' ranks, gives what the rank
file gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush

FEW_BYTES = 64
"""Longest token whose splits are looked at one by one before merging is tried."""


def canonical_merges(ranks: Mapping[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Return the merges of a rank file in rank order; tokens that merging never makes have none."""
    merges = []
    for token in sorted(ranks, key=ranks.__getitem__):
        place = canonical_split(token, ranks)
        if place:
            merges.append((token[:place], token[place:]))
    return merges


def canonical_split(token: bytes, ranks: Mapping[bytes, int]) -> int:
    """Return the length of the left part in the merge that makes `token`, 0 if none can.

    Where one split only has two tokens as its parts it is returned without trying: if merging
    never comes to it, its parts are never neighbors.
    """
    if len(token) < 2:
        return 0
    if len(token) <= FEW_BYTES:
        places = [at for at in range(1, len(token)) if token[:at] in ranks and token[at:] in ranks]
        if len(places) < 2:
            return places[0] if places else 0
    return last_merge(token, ranks)


def last_merge(token: bytes, ranks: Mapping[bytes, int]) -> int:
    """Merge the bytes of a token by rank, then from the left; return where the last merge joins.

    0 if merging does not come to the token. A symbol is its start and end; an entry of the heap is
    stale when one of its two symbols is no more. O(n log n) merges for n bytes.
    """
    size = len(token)
    end_of = list(range(1, size + 1))
    start_of = list(range(-1, size))  # by end
    heap = [
        (ranks[token[at : at + 2]], at, at + 1, at + 2)
        for at in range(size - 1)
        if token[at : at + 2] in ranks
    ]
    heapify(heap)
    symbols = size
    while heap:
        _, start, middle, end = heappop(heap)
        if end_of[start] != middle or end_of[middle] != end:
            continue
        if symbols == 2:
            return middle
        symbols -= 1
        end_of[start], end_of[middle], start_of[end] = end, 0, start
        if start and (rank := ranks.get(token[start_of[start] : end])) is not None:
            heappush(heap, (rank, start_of[start], start, end))
        if end < size and (rank := ranks.get(token[start : end_of[end]])) is not None:
            heappush(heap, (rank, start, end, end_of[end]))
    return 0
