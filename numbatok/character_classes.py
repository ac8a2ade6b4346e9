"""Classes of all code points, packed for kernels, and the byte alphabet as code points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numbatok.tables import U8, U16, CharacterClasses, WideClasses


def two_stages(kinds: U8, ill_formed: U8) -> CharacterClasses:
    """Pack the classes of all code points into a table of 128-point blocks, equal ones once."""
    which, blocks = _blocks(kinds.tobytes(), 128)
    return CharacterClasses(which, np.frombuffer(blocks, np.uint8), ill_formed)


def wide_stages(kinds: U16, ill_formed: U8) -> WideClasses:
    """Pack the classes of all code points as `two_stages` does."""
    which, blocks = _blocks(kinds.tobytes(), 256)
    return WideClasses(which, np.frombuffer(blocks, np.uint16), ill_formed)


def _blocks(content: bytes, size: int) -> tuple[U16, bytes]:
    """Return the number of each block of some bytes, and the different blocks."""
    numbers: dict[bytes, int] = {}  # the block of ASCII comes first, where kernels find it at once
    which = [
        numbers.setdefault(content[start : start + size], len(numbers))
        for start in range(0, len(content), size)
    ]
    return np.array(which, np.uint16), b"".join(numbers)


def byte_alphabet() -> NDArray[np.int64]:
    """Return the code point that stands for each byte in GPT-2's byte alphabet, int64[256]."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    points = np.zeros(256, np.int64)
    points[printable] = printable
    others = [byte for byte in range(256) if points[byte] == 0]
    points[others] = 256 + np.arange(len(others))
    return points
