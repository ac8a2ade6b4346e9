"""Patterns made to explode are compiled or refused in bounded time and memory."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from numbatok.errors import NumbatokError, UnsupportedTokenizer
from numbatok.regex.automaton import lay_out
from numbatok.regex.chain import compile_chain
from numbatok.spec import ByteLevel, Digits, FixedLength, Split, UnicodeScripts

BYTES = ByteLevel(False, use_regex=False)
EXPLODING = [
    r"(?:a|aa)+$",
    r"(?:[ab]*a[ab]{12})+",
    r"(?:[ab]*a[ab]{200})+x",
    r"(?:(?:(?:a{50}){50}){50}){50}",
    r"a{100000}",
    r"(?:a?b?c?d?e?f?g?h?){1,3}" * 20 + "x",
    "|".join(f"a{{{k}}}b" for k in range(1, 200)),
    "".join(f"(?:x{k}|y)?" for k in range(500)),
    r"(?=" * 80 + "a" + r")" * 80,
    r"(?=.*a)(?=.*b)(?=.*c)(?=.*d)(?=.*e)(?=.*f)(?=.*g)(?=.*h).",
    r"(?=.{40}a)(?=.{60}b).",
    r"(?>(?>(?>a+)b+)c+)+" * 20,
    "[" + "".join(f"\\x{{{k:x}}}" for k in range(0x4E00, 0x4E00 + 4000, 2)) + "]",
    "|".join(chr(k) for k in range(0x4E00, 0x4E00 + 600)),
    "(" * 99 + "a" + ")+" * 99,
]
CHAINS = [
    [FixedLength(1000), FixedLength(999), FixedLength(998), BYTES],
    [FixedLength(97), FixedLength(89), FixedLength(83), FixedLength(79), BYTES],
    [UnicodeScripts(), UnicodeScripts(), Digits(True), ByteLevel(False, use_regex=True)],
    [Split(rf"\p{{N}}{{1,{k}}}", True) for k in range(20, 40)] + [BYTES],
    [Split(r"(?=.*\d)\w+|\s+", True), Split(r"(?=.*\s)[a-z]{1,9}", True), BYTES],
    [BYTES] + [Digits(True)] * 40,
]


def spent(steps):
    """Return seconds of the processor, bytes at the peak, and whether the chain was refused."""
    tracemalloc.start()
    started = time.process_time()
    try:
        lay_out(compile_chain(steps))
        refused = False
    except UnsupportedTokenizer as error:
        refused = True
        assert len(str(error)) < 1000
    seconds = time.process_time() - started
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak, refused


@pytest.mark.parametrize("steps", [*([Split(p, True), BYTES] for p in EXPLODING), *CHAINS])
def test_an_exploding_chain_takes_bounded_time_and_memory(steps):
    seconds, peak, refused = spent(steps)

    print(f"{seconds:.2f} s, {peak / 1e6:.0f} MB, {'refused' if refused else 'compiled'}")
    assert seconds < 60  # with tracemalloc, which takes three quarters of it
    assert peak < 400e6


def test_a_typical_chain_compiles_fast():
    """The test's bound is generous; an idle machine takes 20 to 40 ms."""
    from tests.regex.chains import PUBLISHED

    for name in ("deepseek-coder", "llada", "falcon", "grouped digits"):
        compile_chain(PUBLISHED[name])  # reads the Unicode tables
        started = time.process_time()
        lay_out(compile_chain(PUBLISHED[name]))
        seconds = time.process_time() - started
        print(f"{name}: {seconds * 1000:.0f} ms")
        assert seconds < 2


REFUSED_CHAINS = [
    ([BYTES, Digits(True), BYTES], "step 2.*a second ByteLevel step"),
    ([Split("(a)\\1", True), ByteLevel(True, use_regex=True)], r"step 0: regex: a backreference"),
    ([FixedLength(0), BYTES], "FixedLength: length 0"),
    ([FixedLength(2000), BYTES], "FixedLength: length 2000, supported are 1 to 1024"),
    ([Digits(True)], "no ByteLevel step"),
    ([BYTES] + [Digits(True)] * 40, "41 steps, supported are 32"),
    ([Digits(True), Split("(a)\\1", True), BYTES], r"step 1: regex: a backreference"),
]


@pytest.mark.parametrize(("steps", "reason"), REFUSED_CHAINS)
def test_a_chain_is_refused_with_the_step_named(steps, reason):
    with pytest.raises(NumbatokError, match=reason):
        compile_chain(steps)
