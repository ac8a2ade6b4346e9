"""The libraries that train: each a function (path, vocabulary size) -> products of the merges.

Nothing here imports a library before its function is called. Documents are what stands between
separators. Run as `python -m benchmarks.trainers NAME PATH SIZE` this is the fresh process of one
measurement.
"""

import hashlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.libraries import Peer

SEPARATOR = "\n\n\n"  # between the documents of the texts in ../shared/corpora
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
MARK = "result: "
Products = Sequence[bytes]


def numbatok(
    path: str, size: int, ties: str = "huggingface", memory_limit: int | None = None
) -> Products:
    """Train with numbatok; the Tokenizer that comes of it is in the time."""
    import numbatok as library
    from numbatok.training import Files

    source = Files(path, separator=SEPARATOR)
    tokenizer = library.train(
        source, size, ties=ties, memory_limit=memory_limit, progress=False,  # type: ignore[arg-type]
    )  # fmt: skip
    return [left + right for left, right in tokenizer.merges]


def numbatok_bytes(path: str, size: int) -> Products:
    """Train with numbatok, ties as rustbpe breaks them."""
    return numbatok(path, size, "bytes")


def numbatok_limited(path: str, size: int) -> Products:
    """Train with numbatok; counts that do not fit go to disk."""
    return numbatok(path, size, memory_limit=512_000_000)


def gigatoken(path: str, size: int) -> Products:
    """Train with gigatoken, ties as Hugging Face breaks them."""
    import gigatoken as library

    _, merges = library.train_bpe(path, size, [], "huggingface", SEPARATOR.encode())
    return [left + right for left, right in merges]


def tokenizers(path: str, size: int) -> Products:
    """Train with Hugging Face's BpeTrainer over its GPT-2 pre-tokenizer."""
    import tokenizers as library

    tokenizer = library.Tokenizer(library.models.BPE())
    tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = library.trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=library.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(path), trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    bytes_of = _byte_alphabet()
    return [bytes(bytes_of[char] for char in left + right) for left, right in merges]


def rustbpe(path: str, size: int) -> Products:
    """Train with rustbpe; it breaks ties by the values of the bytes."""
    import rustbpe as library

    trainer = library.Tokenizer()
    trainer.train_from_iterator(iter(_texts(path)), size, pattern=GPT2)
    return [token for token, rank in trainer.get_mergeable_ranks() if rank >= 256]


def bpeasy(path: str, size: int) -> Products:
    """Train with bpeasy; it breaks ties by the values of the bytes."""
    import bpeasy as library

    ranks = library.train_bpe(iter(_texts(path)), GPT2, 1 << 30, size)
    return [token for token, rank in sorted(ranks.items(), key=lambda item: item[1]) if rank >= 256]


# name -> how it trains, whose merges it must find, where it is installed
TRAINERS: dict[str, tuple[Callable[[str, int], Products], str, Peer]] = {
    "numbatok": (numbatok, "huggingface", Peer("numbatok", "numbatok")),
    "numbatok bytes": (numbatok_bytes, "bytes", Peer("numbatok", "numbatok")),
    "numbatok 512 MB": (numbatok_limited, "huggingface", Peer("numbatok", "numbatok")),
    "gigatoken": (
        gigatoken,
        "huggingface",
        Peer("benchmarks.libraries.gigatoken", "gigatoken", ("gigatoken==0.10.0", "numpy")),
    ),
    "tokenizers 0.23.3": (
        tokenizers,
        "huggingface",
        Peer("benchmarks.libraries.tokenizers_0", "tokenizers", ("tokenizers==0.23.3", "numpy")),
    ),
    "rustbpe": (rustbpe, "bytes", Peer("rustbpe", "rustbpe", ("rustbpe==0.1.0",))),
    "bpeasy": (bpeasy, "bytes", Peer("bpeasy", "bpeasy", ("bpeasy==0.1.6",))),
}


def _texts(path: str) -> list[str]:
    # bytes first: text files would turn carriage returns into line feeds
    return Path(path).read_bytes().decode(errors="replace").split(SEPARATOR)


def _byte_alphabet() -> dict[str, int]:
    """Return the byte of each character of GPT-2's byte alphabet."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(0x100 + place): byte for place, byte in enumerate(others)
    }


def digest(products: Products) -> str:
    """Return what tells whether two trainings found the same merges."""
    found = hashlib.sha256()
    for product in products:
        found.update(len(product).to_bytes(4, "little") + product)
    return found.hexdigest()


def main() -> None:
    """Train once and print times, memory and the digest of the merges as JSON."""
    name, path, size = sys.argv[1:]
    train = TRAINERS[name][0]
    wall, cpu = time.perf_counter(), time.process_time()
    products = train(path, int(size))
    answer = {
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "n_merges": len(products),
        "digest": digest(products),
    }
    sys.stdout.flush()
    os.write(1, f"\n{MARK}{json.dumps(answer)}\n".encode())


if __name__ == "__main__":
    main()
