"""Whatever holds text gives the same counts; whatever holds none is named."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from pathlib import Path

import pytest

import numbatok
from numbatok.errors import InvalidSource, InvalidType, InvalidValue
from numbatok.training import Files, blocks, opening, records, sources

TEXTS = ["one two\nthree", "four é\n\n日本 <|sep|> five", "", "six\nseven\n"]


def counts(source):
    return numbatok.count_pretokens(source, progress=False)


@pytest.fixture
def small_blocks(monkeypatch):
    """Read in pieces of a few bytes."""
    for module in (opening, records, sources):
        monkeypatch.setattr(module, "BLOCK_BYTES", 3)
    monkeypatch.setattr(sources, "ROWS", 1)


@pytest.mark.usefixtures("small_blocks")
def test_every_iterable_of_texts():
    pyarrow = pytest.importorskip("pyarrow")
    wanted = counts(TEXTS)
    data = [text.encode() for text in TEXTS]
    for source in (
        tuple(TEXTS), iter(TEXTS), (text for text in TEXTS), data, [*TEXTS[:2], *data[2:]],
        [bytearray(part) for part in data],
        pyarrow.array(TEXTS), pyarrow.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pyarrow.array(data, pyarrow.large_binary()), pyarrow.array(TEXTS, pyarrow.string_view()),
        pyarrow.array(["x", *TEXTS, "y"])[1:5], pyarrow.table({"t": TEXTS})["t"],
    ):  # fmt: skip
        assert counts(source) == wanted, type(source)


def test_text_files(tmp_path, small_blocks):
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    wanted = counts(TEXTS)
    pattern = str(tmp_path / "*.txt")
    for source in (
        pattern, tmp_path, str(tmp_path), Files(pattern), Files([tmp_path]),
        sorted(tmp_path.iterdir()),
    ):  # fmt: skip
        assert counts(source) == wanted, source


def test_documents_of_a_file(tmp_path, small_blocks):
    path = tmp_path / "all.txt"
    whole = "\n".join(TEXTS)
    path.write_text(whole)
    assert counts(path) == counts([whole])
    assert counts(Files(path, split="lines")) == counts(whole.splitlines(keepends=True))
    assert counts(Files(path, separator="<|sep|>")) == counts(whole.split("<|sep|>"))
    assert counts(Files(path, separator=b"\n")) == counts(whole.split("\n"))
    assert counts(Files(path, separator="e")) == counts(whole.split("e"))
    path.write_text("")
    assert len(counts(path)) == len(counts(Files(path, split="lines"))) == 0


def test_compressed_files(tmp_path, small_blocks):
    pyarrow = pytest.importorskip("pyarrow")
    data = "\n".join(TEXTS).encode()
    wanted = counts([data])
    (tmp_path / "a.gz").write_bytes(gzip.compress(data[:9]) + gzip.compress(data[9:]))
    (tmp_path / "b.txt.bz2").write_bytes(bz2.compress(data))
    (tmp_path / "c.xz").write_bytes(lzma.compress(data))
    (tmp_path / "d.txt.zst").write_bytes(pyarrow.compress(data, "zstd", asbytes=True))
    for path in sorted(tmp_path.iterdir()):
        assert counts(path) == wanted, path


def test_records(tmp_path, small_blocks):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    wanted = counts(TEXTS)
    lines = "\n".join(json.dumps({"id": 1, "text": text}) for text in TEXTS)
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode() + b"\n\n"))
    parquet.write_table(pyarrow.table({"id": [1] * 4, "text": TEXTS}), tmp_path / "c.parquet")
    for path in sorted(tmp_path.iterdir()):
        assert counts(path) == wanted, path
        assert counts(Files(path, nulls="skip")) == wanted, path
    (tmp_path / "other.data").write_text(lines.replace('"text"', '"content"'))
    assert counts(Files(tmp_path / "other.data", format="jsonl", field="content")) == wanted
    with_null = pyarrow.table({"text": ["a", None, "b"]})
    parquet.write_table(with_null, tmp_path / "d.parquet")
    (tmp_path / "e.jsonl").write_text('{"text": "a"}\n{"text": null}\n{"text": "b"}')
    for name in ("d.parquet", "e.jsonl"):
        assert counts(Files(tmp_path / name, nulls="skip")) == counts(["a", "b"])


def test_surrogates_in_texts(tmp_path):
    assert counts(["a\ud83d\udc4d", "b\ud83d"]) == counts(["a👍", "b\ufffd"])
    (tmp_path / "a.jsonl").write_text('{"text": "a\\ud83d\\udc4d"}\n{"text": "b\\ud83d"}')
    assert counts(tmp_path / "a.jsonl") == counts(["a👍", "b\ufffd"])


def test_items_that_are_no_text():
    pyarrow = pytest.importorskip("pyarrow")
    for source, message in (
        (["a", None], "row 1 is None; str or bytes is needed"),
        (["a"] * 2000 + [7], r"row 2000 is 7 \(int\)"),
        (b"abc", r"one bytes object; pass \[source\]"),
        ({"a": 1}, r"\(dict\); texts, paths"),
        (7, r"7 \(int\); texts, paths"),
        (pyarrow.array([1, 2]), "the column has the type int64"),
        (pyarrow.table({"x": ["a"], "y": ["b"]}), "pass one of"),
    ):
        with pytest.raises(InvalidType, match=message):
            counts(source)
        with pytest.raises(InvalidType, match=message):
            numbatok.train(source, 300)
    with pytest.raises(InvalidValue, match=r"row 3 of the column is null; drop nulls first"):
        counts(pyarrow.chunked_array([["a", "b"], ["c", None]]))


def test_an_error_inside_an_iterator_comes_through():
    def texts():
        yield "a"
        raise OSError("the network is gone")

    with pytest.raises(OSError, match="the network is gone"):
        counts(texts())


def test_files_that_cannot_be_read(tmp_path):
    pytest.importorskip("pyarrow")
    good = json.dumps({"text": "a"})
    for name, content, message in (
        ("a.jsonl", good + "\n{", r"a.jsonl, line 2: this is no JSON"),
        ("b.jsonl", good + "\n7", r"b.jsonl, line 2: no field 'text'; it has 'a int'"),
        ("c.jsonl", '{"body": 1}', r"line 1: no field 'text'; it has \['body'\]; pass field="),
        ("j.jsonl", "[" * 100_000, "line 1: arrays or objects are nested too deeply"),
        ("d.jsonl", '\n{"text": null}', r"line 2: field 'text' is None.*nulls='skip'"),
        ("e.parquet", "PAR1", "e.parquet cannot be read, it is no Parquet file"),
        ("f.txt.gz", "plain", "f.txt.gz cannot be read, after 0 bytes: Not a gzipped file"),
        ("g.jsonl.bz2", "plain", "g.jsonl.bz2 cannot be read, in line 1"),
        ("h.txt.zst", "plain", "h.txt.zst cannot be read, after 0 bytes"),
    ):
        path = tmp_path / name
        path.write_text(content)
        with pytest.raises(InvalidSource, match=message):
            counts(path)
    whole = gzip.compress(os.urandom(1000))
    (tmp_path / "i.gz").write_bytes(whole[:500])
    with pytest.raises(InvalidSource, match=r"i.gz cannot be read, after \d+ bytes: Compressed"):
        counts(tmp_path / "i.gz")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InvalidSource, match=r"no file is called or matches .*pass \[text\]"):
        counts("some text")
    with pytest.raises(InvalidSource, match="holds no files"):
        counts(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InvalidSource, match="is a pipe, whose end nobody knows"):
            counts(tmp_path / "pipe")
    with pytest.raises(InvalidValue, match="paths is empty"):
        Files([])
    with pytest.raises(InvalidType, match=r"item 1 is 7 \(int\), not a path"):
        Files([__file__, 7])
    for options in ({"split": "words"}, {"format": "csv"}, {"nulls": "drop"}, {"separator": ""}):
        with pytest.raises(InvalidValue, match=next(iter(options))):
            Files(__file__, **options)


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "BLOCK_BYTES", 10_000)
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("word " * 10_000)
    second.write_text("word " * 10_000)
    read = Files([first, second]).blocks()
    next(read)
    os.truncate(first, 20_000)
    with pytest.raises(InvalidSource, match=r"became shorter while it was read: 20,000 of 50,000"):
        list(read)
    first.write_text("word " * 10_000)
    read = Files([first, second]).blocks()
    next(read)
    second.unlink()
    with pytest.raises(InvalidSource, match=r"b\.txt cannot be read"):
        list(read)


def test_position_goes_to_the_end(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 5000)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"y" * 5000))
    files = Files(tmp_path)
    places = [files.position() for _ in files.blocks()]
    assert files.position() == files.n_bytes == places[-1]
    assert places == sorted(places)


def test_names_of_formats():
    for name, kind in (
        ("a.txt", "text"), ("a", "text"), ("a.jsonl", "jsonl"), ("a.ndjson.gz", "jsonl"),
        ("a.PARQUET", "parquet"), ("a.json.txt", "text"), ("a.gz", "text"),
    ):  # fmt: skip
        assert numbatok.training.files.format_of(Path(name)) == kind


def test_giant_lines(tmp_path):
    """No pretoken ends in 200,000 letters; none is skipped."""
    (tmp_path / "a.txt").write_bytes(b"x" * 200_000 + b"\n" + b"ab" * 50_000)
    found = counts(Files(tmp_path / "a.txt", split="lines"))
    assert sorted(len(word) for word, _ in found) == [1, 100_000, 200_000]
    assert blocks.BLOCK_BYTES > 200_000
