"""BPE by its definition, for comparing what a file was read as with what a library makes of it."""

from __future__ import annotations

from itertools import pairwise

from numbatok.spec import BpeModel


class Merger:
    """Encodes pretokens with a model, slowly."""

    def __init__(self, model: BpeModel) -> None:
        self.model = model
        self.ranks = model.tokens
        if model.merges is not None:
            self.rank_of = {pair: rank for rank, pair in enumerate(model.merges)}

    def rank(self, left: bytes, right: bytes) -> int | None:
        if self.model.merges is None:
            return self.ranks.get(left + right)
        return self.rank_of.get((left, right))

    def encode(self, pretoken: bytes) -> list[int]:
        """Return the ids; bytes without a token are dropped (there is no unk in these tests)."""
        if self.model.ignore_merges and pretoken in self.ranks:
            return [self.ranks[pretoken]]
        symbols = [bytes([b]) for b in pretoken if bytes([b]) in self.ranks]
        while True:
            ranked = [
                (rank, place)
                for place, pair in enumerate(pairwise(symbols))
                if (rank := self.rank(*pair)) is not None
            ]
            if not ranked:
                return [self.ranks[symbol] for symbol in symbols]
            _, place = min(ranked)
            symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
