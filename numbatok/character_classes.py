"""Classes of all code points, packed for kernels."""

from __future__ import annotations

import numpy as np

from numbatok.tables import U8, CharacterClasses


def two_stages(kinds: U8, ill_formed: U8) -> CharacterClasses:
    """Pack the classes of all code points into a table of 128-point blocks, equal ones once."""
    content = kinds.tobytes()
    numbers: dict[bytes, int] = {}  # the block of ASCII comes first, where kernels find it at once
    which = [
        numbers.setdefault(content[start : start + 128], len(numbers))
        for start in range(0, len(content), 128)
    ]
    return CharacterClasses(
        np.array(which, np.uint16), np.frombuffer(b"".join(numbers), np.uint8), ill_formed
    )
