"""Counting pretokens against the reference, in every way a source can come."""

from __future__ import annotations

import random

import numpy as np
import pytest

import numbatok
from numbatok import parallel
from numbatok.errors import InvalidType, InvalidValue, TrainingError
from numbatok.training import spill
from numbatok.training.blocks import Block, one_document
from numbatok.training.counting import Counter
from numbatok.training.counts import PretokenCounts
from numbatok.training.patterns import spec_of_pattern
from numbatok.training.table import CountTable
from tests.training.small_corpora import N_CORPORA, count, small_corpus

SPEC = spec_of_pattern("gpt2")
LONG = "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis "


def counted(blocks, **options):
    counter = Counter(SPEC, **options)
    for block in blocks:
        counter.add(block)
    pretokens = counter.finish()
    assert int(pretokens.numbers.sum()) == sum(dict(PretokenCounts(pretokens)).values())
    return dict(zip(pretokens, pretokens.numbers.tolist(), strict=True)), pretokens


def rows(texts):
    data = [text if isinstance(text, bytes) else text.encode() for text in texts]
    ends = np.cumsum([len(row) for row in data], dtype=np.int64)
    return Block(np.frombuffer(b"".join(data), np.uint8), ends)


def test_equals_the_reference():
    n_pretokens = 0
    for seed in range(N_CORPORA):
        texts = small_corpus(seed)
        wanted = count(texts)
        found, _ = counted([rows(texts)])
        assert found == wanted, f"seed {seed}"
        n_pretokens += sum(wanted.values())
    print(f"{N_CORPORA} corpora, {n_pretokens} pretokens counted")
    assert n_pretokens > 5000


def test_comparison_catches_a_lost_pretoken():
    """A planted fault: the last byte of a text is missing."""
    texts = small_corpus(3)
    assert counted([rows([*texts[:-1], texts[-1][:-1]])])[0] != count(texts)


def test_arbitrary_bytes_round_trip():
    data = random.Random(7).randbytes(100_000)
    found, pretokens = counted([one_document(data)])
    assert sum(len(word) * n for word, n in found.items()) == len(data)
    assert found == count([data])
    assert int(pretokens.firsts.min()) == 0


@pytest.mark.parametrize("size", [1, 63, 4096, 8200, 50_000])
def test_a_document_in_pieces_counts_as_a_whole(size):
    text = (LONG * 30 + "It's 42\n\n\n  \u00e9t\u00e9 " + "x" * 9000 + "  !!" * 50).encode() * 3
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    if size == 1:
        chunks = [text[at : at + 1] for at in range(12_000)]
        text = text[:12_000]
    blocks = [one_document(chunk, is_open=True) for chunk in chunks]
    whole, pretokens = counted([one_document(text)])
    pieces, other = counted([*blocks, one_document(b"")])
    unclosed, _ = counted(blocks)
    assert pieces == unclosed == whole == count([text])
    assert dict(zip(pretokens, pretokens.firsts.tolist(), strict=True)) == dict(
        zip(other, other.firsts.tolist(), strict=True)
    )


def test_documents_that_begin_and_end_anywhere_in_blocks():
    chosen = random.Random(11)
    texts = [
        "".join(chosen.choices("ab 1\n'", k=chosen.choice((0, 1, 5, 300)))).encode()
        for _ in range(300)
    ]
    stream, ends = b"".join(texts), np.cumsum([len(text) for text in texts])
    counter, at = Counter(SPEC), 0
    while at < len(stream):
        stop = min(len(stream), at + chosen.randint(1, 700))
        inside = [int(end) - at for end in ends if at < end <= stop]
        is_open = not inside or inside[-1] != stop - at
        cut = np.array(inside + [stop - at] * is_open, np.int64)
        counter.add(Block(np.frombuffer(stream[at:stop], np.uint8), cut, is_open))
        at = stop
    found = counter.finish()
    assert dict(zip(found, found.numbers.tolist(), strict=True)) == count(texts)


def test_parts_side_by_side_count_as_one(monkeypatch):
    """Parts on all cores, each with its table; the one open document is cut too."""
    monkeypatch.setattr(parallel, "n_parts", lambda n_bytes: 3 if n_bytes > 1000 else 1)
    text = (LONG + "the quick brown fox 's 12 \n") * 400
    for is_open in (False, True):
        block = one_document(text.encode(), is_open)
        found, pretokens = counted([block, block, one_document(b"")][: 3 if is_open else 1])
        assert found == count([text * 2] if is_open else [text])
        assert pretokens.firsts[list(pretokens).index(b"antidisestablishmentarianism")] == 0


def test_a_table_grows_from_nothing():
    words = [b"%d" % number for number in range(90_000)] + [b"%040d" % n for n in range(30_000)]
    found, _ = counted([rows(words)])
    assert len(found) == 120_000 and set(found.values()) == {1}


def test_spilled_runs_add_up(monkeypatch, tmp_path):
    monkeypatch.setattr(spill, "FAN_IN", 2)
    monkeypatch.setattr(spill, "BLOCK", 50)
    monkeypatch.setattr(CountTable, "nbytes_to_grow", 1 << 60)
    chosen = random.Random(2)
    counter = Counter(SPEC, memory_limit=1 << 26, directory=tmp_path)
    counter._tables[0].grow = None  # never
    texts = []
    for _ in range(6):
        words = [f"{chosen.randint(0, 70_000)}" * chosen.choice((1, 1, 9)) for _ in range(60_000)]
        texts.append(" ".join(words))
        counter.add(rows(texts[-1:]))
    found = counter.finish()
    assert counter._spill._n_written > 4
    whole, plain = counted([rows(texts)])
    assert dict(zip(found, found.numbers.tolist(), strict=True)) == whole
    assert PretokenCounts(found) == PretokenCounts(
        numbatok.training.pretokens.sort_and_add_up(plain)
    )
    assert list(found) == sorted(whole)


def test_a_full_disk_is_an_error_and_leaves_the_counter_sound(monkeypatch, tmp_path):
    def full(file, block):
        raise OSError(28, "No space left on device")

    counter = Counter(SPEC, memory_limit=1 << 26, directory=tmp_path)
    counter.add(rows(["one two"]))
    with monkeypatch.context() as patch:
        patch.setattr(spill, "_write_block", full)
        with pytest.raises(TrainingError, match=r"No space left on device.*spill_directory="):
            counter._spill.write(counter._tables[0].export())
    assert not list(tmp_path.rglob("*.run"))
    found = counter.finish()
    assert sorted(found) == [b" two", b"one"]


def test_no_folder_for_spilled_runs(tmp_path):
    counter = Counter(SPEC, directory=tmp_path / "absent")
    counter.add(rows(["one"]))
    with pytest.raises(TrainingError, match="no folder for spilled counts"):
        counter._spill.write(counter._tables[0].export())


# --- PretokenCounts -------------------------------------------------------------------------------


def counts_of(*texts):
    return numbatok.count_pretokens(list(texts))


def test_merging_is_associative_and_commutative():
    parts = [counts_of(*small_corpus(seed)) for seed in range(6)]
    whole = counts_of(*(text for seed in range(6) for text in small_corpus(seed)))
    shuffled = [parts[k] for k in (3, 0, 5, 1, 4, 2)]
    assert PretokenCounts.merged(parts) == PretokenCounts.merged(shuffled) == whole
    assert (parts[0] + parts[1]) + parts[2] == parts[0] + (parts[2] + parts[1])
    assert len(PretokenCounts.merged([])) == 0


def test_counts_are_a_sorted_mapping():
    counts = counts_of("b a b", "b" * 40, "b" * 39)
    assert list(counts) == [(b" a", 1), (b" b", 1), (b"b", 1), (b"b" * 39, 1), (b"b" * 40, 1)]
    assert counts["b"] == 1 and counts[b"b" * 40] == 1 and counts["absent"] == 0
    assert counts.most_common(2) == [(b" a", 1), (b" b", 1)]
    assert counts.total == 5 and counts.n_singletons == 5 and counts.pattern == "gpt2"
    assert repr(counts) == "<PretokenCounts: 5 distinct pretokens, 5 in all>"


def test_order_is_that_of_bytes_for_long_and_equal_starts():
    words = [b"a", b"a\0", b"a" * 16, b"a" * 16 + b"\0", b"a" * 17, b"a" * 15 + b"b", b"", b"\xff"]
    words += [b"a" * 30 + bytes([k]) for k in range(40)]
    random.Random(0).shuffle(words)
    counts = PretokenCounts.from_mapping({word: k + 1 for k, word in enumerate(words)})
    assert [word for word, _ in counts] == sorted(words)
    assert dict(counts) == {word: k + 1 for k, word in enumerate(words)}


def test_arrow_in_and_out():
    pyarrow = pytest.importorskip("pyarrow")
    counts = counts_of("one two two", LONG)
    table = counts.to_arrow()
    assert table.schema.field("pretoken").type == pyarrow.large_binary()
    assert table.schema.field("count").type == pyarrow.int64()
    assert PretokenCounts.from_arrow(table) == counts
    twice = pyarrow.concat_tables([table, table.slice(1)])
    assert PretokenCounts.from_arrow(twice)["one"] == 1 + (table["pretoken"][0].as_py() != b"one")
    plain = pyarrow.table({"pretoken": ["x", "y", "x"], "count": pyarrow.array([1, 2, 3], "int8")})
    assert list(PretokenCounts.from_arrow(plain)) == [(b"x", 4), (b"y", 2)]
    assert PretokenCounts.from_arrow(counts_of().to_arrow()) == counts_of()
    firsts = numbatok.count_pretokens(["b a"], first_seen=True, first=10)
    assert PretokenCounts.from_arrow(firsts.to_arrow()) == firsts
    assert firsts.to_arrow()["first"].to_pylist() == [11, 10]


def test_tables_that_are_no_counts():
    pyarrow = pytest.importorskip("pyarrow")
    for columns, error, message in (
        ({"pretoken": ["x"]}, InvalidType, "has the columns 'pretoken' and 'count'"),
        ({"pretoken": ["x", None], "count": [1, 1]}, InvalidValue, "row 1 of column 'pretoken'"),
        ({"pretoken": ["x", "y"], "count": [1, 0]}, InvalidValue, "row 1 of column 'count' is 0"),
        ({"pretoken": [1.5], "count": [1]}, InvalidType, "column 'pretoken' is double"),
        ({"pretoken": ["x"], "count": [1.5]}, InvalidType, "column 'count' is double"),
    ):
        with pytest.raises(error, match=message):
            PretokenCounts.from_arrow(pyarrow.table(columns))
    with pytest.raises(InvalidType, match="no pyarrow Table"):
        PretokenCounts.from_arrow([1])
    with pytest.raises(TrainingError, match=r"more than 2\^62"):
        PretokenCounts.from_arrow(
            pyarrow.table({"pretoken": ["x", "y"], "count": [1 << 62, 1 << 62]})
        )


def test_mappings_that_are_no_counts():
    with pytest.raises(InvalidValue, match="the count of b'a' is 0"):
        PretokenCounts.from_mapping({"a": 0})
    with pytest.raises(InvalidType, match=r"the count of b'a' is 1\.5"):
        PretokenCounts.from_mapping({"a": 1.5})
    with pytest.raises(InvalidType, match=r"7 \(int\) is no pretoken"):
        PretokenCounts.from_mapping({7: 1})
    with pytest.raises(InvalidValue, match="do not go together"):
        counts_of("a") + PretokenCounts.from_mapping({"a": 1}, pattern="cl100k")


def test_report():
    report = counts_of("a a a b", "c").report(top=2)
    assert report.to_dict() == {
        "total": 5,
        "distinct": 4,
        "singletons": 3,
        "distinct_bytes": 6,
        "suggested_vocabulary": 260,
        "top": [[" a", 2], [" b", 1]],
    }
    assert "suggested vocabulary:" in str(report)


def test_at_least():
    assert list(counts_of("a a a b").at_least(2)) == [(b" a", 2)]
    assert list(counts_of("a").at_least(2)) == []


@pytest.mark.filterwarnings("error")
def test_the_curve_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    from numbatok.training.plots import save_rank_frequency

    for name in ("curve.png", "curve.svg"):
        save_rank_frequency(counts_of("a a b c $d$ é क " * 50), tmp_path / name)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    save_rank_frequency(counts_of(), tmp_path / "empty.svg")
    with pytest.raises(InvalidValue, match=r"ends in none of \.png"):
        save_rank_frequency(counts_of("a"), tmp_path / "curve.doc")
