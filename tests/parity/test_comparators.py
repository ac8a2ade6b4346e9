"""Each comparison sees a fault that is planted in what it compares."""

from __future__ import annotations

import dataclasses

import pytest

from tests.parity import random_checks
from tests.parity.checks import CHECKS, Scale
from tests.parity.comparing import Tally, settle
from tests.parity.published import Subject, open_subject

pytestmark = pytest.mark.oracle

TINY = Scale(300, "a '", 2, 60_013, 40, 40, 5_003, 20, 5, 5)
IDS = ("encode_batch", "encode")
COMPARED = {
    "corpora": IDS,
    "short strings": IDS,
    "scalars": IDS,
    "fuzz": IDS,
    "glued": IDS,
    "cuts": ("encode",),
    "vocabulary": (*IDS, "decode_batch"),
    "decoding": ("decode_batch",),
    "streams": ("decode_stream",),
    "templates": (*IDS, "encode_pair"),
    "bytes": ("encode_batch", "decode_bytes"),
}
FAULTS = [(check, call) for check, calls in COMPARED.items() for call in calls]


class Faulty:
    """A tokenizer of which one call gives one wrong result, the second one it is asked for."""

    def __init__(self, tokenizer, call):
        self._tokenizer, self._call, self._asked = tokenizer, call, 0

    def __getattr__(self, name):
        method = getattr(self._tokenizer, name)
        if name != self._call:
            return method

        def call(*arguments, **options):
            result = method(*arguments, **options)
            self._asked += 1
            return spoiled(result) if self._asked <= 2 else result

        return call


class FaultyStream:
    """A stream that repeats what it gives, and ends with more."""

    def __init__(self, stream):
        self._stream = stream

    def push(self, i):
        return self._stream.push(i) * 2

    def flush(self):
        return self._stream.flush() + "x"


def spoiled(result):
    """Return a result with one thing wrong."""
    if isinstance(result, bytes):
        return result + b"x"
    if isinstance(result, str):
        return result + "x"
    if isinstance(result, list):
        return [text + "x" if row == len(result) // 2 else text for row, text in enumerate(result)]
    if isinstance(result, tuple):
        return result[0], result[1] + 1
    if hasattr(result, "push"):
        return FaultyStream(result)
    if hasattr(result, "offsets"):
        ids = result.ids.copy()
        ids[len(ids) // 2] ^= 1
        return (
            dataclasses.replace(result, ids=ids)
            if dataclasses.is_dataclass(result)
            else (type(result)(ids, result.offsets))
        )
    return result + 1 if result.size else result.__class__((1,), result.dtype)


@pytest.fixture(scope="module")
def subject():
    return open_subject("gpt2/tokenizer.json")


def test_every_check_has_its_faults():
    assert COMPARED.keys() == CHECKS.keys()


@pytest.mark.parametrize(("check", "call"), FAULTS)
def test_a_planted_fault_is_seen(subject, check, call):
    sound = list(CHECKS[check](subject, TINY))
    settle(check, sound)
    faulty = dataclasses.replace(subject, tokenizer=Faulty(subject.tokenizer, call))
    assert isinstance(faulty, Subject)
    with pytest.raises(AssertionError, match=r"[1-9]\d* differ"):
        settle(check, CHECKS[check](faulty, TINY))


def test_nothing_compared_is_a_failure():
    with pytest.raises(AssertionError, match="nothing was compared"):
        settle("none", [Tally("none")])
    with pytest.raises(AssertionError, match="nothing was compared"):
        settle("none", [])


RANDOM_CALLS = ("encode", "encode_batch", "encode_pair", "decode", "decode_stream")


@pytest.mark.parametrize("call", RANDOM_CALLS)
def test_a_planted_fault_in_a_random_tokenizer_is_seen(call):
    outcome = random_checks.run(1, 6, lambda value: Faulty(random_checks.tokenizer_of(value), call))
    assert len(outcome.differences) == 6 - sum(outcome.refused.values()) > 0
