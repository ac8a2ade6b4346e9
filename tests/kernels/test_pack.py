"""Packed ids against one large integer."""

import numpy as np
import pytest

from numbatok.native import function
from numbatok.tables import PACK_SPARE_BYTES


@pytest.mark.parametrize("width", range(17, 32))
def test_eight_ids_take_as_many_bytes_as_one_has_bits(width):
    rng = np.random.default_rng(width)
    for n in (0, 8, 16, 24, 8 * 129):
        ids = rng.integers(0, 1 << width, n).astype(np.uint32)
        ids[: n // 2] |= (1 << width) - 1  # all bits set: what spills over would show
        packed = np.full(n // 8 * width + PACK_SPARE_BYTES + 8, 0xA5, np.uint8)
        size = packed.size - 8
        n_bytes = function("pack_ids")(ids.ctypes.data, n, width, packed.ctypes.data, size)
        number = sum(int(token) << k * width for k, token in enumerate(ids.tolist()))
        assert n_bytes == n // 8 * width
        assert packed[:n_bytes].tobytes() == number.to_bytes(n_bytes, "little")
        assert (packed[size:] == 0xA5).all()
