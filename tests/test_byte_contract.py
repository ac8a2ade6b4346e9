"""docs/bytes.md says what the plain Python pipeline does, and the kernels do the same."""

import importlib.util
from itertools import product
from pathlib import Path

import pytest

from numbatok import InvalidUtf8

ROOT = Path(__file__).resolve().parents[1]
POLICIES = ("byte-alphabet", "punct", "replace", "error")


@pytest.fixture(scope="module")
def script():
    path = ROOT / "data" / "build_byte_contract.py"
    specification = importlib.util.spec_from_file_location("build_byte_contract", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_page_is_what_the_script_writes(script):
    assert script.PAGE.read_text(encoding="utf-8") == script.page()


def test_the_table_has_all_256_bytes(script):
    rows = [line for line in script.PAGE.read_text().splitlines() if line.startswith("| `")]
    bytes_of_rows = [line[3:5] for line in rows if line[5] == "`" and "U+" in line]

    assert bytes_of_rows == [f"{byte:02x}" for byte in range(256)]


def by_kernels(gpt2, data, policy):
    try:
        return gpt2.encode(data, invalid=policy).tolist(), gpt2.pretokenize(data, invalid=policy)
    except InvalidUtf8:
        return None


def by_reference(spec, data, policy):
    from numbatok import reference

    try:
        ids = reference.encode(spec, data, invalid=policy)
    except InvalidUtf8:
        return None
    return ids, reference.pretokenize(spec, data, invalid=policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_kernels_do_what_the_page_says(gpt2, script, policy):
    from numbatok.formats.gpt2 import read_gpt2

    spec, compared = read_gpt2(), 0
    alone = [bytes([byte]) for byte in range(256)]
    inside = [b"a" + byte + b" '" + byte + b"7" for byte in alone]
    texts = [*map(bytes.fromhex, script.REPRODUCERS), *alone, *inside]
    for data in texts:
        assert by_kernels(gpt2, data, policy) == by_reference(spec, data, policy), data
        compared += 1
    print(f"{policy}: {compared} texts compared")
    assert compared == len(script.REPRODUCERS) + 512


@pytest.mark.parametrize("policy", POLICIES[:2])
def test_bytes_come_back(gpt2, policy):
    hard = (0x20, 0x27, 0x41, 0x80, 0xA0, 0xBF, 0xC3, 0xE2, 0xED, 0xF0, 0xFF)
    for data in map(bytes, product(hard, repeat=3)):
        assert gpt2.decode_bytes(gpt2.encode(data, invalid=policy)) == data


def test_ids_of_the_public_reports(gpt2):
    assert gpt2.encode("a\ud83d").tolist() == [64, 4210]
    assert gpt2.encode("\ud83d\udc4d").tolist() == gpt2.encode("👍").tolist()
    assert gpt2.encode(b"\0\0abc").tolist() == [188, 188, 39305]
    with pytest.raises(InvalidUtf8, match=r"character 1 is the surrogate U\+D83D"):
        gpt2.encode("a\ud83d", invalid="error")
