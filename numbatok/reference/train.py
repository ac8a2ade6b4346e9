"""Training in plain Python: count every pair, merge the best one everywhere, again.

The executable specification of `numbatok.train`. It counts all pairs anew for every merge, so that
nothing has to be kept up to date: O(merges x bytes of distinct pretokens).

Of pairs with the same count, `ties` chooses:

"huggingface"  the smaller (left id, right id), bytes being numbered in the order of GPT-2's byte
               alphabet: printable ASCII, printable Latin-1, the others; products follow in the
               order of their merges. So do tokenizers' BpeTrainer and GPT-2's vocabulary.
"bytes"        the same, bytes being numbered by their value. So do rustbpe and bpeasy.
"minbpe"       the pair that occurs first, reading the distinct pretokens in the order given. So
               does minbpe, whose dictionary keeps the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, get_args

from numbatok.errors import InvalidValue
from numbatok.reference.atoms import byte_alphabet

Ties = Literal["huggingface", "bytes", "minbpe"]
Pair = tuple[int, int]
Merge = tuple[bytes, bytes]


def train(
    counts: Mapping[bytes, int],
    n_merges: int,
    *,
    ties: Ties = "huggingface",
    min_frequency: int = 0,
    max_token_bytes: int | None = None,
    start_from: Sequence[Merge] = (),
    forbidden: Collection[bytes] = (),
    veto: Callable[[bytes, bytes], bool] | None = None,
) -> list[Merge]:
    """Return up to n_merges merges learned from pretokens, in order, after those of `start_from`.

    Args:
        counts: how often each pretoken occurs, in the order in which they occur first.
        n_merges: how many merges to learn.
        ties: which of equally frequent pairs is merged.
        min_frequency: a pair that occurs less often is not merged; 0 is the same as 1.
        max_token_bytes: no merge makes a longer token.
        start_from: merges that are applied first, in rank order; their products are forbidden.
        forbidden: no merge makes one of these.
        veto: called with left and right; True forbids the merge.
    """
    tokens = alphabet(ties)
    number_of = {token: number for number, token in enumerate(tokens)}
    words = [([number_of[bytes([byte])] for byte in text], n) for text, n in counts.items()]
    for left, right in start_from:
        pair = number_of[left], number_of[right]
        number_of[left + right] = len(tokens)
        words = [(merge_pair(symbols, pair, len(tokens)), n) for symbols, n in words]
        tokens.append(left + right)
    refused = {left + right for left, right in start_from} | set(forbidden)
    merges: list[Merge] = []
    vetoed: set[Pair] = set()
    while len(merges) < n_merges:
        pairs = count_pairs(words)
        best = best_pair(pairs, vetoed, ties)
        if best is None or pairs[best] < min_frequency:
            break
        left, right = tokens[best[0]], tokens[best[1]]
        product = left + right
        too_long = max_token_bytes is not None and len(product) > max_token_bytes
        if too_long or product in refused or (veto is not None and veto(left, right)):
            vetoed.add(best)
            continue
        words = [(merge_pair(symbols, best, len(tokens)), n) for symbols, n in words]
        tokens.append(product)
        merges.append((left, right))
    return merges


def alphabet(ties: Ties) -> list[bytes]:
    """Return the 256 bytes in the order of their numbers."""
    if ties not in get_args(Ties):
        raise InvalidValue(f"ties is {ties!r}; use one of {', '.join(map(repr, get_args(Ties)))}")
    values: Iterable[int] = range(256)
    if ties == "huggingface":
        values = sorted(values, key=byte_alphabet().__getitem__)
    return [bytes([value]) for value in values]


def count_pairs(words: Iterable[tuple[Sequence[int], int]]) -> dict[Pair, int]:
    """Return how often each pair occurs, in the order of the first occurrences.

    Occurrences may overlap: `aaa` has the pair (a, a) twice.
    """
    pairs: dict[Pair, int] = {}
    for symbols, n in words:
        for pair in pairwise(symbols):
            pairs[pair] = pairs.get(pair, 0) + n
    return pairs


def best_pair(pairs: Mapping[Pair, int], vetoed: Collection[Pair], ties: Ties) -> Pair | None:
    """Return the pair to merge next, or None if there is none."""
    allowed = [pair for pair in pairs if pair not in vetoed]
    if ties == "minbpe":
        return max(allowed, key=pairs.__getitem__, default=None)  # the first of the greatest
    return min(allowed, key=lambda pair: (-pairs[pair], pair), default=None)


def merge_pair(symbols: Sequence[int], pair: Pair, product: int) -> list[int]:
    """Return the symbols with every occurrence of the pair replaced, from left to right."""
    merged: list[int] = []
    at = 0
    while at < len(symbols):
        if tuple(symbols[at : at + 2]) == pair:
            merged.append(product)
            at += 2
        else:
            merged.append(symbols[at])
            at += 1
    return merged
