"""Every published file at hand equals its library, or is refused by name."""

from __future__ import annotations

import pytest

import numbatok
from tests.conftest import SHARED
from tests.parity.checks import CHECKS, QUICK
from tests.parity.comparing import settle
from tests.parity.published import LOADS, NO_TOKENIZER, REFUSED, open_subject, path_of

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("file", LOADS)
def test_loads_and_equals_its_library(file):
    """A sample of all that `python -m tests.parity --full` compares."""
    subject = open_subject(file)
    tallies = (tally for check in CHECKS.values() for tally in check(subject, QUICK))
    settle(subject.pair_of_libraries, tallies)


@pytest.mark.parametrize("file", REFUSED)
def test_is_refused_by_name(file):
    error, reason = REFUSED[file]
    with pytest.raises(error, match=reason):
        numbatok.load(path_of(file))


def test_no_file_is_forgotten():
    path_of("gpt2/vocab.bpe")  # or skip: nothing is here
    packed = (SHARED / "vocabs").glob("*/*.xz")
    names = {f"{path.parent.name}/{path.name.removesuffix('.xz')}" for path in packed}
    tokenizers = {name for name in names if not name.endswith(NO_TOKENIZER)}
    assert tokenizers == LOADS.keys() | REFUSED.keys()
    print(f"{len(LOADS)} files load, {len(REFUSED)} are refused")
