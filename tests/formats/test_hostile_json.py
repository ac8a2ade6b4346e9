"""Broken and hostile tokenizer.json files by the thousand: refused in bounded time, or read."""

import copy
import json
import random
import time
import tracemalloc

import pytest

from numbatok.errors import InvalidTokenizerFile, NumbatokError
from numbatok.tokenizer import _from_spec
from tests.formats.documents import BYTE_LEVEL, added, document, hugging_face, read, read_or_error
from tests.formats.test_tokenizer_json import TEMPLATE, split

RICH = document(
    model_merges=[["a", "b"], ["ab", "c"]],
    added_tokens=[added("<s>", 258, special=True), added("</s>", 259, lstrip=True)],
    normalizer={
        "type": "Sequence",
        "normalizers": [
            {"type": "NFC"},
            {"type": "Strip", "strip_left": True, "strip_right": False},
            {"type": "Replace", "pattern": {"Regex": "x"}, "content": "y"},
            {"type": "Prepend", "prepend": "_"},
        ],
    },
    pre_tokenizer={
        "type": "Sequence",
        "pretokenizers": [
            split(),
            {"type": "Digits", "individual_digits": True},
            {"type": "Punctuation", "behavior": "Isolated"},
            {"type": "CharDelimiterSplit", "delimiter": "-"},
            BYTE_LEVEL,
        ],
    },
    post_processor={"type": "Sequence", "processors": [BYTE_LEVEL, TEMPLATE]},
    decoder={
        "type": "Sequence",
        "decoders": [
            {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            {"type": "WordPiece", "prefix": "##", "cleanup": True},
            BYTE_LEVEL,
        ],
    },
)
SHORT_VOCAB = {string: id for string, id in RICH["model"]["vocab"].items() if id < 4 or id > 255}
WRONG = [None, True, 0, -1, 1.5, 2**31, 2**63, "", "x", "Ġ", [], [1], ["a", "b"], {}, {"a": 1}]


def places(value, path=()):
    """Every path in a document; of the byte characters in the vocabulary only some."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            if path != ("model", "vocab") or key in SHORT_VOCAB:
                yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from places(inner, (*path, place))


def replaced(path, wrong):
    whole = copy.deepcopy(RICH)
    if not path:
        return wrong
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = wrong
    return whole


def removed(path):
    whole = copy.deepcopy(RICH)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return whole


@pytest.mark.oracle
def test_every_value_replaced_by_every_wrong_one():
    """What is read, Hugging Face reads too; no error is of another kind than ours."""
    read_count = refused = 0
    only_ours = []
    for path in places(RICH):
        variants = [replaced(path, wrong) for wrong in WRONG] + ([removed(path)] if path else [])
        for value in variants:
            ours = read_or_error(value)
            if isinstance(ours, NumbatokError):
                assert len(str(ours)) < 600
                refused += 1
                continue
            read_count += 1
            # truncation and padding are recorded and never applied, so not looked into
            if path[:1] not in (("truncation",), ("padding",)) and hugging_face(value) is None:
                only_ours.append((path, value))
    print(f"{refused} refused, {read_count} read, {len(only_ours)} of them only here")
    assert not only_ours, {path for path, _ in only_ours}
    assert refused > 2000
    assert read_count > 150


def test_comparison_sees_what_only_one_side_reads():
    assert hugging_face(document(version="2.0")) is None
    assert hugging_face(document()) is not None


@pytest.mark.oracle
def test_random_bytes_changed_in_the_text():
    """A flipped, dropped or doubled byte: read as Hugging Face reads it, or refused."""
    rng = random.Random(7)
    small = document(added_tokens=RICH["added_tokens"], model_merges=[["a", "b"]])
    data = json.dumps(small, ensure_ascii=False).encode()
    refused = equal = 0
    for _ in range(1500):
        place = rng.randrange(len(data))
        change = rng.choice([b"", data[place : place + 1] * 2, bytes([rng.randrange(256)])])
        broken = data[:place] + change + data[place + 1 :]
        ours = read_or_error(broken)
        if isinstance(ours, NumbatokError):
            refused += 1
            continue
        theirs = hugging_face(broken.decode())
        assert theirs is not None, (place, change)
        assert {t.content: t.id for t in ours.added_tokens} == {
            token.content: id for id, token in theirs.get_added_tokens_decoder().items()
        }
        vocab = theirs.get_vocab(with_added_tokens=False)
        assert len(vocab) == len(ours.model.tokens) + len(ours.model.opaque)
        equal += 1
    print(f"{refused} refused, {equal} read alike")
    assert refused > 500
    assert equal > 100


@pytest.mark.parametrize("cut", [1, 10, 100, 1000, 2000, 3000])
def test_truncated(cut):
    data = json.dumps(RICH, ensure_ascii=False).encode()
    with pytest.raises(InvalidTokenizerFile):
        read(data[:-cut])


def bounded(value, seconds=3.0, megabytes=400):
    """Read a file and check the time and the memory it took."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    tracemalloc.start()
    start = time.process_time()
    result = read_or_error(data)
    spent, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert spent < seconds * 10, spent  # tracing makes it about three times slower
    assert peak < megabytes << 20, peak
    return result


@pytest.mark.parametrize(
    "value",
    [
        document(model_vocab={"a": 0, "b": 2**24}),
        document(model_vocab={"a": 0, "b": 2**31 - 1}),
        document(added_tokens=[added("x" * 3_000_000, 258), added("<y>", 2**32)]),
        document(model_merges=["a"] * 200_000),
        document(model_merges=[["a", "b"]] * 200_000 + [["a"]]),
        document(model_merges=[[]] * 200_000),
        document(model_vocab={"a" * 100: "b" * 100} | {str(i): i for i in range(100_000)}),
        document(normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}] * 200_000}),
        document(post_processor={**TEMPLATE, "single": [{"Sequence": {}}] * 100_000}),
        b'{"model":' * 500_000,
        b"[" * 3_000_000,
        b'{"a":"' + b"\\u0000" * 500_000,
        b'{"a":' + b"9" * 3_000_000 + b"}",
        b'{"a":' + b"-" * 3_000_000 + b"}",
        b'{"a":1e' + b"9" * 3_000_000 + b"}",
    ],
    ids=range(15),
)
def test_bombs_are_refused_in_bounded_time_and_memory(value):
    assert isinstance(bounded(value), NumbatokError)


def test_large_sound_files_are_read_in_bounded_time_and_memory():
    strings = {f"x{i}": 258 + i for i in range(50_000)}
    spec = bounded(
        document(
            model_vocab={**RICH["model"]["vocab"], **strings},
            model_merges=[["a", "b"]] * 100_000,
            added_tokens=[added("x" * 1_000_000, 1)],
        )
    )
    assert len(spec.model.tokens) == 50_258
    assert spec.model.merges == ((b"a", b"b"),)


def replacing(*contents):
    steps = [{"type": "Replace", "pattern": {"String": "a"}, "content": c} for c in contents]
    return {"type": "Sequence", "normalizers": steps, "decoders": steps}


TEXT_A = {"Sequence": {"id": "A", "type_id": 0}}
MANY_IDS = {"s": {"id": "s", "ids": list(range(200)), "tokens": ["s"] * 200}}


def wide_template(count, special):
    single = [TEXT_A, *[{"SpecialToken": {"id": "s", "type_id": 0}}] * count]
    return {**TEMPLATE, "single": single, "pair": [TEXT_A], "special_tokens": special}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normalizer": replacing(*["aa"] * 40)}, "normalizer: its Replace steps can make a text"),
        ({"decoder": replacing(*["aa"] * 40)}, "decoder: its Replace steps can make a text"),
        (
            {
                "normalizer": {
                    "type": "Sequence",
                    "normalizers": [{"type": "Prepend", "prepend": "a" * 10_000}] * 101,
                }
            },
            "its steps put 1010000 bytes before a text",
        ),
        (
            {"added_tokens": [added(f"{i}" + "a" * 100_000, 258 + i) for i in range(26)]},
            "added_tokens: 2600042 bytes in all",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [split(pattern={"Regex": "x|" * 10_001}), BYTE_LEVEL],
                }
            },
            "regex: 20002 characters, supported are 20000",
        ),
        ({"post_processor": wide_template(20_000, MANY_IDS)}, "20001 parts, supported are 10000"),
        ({"post_processor": wide_template(60, MANY_IDS)}, "adds 12000 ids, supported are 10000"),
    ],
)
def test_what_would_take_gigabytes_is_refused(changes, message):
    started = time.process_time()
    with pytest.raises(NumbatokError, match=message):
        _from_spec(read(document(**changes)))
    assert time.process_time() - started < 20


def test_the_largest_id_takes_no_gigabyte():
    value = document(model_vocab={**document()["model"]["vocab"], "zz": (1 << 24) - 1})
    tracemalloc.start()
    tokenizer = _from_spec(read(value))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tokenizer.decode([(1 << 24) - 1]) == "zz"
    assert peak < 500_000_000
