"""Classes of all code points, packed for kernels."""

from __future__ import annotations

import numpy as np

from numbatok.tables import U8, CharacterClasses


def two_stages(kinds: U8, ill_formed: U8) -> CharacterClasses:
    """Pack the classes of all code points into a table of 128-point blocks, equal ones once."""
    blocks, which = np.unique(kinds.reshape(-1, 128), axis=0, return_inverse=True)
    # the block of ASCII comes first, where kernels find it at once
    order = np.arange(len(blocks))
    first = int(which.ravel()[0])
    order[0], order[first] = first, 0
    place = np.argsort(order)
    return CharacterClasses(
        place[which.ravel()].astype(np.uint16),
        np.ascontiguousarray(blocks[order]).ravel(),
        ill_formed,
    )
