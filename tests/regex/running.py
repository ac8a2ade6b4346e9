"""The tables of a compiled chain, run in plain Python over characters that the reference finds."""

from __future__ import annotations

from collections.abc import Sequence

from numbatok.reference.atoms import split_atoms
from numbatok.regex.automaton import lay_out
from numbatok.regex.chain import compile_chain
from numbatok.regex.sets import STRAY_BYTES, STRAY_MARK
from numbatok.spec import PreTokenizer
from numbatok.tables import COLUMN_BITS, CUTS_FROM, DROPS_FROM, ENDS_DROPPED


class Runner:
    """Cuts texts as the kernel does, without its windows and its four stretches."""

    def __init__(self, steps: Sequence[PreTokenizer], engine: str = "tokenizers") -> None:
        self.chain = compile_chain(steps, engine)
        self.automaton = lay_out(self.chain)

    def symbols(self, data: bytes, invalid: str = "byte-alphabet") -> list[int]:
        """Return the symbol of each byte."""
        symbols = []
        for atom in split_atoms(data, invalid):
            point = atom.code
            if not atom.is_character:
                point = STRAY_MARK if invalid == "punct" else STRAY_BYTES + atom.data[0]
            kinds = [int(self.chain.kinds[point])] + [0] * (len(atom.data) - 1)
            symbols += [
                self._joint(kind, byte) for kind, byte in zip(kinds, atom.data, strict=True)
            ]
        return symbols

    def _joint(self, kind: int, byte: int) -> int:
        joint = self.automaton.joint
        return int(joint[kind << 8 | byte]) if joint.size else kind

    def pretokens(self, text: str | bytes, invalid: str = "byte-alphabet") -> list[bytes]:
        """Return the pretokens of a text."""
        data = text.encode() if isinstance(text, str) else text
        if not data:
            return []
        starts, dropped = self._cuts(self.symbols(data, invalid))
        ends = [*starts[1:], len(data)]
        return [data[a:b] for a, b, d in zip(starts, ends, dropped, strict=True) if not d]

    def _cuts(self, symbols: list[int]) -> tuple[list[int], list[bool]]:
        automaton, shape = self.automaton, self.automaton.shape
        columns, row = [0] * len(symbols), 0
        for place in reversed(range(len(symbols))):
            cell = row + symbols[place]
            columns[place], row = int(automaton.columns[cell]), int(automaton.back[cell])
        starts, dropped, row = [], [], 0
        for place, column in enumerate(columns):
            row = int(automaton.forward[row + column])
            if row >= shape[CUTS_FROM]:
                starts.append(place)
                dropped.append(bool(row >= shape[DROPS_FROM]))
        last = automaton.ends[row >> int(shape[COLUMN_BITS])] & ENDS_DROPPED
        return starts, [*dropped[1:], bool(last)]
