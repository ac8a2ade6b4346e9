"""Threads of Python that run kernels: all come back, and without them the ids are the same."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from numbatok import crew, native, parallel

TEXT = "words of a text, 2024's \n" * 60_000


@pytest.fixture
def no_crews(monkeypatch):
    monkeypatch.setattr(crew, "_crews", {})
    monkeypatch.setattr(parallel, "n_threads", lambda: 3)
    monkeypatch.setattr(parallel, "_uses_driver", lambda: False)


def test_rows_run_side_by_side_in_order(no_crews):
    meeting = threading.Barrier(3)

    def call(number):
        meeting.wait(20)  # only passed if all three run at once
        return 10 * number

    assert crew.run_rows(crew.crew_of(2), call, [[1], [2], [3]]) == [10, 20, 30]


def test_an_interrupt_waits_for_the_others(no_crews):
    ended = []

    def call(number):
        if number == 0:
            raise KeyboardInterrupt
        time.sleep(0.2)
        ended.append(number)
        return 0

    with pytest.raises(KeyboardInterrupt):
        crew.run_rows(crew.crew_of(2), call, [[0], [1], [2]])
    assert sorted(ended) == [1, 2]


@pytest.mark.skipif(native.interpreted(), reason="interpreted kernels run serially")
def test_without_threads_the_ids_are_the_same(no_crews, gpt2, monkeypatch):
    expected = gpt2.encode(TEXT)

    def refuse(_self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(crew, "_crews", {})
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert crew.crew_of(2) is None
    assert np.array_equal(expected, gpt2.encode(TEXT))
    assert np.array_equal(expected, gpt2.encode_batch([TEXT, TEXT]).ids[: len(expected)])


PROGRAM = """
import os, sys
import numbatok
from numbatok import crew, parallel
parallel.n_threads = lambda: 2
tok = numbatok.load("gpt2")
text = "words of a text, 2024's \\n" * 60_000
ids = tok.encode(text)
assert len(crew._crews) == 1 and parallel._home is None and "numba" not in sys.modules
child = os.fork() if hasattr(os, "fork") else 0
assert tok.encode(text).tolist() == ids.tolist()
assert list(crew._crews) == [(os.getpid(), 1)] or child == 0
if child:
    assert os.waitpid(child, 0)[1] == 0
else:
    assert (os.getpid(), 1) in crew._crews
    os._exit(0)
print(len(ids))
"""


@pytest.mark.skipif(native.interpreted(), reason="interpreted kernels run serially")
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_numba_is_not_loaded_and_a_child_has_threads_of_its_own(gpt2):
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) == len(gpt2.encode(TEXT))
