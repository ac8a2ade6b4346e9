"""The automaton's kernels: windows, long pretokens, drops, arbitrary bytes, linear time."""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from numbatok.compile import build_tables
from numbatok.errors import NumbatokError
from numbatok.native import function
from numbatok.reference.atoms import join, split_atoms
from numbatok.reference.chain import run_chain
from numbatok.scratch import SEGMENT, ThreadState
from numbatok.spec import (
    BpeModel,
    ByteLevel,
    Digits,
    Punctuation,
    Split,
    TokenizerSpec,
    WhitespaceSplit,
    WhitespaceWords,
)
from numbatok.tables import CUTS_FROM, FLOW_GOES_ON, MARGIN
from numbatok.tokenizer import Tokenizer
from numbatok.training.blocks import one_document
from numbatok.training.counting import Counter
from tests.conftest import ROOT
from tests.reference.comparing import assert_equal, differences
from tests.regex.chains import BYTES, CHARACTERS, GPT2_BYTES, PUBLISHED, RandomChains, regex
from tests.regex.running import Runner

MODEL = BpeModel({bytes([byte]): byte for byte in range(256)}, merges=())


def spec_of(steps, engine="tokenizers"):
    return TokenizerSpec(MODEL, pre_tokenizers=tuple(steps), engine=engine)


def tokenizer_of(steps, engine="tokenizers"):
    """Return a tokenizer of bytes that runs the automaton whatever the chain."""
    spec = spec_of([*steps, regex("(?!)")] if engine == "tokenizers" else steps, engine)
    tokenizer = Tokenizer(spec, build_tables(spec))
    assert tokenizer._tables.automaton.back.size > 0
    return tokenizer


def pairs_of(made, count, longest):
    """Return (tokenizer, runner) of random chains that are supported."""
    pairs = []
    while len(pairs) < count:
        steps = made.chain(longest)
        try:
            pairs.append((tokenizer_of(steps), Runner(steps)))
        except NumbatokError:
            continue
    return pairs


def long_text(made, size):
    """Return text of one of several kinds, longer than a window, often with long runs."""
    chance = made.chance
    match chance.randrange(4):
        case 0:
            return "".join(chance.choices(CHARACTERS, k=size))
        case 1:
            lengths = [1, 1, 2, 50, 3000, SEGMENT + 100]
            runs = [chance.choice(CHARACTERS) * chance.choice(lengths) for _ in range(12)]
            return "".join(runs)[: 3 * size]
        case 2:
            return made.text(30) * (size // 15)
    return "".join(made.text(9) for _ in range(size // 5))


def long_cases(seed, n_chains):
    made = RandomChains(seed)
    return [
        (tokenizer, runner, long_text(made, made.chance.choice([20, 9_000, 20_000])).encode())
        for tokenizer, runner in pairs_of(made, n_chains, 3)
        for _ in range(2)
    ]


def in_windows(case):
    return case[0].pretokenize(case[2])


def at_once(case):
    return case[1].pretokens(case[2])


@pytest.mark.parametrize(
    ("seed", "n_chains"), [(1, 25), pytest.param(2, 1_500, marks=pytest.mark.slow)]
)
def test_long_texts_are_cut_as_one(seed, n_chains):
    assert_equal("long texts", long_cases(seed, n_chains), at_once, in_windows)


def test_comparison_sees_a_scan_that_forgets_where_it_was(monkeypatch):
    cases = long_cases(1, 25)
    for tokenizer, _, _ in cases:  # every row after a cut is the first one: a text that starts
        shape = tokenizer._tables.automaton.shape
        tokenizer._tables.automaton.forward[: shape[CUTS_FROM]] %= max(int(shape[CUTS_FROM]), 1)
    assert differences(cases, at_once, in_windows)[1]


def test_ids_leave_out_what_is_dropped():
    made = RandomChains(3)
    cases = [
        (tokenizer, runner, long_text(made, 9_000).encode())
        for tokenizer, runner in pairs_of(made, 12, 2)
    ]
    cases += [
        (tokenizer_of(steps), Runner(steps), long_text(made, 9_000).encode())
        for steps in ([WhitespaceSplit(), BYTES], [WhitespaceWords(), BYTES])
        for _ in range(4)
    ]
    assert_equal(
        "ids", cases, lambda case: [byte for pretoken in at_once(case) for byte in pretoken],
        lambda case: case[0].encode(case[2]).tolist(),
    )  # fmt: skip
    assert_equal(
        "counts", cases, lambda case: sum(map(len, at_once(case))),
        lambda case: case[0].count(case[2]),
    )  # fmt: skip


def test_documents_of_a_batch_are_apart():
    made = RandomChains(4)
    for tokenizer, runner in pairs_of(made, 8, 3):
        texts = [made.text(12) for _ in range(300)] + ["", long_text(made, 9_000), ""]
        expected = [[b for pretoken in runner.pretokens(text) for b in pretoken] for text in texts]
        assert tokenizer.encode_batch(texts).to_list() == expected


# --- the contract of a scan -----------------------------------------------------------------------


def state_and_scan(steps):
    tokenizer = tokenizer_of(steps)
    return ThreadState(tokenizer._tables, tokenizer._pattern), function("scan_automaton")


@pytest.mark.parametrize(
    "name", ["deepseek-coder", "falcon", "grouped digits", "llada", "words only"]
)
def test_every_start_but_the_last_is_final_whatever_follows(name):
    """A window is cut off at every place: what is decided there must hold for the whole text."""
    steps, made, compared = PUBLISHED[name], RandomChains(5), 0
    state, scan = state_and_scan(steps)
    for text in ["".join(made.chance.choices(CHARACTERS, k=60)).encode() for _ in range(6)]:
        ends = starts_of(state, scan, text, len(text), goes_on=False)
        for stop in range(1, len(text)):
            found = starts_of(state, scan, text, stop, goes_on=True)
            assert found[:-1] == ends[: len(found) - 1]
            assert found[-1] == ends[len(found) - 1]
            compared += len(found)
    assert compared > 1_000


def starts_of(state, scan, text, stop, goes_on):
    state.flow[:] = 0
    state.flow[FLOW_GOES_ON] = goes_on
    padded = text.ljust(len(text) + 2 * MARGIN)
    state.window[: len(text) + MARGIN] = np.frombuffer(padded, np.uint8)[: len(text) + MARGIN]
    return state.starts[: scan(state.address, 0, stop, 0)].tolist()


# --- bytes that are not UTF-8 ---------------------------------------------------------------------


def byte_cases(seed, count, invalid):
    made, cases = RandomChains(seed), []
    while len(cases) < count:
        steps = made.chain(3)
        try:
            tokenizer = tokenizer_of(steps)
            cases += [(steps, tokenizer, data, invalid) for data in (made.data() for _ in range(5))
                      if by_reference((steps, tokenizer, data, invalid)) is not None]  # fmt: skip
        except NumbatokError:
            continue
    return cases


def by_reference(case):
    steps, _, data, invalid = case
    return [
        join(pretoken) for pretoken in run_chain(steps, "tokenizers", split_atoms(data, invalid))
    ]


def by_kernel(case):
    return case[1].pretokenize(case[2], invalid=case[3])


@pytest.mark.parametrize("invalid", ["byte-alphabet", "punct"])
def test_bytes_that_are_not_utf_8_are_cut_as_the_reference_does(invalid):
    assert_equal(f"bytes, {invalid}", byte_cases(6, 250, invalid), by_reference, by_kernel)


def test_comparison_sees_the_wrong_policy():
    cases = [(*case[:3], "punct") for case in byte_cases(6, 250, "byte-alphabet")]
    lines = differences(cases, lambda case: by_reference((*case[:3], "byte-alphabet")), by_kernel)[
        1
    ]
    assert lines


# --- cases from public reports --------------------------------------------------------------------


def strings(steps, text):
    return tokenizer_of(steps).pretokenize(text.encode())


def test_a_literal_pattern_is_not_a_regex():
    assert strings([Split(r"\s+", False), BYTES], "a b") == [b"a b"]
    assert strings([Split(r"\s+", True), BYTES], "a b") == [b"a", b" ", b"b"]


def test_digits_after_byte_level_see_the_byte_alphabet():
    text = "²³ Ÿ 1"
    assert strings([GPT2_BYTES, Digits(True)], text) == [
        b"\xc2", b"\xb2", b"\xc2", b"\xb3", b" \xc5\xb8", b" ", b"1",
    ]  # fmt: skip
    assert strings([Digits(True), GPT2_BYTES], text) == [
        b"\xc2\xb2", b"\xc2\xb3", b" \xc5\xb8", b" ", b"1",
    ]  # fmt: skip


def test_falcon_cuts_inside_a_character():
    assert strings(PUBLISHED["falcon"], "½") == [b"\xc2", b"\xbd"]


# --- time -----------------------------------------------------------------------------------------

HARD = [
    ([regex("a*b|a"), BYTES], "a"),
    ([regex(r"\s*[\r\n]+|\s+(?!\S)|\s+"), BYTES], " "),
    ([regex(r"a(?=.*b)|."), BYTES], "a"),
    ([regex("(?:a|aa)+$"), BYTES], "a"),
    ([regex("a*b|a"), regex("a+c|a"), BYTES], "a"),
    ([regex(r"(?=(\w+)$)\w|."), Punctuation("contiguous"), GPT2_BYTES], "a"),
]


@pytest.mark.parametrize(("steps", "unit"), HARD)
def test_hard_texts_take_time_in_proportion_to_their_length(steps, unit):
    """Eight times the text may take at most 40 times as long; a quadratic scan takes 64 times."""
    tokenizer, seconds = tokenizer_of(steps), []
    for size in (100_000, 800_000):
        data = (unit * size).encode()
        best = 9.0
        for _ in range(5):
            started = time.process_time()
            assert tokenizer.count(data) == size
            tokenizer.pretoken_ends(data)
            best = min(best, time.process_time() - started)
        seconds.append(best)
    print(f"{seconds[1] / seconds[0]:.1f} times as long for 8 times the text")
    assert seconds[1] < 40 * seconds[0]


def counts_in_blocks(steps, data, size):
    """Return the counts of one document that comes in blocks of `size` bytes."""
    counter = Counter(spec_of(steps))
    for start in range(0, len(data), size):
        counter.add(one_document(data[start : start + size], start + size < len(data)))
    found = counter.finish()
    return dict(zip(found, found.numbers.tolist(), strict=True))


@pytest.mark.parametrize("name", ["falcon", "words only", "grouped digits", "laguna"])
@pytest.mark.parametrize("size", [5_000, 11_111, 1_000_000])
def test_training_counts_what_encode_cuts(name, size):
    """Documents that go on from block to block, with runs longer than a window and drops."""
    made = RandomChains(8)
    text = "".join(long_text(made, 9_000) for _ in range(4)) + "½" * 9_000 + " " * 20_000 + "12"
    expected = collections.Counter(Runner(PUBLISHED[name]).pretokens(text))

    assert counts_in_blocks(PUBLISHED[name], text.encode(), size) == expected


def test_a_byte_level_step_alone_leaves_a_text_whole():
    data = b"a b\n" * 10_000
    assert tokenizer_of([ByteLevel(False, use_regex=False)]).pretokenize(data) == [data]


# --- as plain Python ------------------------------------------------------------------------------

PROGRAM = """
import json
from tests.kernels.scan.test_automaton import pretokens_of_all
print(json.dumps(pretokens_of_all()))
"""


def pretokens_of_all():
    """Return the pretokens of texts of a few windows and less, spelled as Latin-1."""
    made, found = RandomChains(9), {}
    for name in ("deepseek-coder", "falcon", "words only"):
        tokenizer = tokenizer_of(PUBLISHED[name])
        texts = [made.data() for _ in range(10)] + [long_text(made, 3_000).encode()[:12_000]]
        texts.append(b"a" * (SEGMENT + 300) + " ½".encode() * 2_500)
        found[name] = [
            [pretoken.decode("latin-1") for pretoken in tokenizer.pretokenize(text)]
            for text in texts
        ]
    return found


def test_interpreted_kernels_cut_as_the_compiled_ones():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env=environment, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]

    compiled = pretokens_of_all()
    assert json.loads(done.stdout) == compiled
    assert sum(len(pretokens) for texts in compiled.values() for pretokens in texts) > 10_000
