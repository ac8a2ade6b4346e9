"""Write numbatok/data/gpt2.bin from the published GPT-2 files.

    python data/build_gpt2.py [FOLDER]

FOLDER holds `vocab.bpe` and `encoder.json` as released with GPT-2 (each may be xz-compressed);
default: `../shared/vocabs/gpt2`, or `vocabs/gpt2` under NUMBATOK_SHARED. Prints sizes and SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from numbatok.formats.byte_alphabet import BYTES_IN_ID_ORDER, to_spelling  # noqa: E402
from numbatok.formats.gpt2 import DATA_FILE, END_OF_TEXT, MERGE_COUNT, pack_merges  # noqa: E402


def read(folder: Path, name: str) -> str:
    """Return the text of a file of the folder, unpacked, and print its SHA-256."""
    path = folder / name
    data = (
        path.read_bytes()
        if path.exists()
        else lzma.decompress((folder / f"{name}.xz").read_bytes())
    )
    print(f"{name}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")
    return data.decode("utf-8")


def main() -> None:
    """Check that ids follow ranks, then write the file."""
    shared = Path(os.environ.get("NUMBATOK_SHARED", ROOT.parent / "shared"))
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else shared / "vocabs" / "gpt2"
    lines = read(folder, "vocab.bpe").splitlines()[1:]
    merges = [(left, right) for left, right in (line.split(" ") for line in lines if line)]
    vocabulary = json.loads(read(folder, "encoder.json"))
    expected = [to_spelling(bytes([byte])) for byte in BYTES_IN_ID_ORDER]
    expected += [left + right for left, right in merges] + [END_OF_TEXT.content]
    if vocabulary != {token: number for number, token in enumerate(expected)}:
        raise SystemExit("encoder.json: an id is not 256 + the rank of its merge")
    if len(merges) != MERGE_COUNT:
        raise SystemExit(f"vocab.bpe: {len(merges)} merges, expected {MERGE_COUNT}")
    data = pack_merges([(vocabulary[left], vocabulary[right]) for left, right in merges])
    DATA_FILE.write_bytes(data)
    print(f"{DATA_FILE.name}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
