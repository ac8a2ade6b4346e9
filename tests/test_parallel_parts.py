import numpy as np
import pytest

import numbatok
from numbatok import native, parallel, result, workers
from numbatok.encoder import Job
from numbatok.spec import ByteLevel, Digits, Punctuation
from tests.kernels.scan.test_automaton import tokenizer_of

pytestmark = pytest.mark.skipif(native.interpreted(), reason="interpreted kernels run serially")


@pytest.fixture(scope="module")
def tok():
    return numbatok.load("gpt2")


@pytest.fixture(autouse=True, params=["compiled driver", "threads of Python"])
def small_parts(monkeypatch, request):
    monkeypatch.setattr(parallel, "_uses_driver", lambda: request.param == "compiled driver")
    monkeypatch.setattr(parallel, "WORTH_BYTES", 1)
    monkeypatch.setattr(workers, "PART_BYTES", 1000)
    monkeypatch.setattr(result, "USUAL_BYTES", 1000)  # too little room at first
    monkeypatch.setattr(workers, "BUDGET", 5000)
    monkeypatch.setattr(parallel, "n_threads", lambda: 2)


def documents(seed, n_documents, longest):
    """Return text and ends of documents of words, some empty and some without a space."""
    rng = np.random.default_rng(seed)
    words = [b" the", b" tokenizer", b"\n\n", b"  ", b" 2024", "語".encode(), b"'s", b" zq"]
    parts = []
    for size in rng.integers(0, longest, n_documents).tolist():
        kind = rng.integers(0, 5)
        if kind == 0:
            parts.append(b"")
        elif kind == 1:
            parts.append(b"x" * size)
        else:
            parts.append(b"".join(words[i] for i in rng.integers(0, len(words), size)))
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return np.frombuffer(b"".join(parts), np.uint8), ends


def serial(tok, text, ends, special="plain"):
    return tok._encoder.run(text, ends, tok._policies.get(special))


def in_parts(tok, text, ends, special="plain", **options) -> Job:
    policy = tok._policies.get(special)
    return parallel.encode(tok._encoder, text, ends, policy, tok._spec.added_tokens, **options)


def differences(expected: Job, found: Job) -> int:
    same = np.array_equal(expected.offsets, found.offsets) and expected.n_ids == found.n_ids
    if expected.ids is not None and found.ids is not None:
        same = same and np.array_equal(expected.ids[: expected.n_ids], found.ids[: found.n_ids])
    return int(not same)


def test_parts_give_the_serial_ids(tok):
    compared = 0
    for seed, (n_documents, longest) in enumerate([(1, 20_000), (3, 5000), (40, 600), (900, 40)]):
        text, ends = documents(seed, n_documents, longest)
        assert differences(serial(tok, text, ends), in_parts(tok, text, ends)) == 0
        assert differences(serial(tok, text, ends), in_parts(tok, text, ends, counting=True)) == 0
        compared += n_documents
    print(f"{compared} documents compared")
    assert compared > 900


def test_workers_that_run_one_after_the_other_do_not_wait(tok, monkeypatch):
    """A system may give fewer threads than there are workers."""
    call, compared = native.function("encode_parts"), 0
    monkeypatch.setattr(
        parallel, "_run_rows", lambda name, rows: [call(row[0]) for row in rows.tolist()]
    )
    for seed in range(5):
        text, ends = documents(seed, 30, 900)
        assert differences(serial(tok, text, ends), in_parts(tok, text, ends)) == 0
        compared += 1
    print(f"{compared} batches compared")


def test_automata_and_pretokens_longer_than_a_window():
    """Outlooks and padded texts belong to one thread state each."""
    falcon = [Punctuation("contiguous"), ByteLevel(False, use_regex=True), Digits(False)]
    tok = tokenizer_of(falcon)
    rng = np.random.default_rng(3)
    rows = [b"a1 " * 9000, b"x" * 30_000, b"", b"1" * 20_000 + b"!" * 20_000, b" " * 25_000]
    compared = 0
    for _ in range(6):
        chosen = [rows[i] for i in rng.integers(0, len(rows), 12)]
        text = np.frombuffer(b"".join(chosen), np.uint8)
        ends = np.cumsum([len(row) for row in chosen], dtype=np.int64)
        assert differences(serial(tok, text, ends), in_parts(tok, text, ends)) == 0
        compared += len(chosen)
    print(f"{compared} documents compared")


def test_a_planted_difference_is_seen(tok):
    text, ends = documents(7, 40, 600)
    found = in_parts(tok, text, ends)
    found.ids[3] += 1
    assert differences(serial(tok, text, ends), found) == 1


def test_the_first_refused_document_is_named(tok):
    for first, second in [(30, 31), (2, 38), (0, 39)]:
        text, ends = documents(11, 40, 600)
        rows = [text[a:b].tobytes() for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        rows[first] += b" then <|endoftext|>"
        rows[second] = b"<|endoftext|>" + rows[second]
        whole = np.frombuffer(b"".join(rows), np.uint8)
        at = np.cumsum([len(row) for row in rows], dtype=np.int64)
        refusal = in_parts(tok, whole, at, "raise").refusal
        assert refusal == serial(tok, whole, at, "raise").refusal
        assert (refusal.document, refusal.position) == (first, len(rows[first]) - 13)


def test_progress_counts_every_byte(tok):
    text, ends = documents(5, 200, 300)
    seen = []
    in_parts(tok, text, ends, on_progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == text.size
    assert len(seen) > 3
