"""Long lists of merges, checked by a kernel: seven look-ups a merge in Python had 1.2 of 2 s."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from numbatok.character_classes import byte_alphabet
from numbatok.native import function
from numbatok.spec import Merges

NO_BYTE = 256
NO_IDS = array("I")


def flat_merges(parts: Sequence[str], tokens: Mapping[bytes, int]) -> Merges | None:
    """Return the merges that join parts 0 and 1, 2 and 3, ...

    None if one of them is of a kind that takes a second look: a part outside the byte alphabet,
    a part or a product that is no token, a pair that is there twice.
    """
    codes = np.frombuffer("".join(parts).encode("utf-16-le"), np.uint16)
    spelled = _bytes_of_codes()[codes]
    lengths = np.fromiter(map(len, parts), np.uint32, len(parts))
    if spelled.max(initial=0) >= NO_BYTE or lengths.min(initial=1) == 0:
        return None
    text = spelled.astype(np.uint8).tobytes()
    return numbered(Merges(text, array("I", lengths.tobytes()), NO_IDS), tokens)


def numbered(merges: Merges, tokens: Mapping[bytes, int]) -> Merges | None:
    """Return merges with their ids.

    None if a part or a product is no token, or a pair is there twice.
    """
    lengths = np.frombuffer(merges.lengths, np.uint32)
    numbers = _token_numbers(merges.text, lengths, tokens)
    if numbers is None or _has_twice(numbers[:, 0], numbers[:, 1]):
        return None
    ids = np.fromiter(tokens.values(), np.uint32, len(tokens))[numbers]
    return Merges(merges.text, merges.lengths, array("I", ids.tobytes()))


def cut_merges(data: bytes, stub: bytes) -> tuple[bytes, Merges] | None:
    """Return a JSON text with a stub in the place of its first list of merges, and the merges.

    They have no ids yet. None if there is nothing like that, or something odd in it.
    """
    begin = re.search(rb'"merges"\s*:\s*\[', data)
    if begin is None or stub in data:
        return None
    content, size = np.frombuffer(data, np.uint8), len(data)
    spelled, lengths = np.empty(size, np.uint8), np.empty(size // 3 + 2, np.uint32)
    at, codes = np.array([begin.end(), 0, 0], np.int64), _bytes_of_codes().astype(np.uint32)
    n = function("read_merge_text")(
        content.ctypes.data, size, codes.ctypes.data, spelled.ctypes.data, lengths.ctypes.data,
        at.ctypes.data,
    )  # fmt: skip
    if n < 0:
        return None
    end, n_bytes, n_parts = at.tolist()
    counts = array("I", lengths[:n_parts].tobytes())
    merges = Merges(spelled[:n_bytes].tobytes(), counts, NO_IDS)
    return data[: begin.end() - 1] + stub + data[end:], merges


def _bytes_of_codes() -> NDArray[np.uint16]:
    """Return the byte that each UTF-16 unit stands for, or NO_BYTE."""
    table = np.full(65536, NO_BYTE, np.uint16)
    table[byte_alphabet()] = np.arange(256)
    return table


def _token_numbers(
    text: bytes, lengths: NDArray[np.uint32], tokens: Mapping[bytes, int]
) -> NDArray[np.uint32] | None:
    """Return the places in the vocabulary of left, right and product, uint32[n, 3], or None."""
    n, n_tokens = len(lengths) // 2, len(tokens)
    flat = np.frombuffer(text + bytes(16), np.uint8)
    joined = np.frombuffer(b"".join(tokens) + bytes(16), np.uint8)
    ends = np.zeros(n_tokens + 1, np.int64)
    np.cumsum(np.fromiter(map(len, tokens), np.int64, n_tokens), out=ends[1:])
    names = np.zeros(1 << (2 * n_tokens).bit_length(), np.uint64)
    numbers = np.zeros((n, 3), np.uint32)
    sound = function("find_merge_ids")(
        flat.ctypes.data, lengths.ctypes.data, n, joined.ctypes.data, ends.ctypes.data, n_tokens,
        names.ctypes.data, names.size, numbers.ctypes.data,
    )  # fmt: skip
    return numbers if sound == n else None


def _has_twice(lefts: NDArray[np.uint32], rights: NDArray[np.uint32]) -> bool:
    keys = np.sort(lefts.astype(np.uint64) << np.uint64(32) | rights)
    return bool((keys[1:] == keys[:-1]).any())
