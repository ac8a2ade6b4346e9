"""The parallel driver: the only kernel that starts threads.

It calls the serial driver by address, so it is small (1.5 s to compile instead of 5) and shares
its machine code.
"""

from __future__ import annotations

import numba

from numbatok.addresses import call_with_nine
from numbatok.tables import I64


def run_parts(address: int, arguments: I64, results: I64) -> None:
    """Call the entry at an address once per part: arguments int64[n, 9], results int64[n]."""
    for part in numba.prange(results.size):
        row = arguments[part]
        results[part] = call_with_nine(
            address, row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]
        )
