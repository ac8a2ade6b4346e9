"""Separators as `re` finds them."""

import random
import re

import numpy as np
import pytest

from numbatok.files import text as text_module
from numbatok.files.text import _positions

SEPARATORS = [b"\n", b"\n\n", b"aa", b"aba", b"<|endoftext|>", b"\xff\x00", b"a" * 70]


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("room", [1, 7, 1 << 10])
def test_positions_equal_those_of_re(separator, room, monkeypatch):
    monkeypatch.setattr(text_module, "LEAST_ROOM", room)
    chance, n_found = random.Random(room), 0
    for _ in range(300):
        pieces = [separator, separator[:-1], separator[1:], b"a", b"b", b"x" * 61, b"\n"]
        data = b"".join(chance.choices(pieces, k=chance.randint(0, 40)))
        expected = [match.start() for match in re.finditer(re.escape(separator), data)]
        assert _positions(np.frombuffer(data, np.uint8), separator).tolist() == expected
        n_found += len(expected)
    assert n_found > 500
