"""Random small tokenizers: equal to tokenizers 0.23.3, or refused with a reason."""

from __future__ import annotations

import pytest

from tests.parity.random_checks import run

pytestmark = pytest.mark.oracle
pytest.importorskip("tokenizers")

COUNT = 300


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.slow)])
def test_random_tokenizers(seed):
    outcome = run(seed, COUNT if seed == 11 else 10 * COUNT)
    print(outcome)
    assert not outcome.differences, "\n\n".join(outcome.differences[:5])
    assert outcome.equal > COUNT / 2
    assert outcome.compared > 50 * outcome.equal
    assert outcome.only_here == 0
