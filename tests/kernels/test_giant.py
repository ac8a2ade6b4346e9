"""Pretokens longer than a window: in windows, as a whole and by a heap, against tokenizers."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import pytest

import numbatok
from numbatok.native import function, interpreted
from numbatok.scratch import SEGMENT
from tests.conftest import unpacked

pytestmark = pytest.mark.skipif(interpreted(), reason="such texts take minutes as plain Python")

ALPHABETS = [
    "a", "^", "ab", "aab", "etaoinshrdlu", "abcdefghijklmnopqrstuvwxyz", "é", "中文的一是不了人",
    "aé", "ABab", "zq", "x" * 30 + "y", "นี้ก็ทำได้ไม่ยาก",
]  # fmt: skip


def merged(tokenizer, data, entry):
    """Return the ids of one pretoken by one of the entries, or None if it declines."""
    state = tokenizer._encoder.take_state(tokenizer._policies.get("plain"))
    try:
        if entry == "merge_whole":
            state.use_work(len(data))
        padded = np.frombuffer(data + bytes(64), np.uint8)
        ids = np.empty(len(data), np.uint32)
        n_ids = function(entry)(state.address, padded.ctypes.data, len(data), ids.ctypes.data)
        counted = function(entry)(state.address, padded.ctypes.data, len(data), 0)
        assert counted == n_ids
        state.use_work(0)
        return ids[:n_ids].tolist() if n_ids >= 0 else None
    finally:
        tokenizer._encoder.give_state(state)


def pretoken(seed, size):
    rng = random.Random(seed)
    alphabet = ALPHABETS[seed % len(ALPHABETS)]
    text = "".join(rng.choices(alphabet, k=size))
    if seed % 3 == 0:  # a period, broken now and then
        text = (text[: rng.randrange(1, 60)] * size)[:size]
        at = rng.randrange(size)
        text = text[:at] + alphabet[0] + text[at:]
    return text.encode()


def sizes():
    """Sizes about the ends of the first windows, and longer ones."""
    return [SEGMENT + d for d in (-65, -64, 0, 1, 511, 513)] + [
        2 * SEGMENT,
        3 * SEGMENT + 7,
        50_000,
    ]


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["gpt2", "llama3", "deepseek_v3", "glm5", "qwen3.5"])
def test_windows_whole_and_tokenizers_agree(name):
    tokenizers = pytest.importorskip("tokenizers")
    path = unpacked(f"vocabs/{name}/tokenizer.json")
    spec = json.loads(path.read_text())
    spec["pre_tokenizer"] = {
        "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False,
    }  # fmt: skip
    oracle = tokenizers.Tokenizer.from_str(json.dumps(spec | {"normalizer": None}))
    tokenizer, compared, in_windows = numbatok.load(path), 0, 0
    for seed, size in enumerate(sizes() + sizes()):
        data = pretoken(seed, size)
        text = data.decode(errors="ignore")
        data = text.encode()
        wanted = oracle.encode(text, add_special_tokens=False).ids
        windows = merged(tokenizer, data, "merge_giant")
        assert merged(tokenizer, data, "merge_whole") == wanted
        assert windows in (None, wanted), (name, seed, size)
        compared += 1
        in_windows += windows is not None
    print(f"{compared} pretokens compared, {in_windows} of them in windows")
    assert in_windows > 12


@pytest.mark.parametrize("seed", range(8))
def test_random_vocabularies(seed):
    """Trained on random letters, with merges of equal symbols and long tokens."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("ab", k=rng.randrange(1, 40))) for _ in range(300)]
    words += ["a" * rng.randrange(1, 200) for _ in range(50)]
    tokenizer = numbatok.train(words, 256 + 30 * (seed + 1), progress=False)
    tables, compared = tokenizer._tables, 0
    assert tables.merges.ids.size > 280
    for number in range(20):
        data = "".join(rng.choices(["a", "b", "aaaa", "ab" * 9], k=rng.randrange(3000))).encode()
        wanted = by_definition(tokenizer, data[:1500])
        assert merged(tokenizer, data[:1500], "merge_whole") == wanted
        whole = merged(tokenizer, data * 9, "merge_whole")
        assert merged(tokenizer, data * 9, "merge_giant") in (None, whole), (seed, number)
        compared += 2
    print(f"{compared} pretokens compared")


def by_definition(tokenizer, data):
    """Merge pair by pair, lowest rank first, leftmost on a tie."""
    ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    parts = [data[at : at + 1] for at in range(len(data))]
    while True:
        pairs = set(pairwise(parts)) & ranks.keys()
        if not pairs:
            return [tokenizer.token_to_id(part) for part in parts]
        left, right = min(pairs, key=ranks.__getitem__)
        joined, at = [], 0
        while at < len(parts):
            if parts[at : at + 2] == [left, right]:
                joined.append(left + right)
                at += 2
            else:
                joined.append(parts[at])
                at += 1
        parts = joined


def with_merges(path, merges, alphabet):
    """Write a tokenizer of these merges, whatever their order."""
    strings = dict.fromkeys([*alphabet, *(c for pair in merges for c in "".join(pair))])
    strings |= dict.fromkeys("".join(pair) for pair in merges)
    spec = {
        "version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
        "pre_tokenizer": {
            "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
            "use_regex": False,
        },
        "decoder": None,
        "model": {"type": "BPE", "vocab": {s: i for i, s in enumerate(strings)}, "merges": merges},
    }  # fmt: skip
    path.write_text(json.dumps(spec))


FEW = [["ab", "c"], ["a", "b"], ["abc", "abc"], ["b", "b"], ["c", "ab"]]


def shuffled_merges(seed):
    """Merges learned from random words, most of them moved up or down."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abc", k=rng.randrange(1, 30))) for _ in range(200)]
    merges = numbatok.train(words, 256 + 40 * (seed + 1), progress=False).merges
    places = sorted(range(len(merges)), key=lambda place: place + rng.uniform(0, 9 * seed))
    return [[part.decode() for part in merges[place]] for place in places]


@pytest.mark.oracle
@pytest.mark.parametrize("every_byte", [True, False])
@pytest.mark.parametrize("merges", [FEW, *map(shuffled_merges, range(1, 7))])
def test_merges_before_those_of_their_parts(tmp_path, merges, every_byte):
    """`ab c` comes before `a b`: no pass over the ranks sees it, so a heap merges the windows."""
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet() if every_byte else []
    with_merges(path, merges, alphabet)
    tokenizer, oracle = numbatok.load(path), tokenizers.Tokenizer.from_file(str(path))
    rng, in_windows = random.Random(1), 0
    for size in (100, 300, 3000, 9000, 9001, 20_000, 40_000):
        text = "".join(rng.choices(["a", "b", "c", "abc"], k=size))
        wanted = oracle.encode(text).ids
        assert tokenizer.encode(text).tolist() == wanted
        assert merged(tokenizer, text.encode(), "merge_whole") == wanted
        windows = merged(tokenizer, text.encode(), "merge_giant")
        assert windows in (None, wanted)
        in_windows += windows is not None
    print(f"7 pretokens compared, {in_windows} of them in windows")
    assert in_windows > 4


def test_a_giant_is_encoded_in_the_call(gpt2):
    text = "x " + "".join(random.Random(2).choices("etaoinshrdlu", k=60_000)) + " y"
    assert (
        gpt2.encode(text).tolist()
        == gpt2.encode("x").tolist()
        + merged(gpt2, text[1:-2].encode(), "merge_whole")
        + gpt2.encode(" y").tolist()
    )
    assert gpt2.count(text) == len(gpt2.encode(text))
