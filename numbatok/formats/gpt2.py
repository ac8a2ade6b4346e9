"""The embedded GPT-2 vocabulary.

`numbatok/data/gpt2.bin` is a zlib stream of four byte columns of 50,000 rows each: low and high
bytes of the left ids, then of the right ids, of the merges in rank order. Ids 0..255 are the bytes
in the order of the byte alphabet, id 256 + r is the product of merge r, and 50256 is the one
special token. zlib unpacks it in 2 ms; xz is 4% smaller and takes 12 ms.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from numbatok.errors import InvalidTokenizerFile
from numbatok.formats.byte_alphabet import BYTES_IN_ID_ORDER
from numbatok.spec import AddedToken, BpeModel, ByteLevel, TokenizerSpec

DATA_FILE = Path(__file__).parent.parent / "data" / "gpt2.bin"
MERGE_COUNT = 50_000
END_OF_TEXT = AddedToken("<|endoftext|>", 50_256, special=True, normalized=True)


def read_gpt2(data: bytes | None = None) -> TokenizerSpec:
    """Return GPT-2, equal to its published tokenizer.json but for its `name`.

    Args:
        data: the content of DATA_FILE, if it is at hand.

    Raises:
        InvalidTokenizerFile: the data file of the installed package is damaged.
    """
    pairs = unpack_merges(DATA_FILE.read_bytes() if data is None else data)
    tokens = [bytes([byte]) for byte in BYTES_IN_ID_ORDER]
    for left, right in pairs:
        tokens.append(tokens[left] + tokens[right])
    merges = tuple((tokens[left], tokens[right]) for left, right in pairs)
    vocabulary = {token: number for number, token in enumerate(tokens)}
    vocabulary[END_OF_TEXT.content.encode()] = END_OF_TEXT.id
    return TokenizerSpec(
        model=BpeModel(tokens=vocabulary, merges=merges),
        pre_tokenizers=(ByteLevel(add_prefix_space=False, use_regex=True),),
        added_tokens=(END_OF_TEXT,),
        offset_trimming=ByteLevel(add_prefix_space=True, use_regex=True, trim_offsets=False),
        name="gpt2",
    )


def pack_merges(pairs: list[tuple[int, int]]) -> bytes:
    """Return the data file for merges given as pairs of ids below 65,536."""
    lefts = [left for left, _ in pairs]
    rights = [right for _, right in pairs]
    columns = [bytes(i & 255 for i in lefts), bytes(i >> 8 for i in lefts)]
    columns += [bytes(i & 255 for i in rights), bytes(i >> 8 for i in rights)]
    return zlib.compress(b"".join(columns), 9)


def unpack_merges(data: bytes) -> list[tuple[int, int]]:
    """Return the merges of the data file as pairs of ids, in rank order."""
    try:
        columns = zlib.decompress(data)
    except zlib.error as error:
        raise _damaged(str(error)) from error
    if len(columns) != 4 * MERGE_COUNT:
        raise _damaged(f"{len(columns)} bytes after unpacking, expected {4 * MERGE_COUNT}")
    a, b, c, d = (columns[k * MERGE_COUNT : (k + 1) * MERGE_COUNT] for k in range(4))
    pairs = [(w | x << 8, y | z << 8) for w, x, y, z in zip(a, b, c, d, strict=True)]
    for rank, pair in enumerate(pairs):
        if max(pair) >= 256 + rank:
            raise _damaged(f"merge {rank} joins a token that does not exist yet: {pair}")
    return pairs


def _damaged(fact: str) -> InvalidTokenizerFile:
    return InvalidTokenizerFile(f"{DATA_FILE} is damaged: {fact}. Install numbatok again.")
