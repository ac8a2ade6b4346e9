"""Files as rows: text in every way of splitting, JSON Lines, Parquet, compressions."""

import bz2
import contextlib
import gzip
import json
import lzma
import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbatok
from numbatok.errors import InvalidSource, InvalidType, InvalidUtf8
from numbatok.files import blocks, encode_files
from numbatok.files import text as text_files
from numbatok.files.blocks import Position
from numbatok.files.sources import find_sources
from numbatok.files.text import TextReader
from tests.files.file_rows import ids_of, pa, pq, some_texts, write_json_lines, write_parquet


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 256)


def rows_of(found, going_on=False):
    """Return the rows of blocks as bytes, those in pieces put together."""
    rows = [b""] if going_on else []
    for block in found:
        starts = [0, *block.ends.tolist()]
        pieces = [block.text[a:b].tobytes() for a, b in pairwise(starts)]
        assert block.opens == going_on
        if going_on:
            rows[-1] += pieces.pop(0)
        rows += pieces
        going_on = block.continues
    assert not going_on
    return rows


def split_by_hand(data, split):
    if split == "file":
        return [data]
    if split == "line":
        data = data.replace(b"\r\n", b"\n")
    rows = data.split(b"\n" if split == "line" else split.encode())
    return rows if rows[-1] else rows[:-1]


TEXT = st.lists(
    st.sampled_from(
        [b"a", b" b", b"<e>", b"<", b"\n", b"\r\n", b"\r", b"xyx", b"word one ", b"\xff"]
    ),
    max_size=120,
).map(b"".join)


@given(
    data=TEXT, split=st.sampled_from(["file", "line", "<e>", "aa", "xyx", "\n\n"]),
    size=st.integers(4, 60), can_cut=st.booleans(),
)  # fmt: skip
def test_text_is_split_the_same_in_blocks_of_any_size(tmp_path_factory, data, split, size, can_cut):
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes(data)
    [source] = find_sources(path, None)
    separator = {"file": None, "line": b"\n"}.get(split, split.encode())
    reader = TextReader(separator, split == "line", can_cut)
    before, blocks.BLOCK_BYTES = blocks.BLOCK_BYTES, size
    try:
        found = list(reader.read(source, Position()))
        assert rows_of(found) == split_by_hand(data, split)
        for number, block in enumerate(found):  # reading can go on at every block
            again = rows_of(reader.read(source, block.start), block.opens)
            assert again == rows_of(found[number:], block.opens)
    finally:
        blocks.BLOCK_BYTES = before


@pytest.mark.parametrize("few_bytes", [0, 1 << 40])  # move row by row, or mask all
@pytest.mark.parametrize(("separator", "by_line"), [(b"<s>", False), (b"\n", True), (b"x", False)])
def test_rows_are_moved_together(tmp_path, monkeypatch, few_bytes, separator, by_line):
    monkeypatch.setattr(text_files, "FEW_BYTES", few_bytes)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 4000)
    rows = [b"", *[bytes([97 + i % 20]) * (i * 37 % 900) for i in range(60)], b"", b"", b"tail"]
    end = b"\r" if by_line else b""
    (tmp_path / "a.txt").write_bytes((end + separator).join(rows))
    (source,) = find_sources(tmp_path / "a.txt", None)
    found = []
    for block in TextReader(separator, by_line, False).read(source, Position()):
        found += [bytes(row) for row in np.split(block.text, block.ends[:-1])]
    assert found == rows


def test_a_long_row_is_cut_only_where_that_is_allowed(tmp_path, small_blocks):
    path = tmp_path / "a.txt"
    path.write_bytes(b"some words " * 500)
    [source] = find_sources(path, None)
    cut = list(TextReader(None, False, True).read(source, Position()))
    whole = list(TextReader(None, False, False).read(source, Position()))
    assert rows_of(cut) == rows_of(whole) == [b"some words " * 500]
    assert len(cut) > 10
    assert max(block.text.size for block in cut) <= 3 * 256
    assert len(whole) == 1


def packers():
    return {
        "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress,
        "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    }  # fmt: skip


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_compressed_files(gpt2, tmp_path, small_blocks, suffix):
    texts = some_texts(100, nulls=False)
    rows = [json.dumps({"text": text}).encode() + b"\n" for text in texts]
    pack = packers()[suffix]
    path = tmp_path / f"a.jsonl.{suffix}"
    path.write_bytes(pack(b"".join(rows[:60])) + pack(b"".join(rows[60:])))  # two members
    out = tmp_path / "out.arrow"
    summary = encode_files(path, out, gpt2, special="plain")
    assert summary.rows == 100
    assert pa.ipc.open_file(out).read_all()["ids"].to_pylist() == ids_of(gpt2, texts)
    noise = b"".join(b'{"text": "%s"}\n' % os.urandom(50).hex().encode() for _ in range(100))
    for damaged in (pack(noise)[:-9], b""):
        path.write_bytes(damaged)
        match = rf"a.jsonl.{suffix}: the .* data is cut short or damaged"
        with pytest.raises(InvalidSource, match=match):
            encode_files(path, out, gpt2, overwrite=True, special="plain")
    path.write_bytes(pack(b""))
    assert encode_files(path, out, gpt2, overwrite=True, special="plain").rows == 0


def test_sources_are_found_in_order(tmp_path):
    for name in ("b.parquet", "a.jsonl", "c.txt", "notes.md", "_hidden.txt", "sub/d.txt.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    names = lambda *a: [s.path[len(str(tmp_path)) + 1 :] for s in find_sources(*a)]  # noqa: E731
    assert names(tmp_path, None) == ["a.jsonl", "b.parquet", "c.txt", "sub/d.txt.gz"]
    assert names(tmp_path, "text") == ["c.txt", "sub/d.txt.gz"]
    assert names(f"{tmp_path}/*.txt", None) == ["_hidden.txt", "c.txt"]
    assert names([tmp_path / "c.txt", tmp_path / "a.jsonl"], None) == ["c.txt", "a.jsonl"]
    assert [s.kind for s in find_sources(tmp_path, None)] == ["jsonl", "parquet", "text", "text"]
    assert find_sources(tmp_path / "sub/d.txt.gz", None)[0].compression == "gzip"
    with pytest.raises(InvalidSource, match=r"nothing.txt does not exist, and matches no file"):
        find_sources(tmp_path / "nothing.txt", None)
    with pytest.raises(InvalidSource, match=r"a file named .log is not known; pass input_format="):
        (tmp_path / "x.log").write_bytes(b"")
        find_sources(tmp_path / "x.log", None)
    with pytest.raises(InvalidType, match="a path or a list of paths is needed"):
        find_sources(7, None)


def test_parquet_of_every_text_type(gpt2, tmp_path, small_blocks):
    texts = some_texts(200)
    expected = ids_of(gpt2, texts)
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.binary()]
    compared = 0
    for kind in kinds:
        data = texts
        if kind == pa.binary():
            data = [None if text is None else text.encode() for text in texts]
        path = write_parquet(tmp_path / "a.parquet", data, kind)
        out = tmp_path / "out.parquet"
        summary = encode_files(path, out, gpt2, keep="id", special="plain", overwrite=True)
        table = pq.read_table(out)
        assert table["ids"].to_pylist() == expected
        assert table["id"].to_pylist() == list(range(200))
        assert (summary.rows, summary.null_rows) == (200, texts.count(None))
        compared += len(expected)
    print(f"{compared} rows compared")
    assert compared == 800


def test_parquet_errors(gpt2, tmp_path):
    path = write_parquet(tmp_path / "a.parquet", ["a", "b"])
    out = tmp_path / "out.bin"
    with pytest.raises(
        InvalidSource, match=r"a.parquet has no column 'body'; there is 'id', 'text'"
    ):
        encode_files(path, out, gpt2, column="body")
    with pytest.raises(
        InvalidType, match=r"a.parquet: the column has type int32; string or binary"
    ):
        encode_files(path, out, gpt2, column="id", overwrite=True)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidSource, match=r"a.parquet cannot be read as Parquet: .*; write it"):
        encode_files(path, out, gpt2, overwrite=True)
    path.write_bytes(b"PARE" + whole[4:-4] + b"PARE")
    with pytest.raises(InvalidSource, match="the file is encrypted; decrypt it first"):
        encode_files(path, out, gpt2, overwrite=True)
    middle = bytearray(write_parquet(path, some_texts(500), compression="none").read_bytes())
    middle[2000:2100] = os.urandom(100)
    path.write_bytes(middle)
    with contextlib.suppress(numbatok.NumbatokError):  # damaged text may still be text
        encode_files(path, out, gpt2, overwrite=True, special="plain")
    assert not list(tmp_path.glob("*.tmp"))


def test_parquet_columns_of_another_type_in_a_later_file(gpt2, tmp_path):
    write_parquet(tmp_path / "a.parquet", ["a"])
    pq.write_table(pa.table({"id": ["x"], "text": ["b"]}), tmp_path / "b.parquet")
    with pytest.raises(InvalidSource, match=r"b.parquet has string in column 'id', .* int32"):
        encode_files(tmp_path / "*.parquet", tmp_path / "out.parquet", gpt2, keep="id")
    encode_files(tmp_path / "*.parquet", tmp_path / "out.bin", gpt2)


def test_json_lines(gpt2, tmp_path, small_blocks):
    texts = some_texts(150)
    path = write_json_lines(tmp_path / "a.jsonl", texts)
    out = tmp_path / "out.parquet"
    encode_files(path, out, gpt2, keep=["id", "text"], special="plain")
    table = pq.read_table(out)
    assert table["ids"].to_pylist() == ids_of(gpt2, texts)
    assert table["text"].to_pylist() == texts
    assert table["id"].to_pylist() == list(range(150))


def test_json_that_pyarrow_refuses(gpt2, tmp_path, small_blocks):
    """Lone surrogates become U+FFFD as in `encode`; doubled keys take the last value."""
    lines = ['\ufeff{"text": "first"}', "", '{"text": "\\ud800x"}', '  {"text": "a", "text": "b"}']
    lines += ['{"text": null}', '{"text": "\\ud83d\\ude00 \\u0000"}', '{"n": 1e999, "text": "z"}']
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    encode_files(path, tmp_path / "o.arrow", gpt2)
    found = pa.ipc.open_file(tmp_path / "o.arrow").read_all()["ids"].to_pylist()
    assert found == ids_of(gpt2, ["first", "\ufffdx", "b", None, "😀 \0", "z"])


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"text": "open', r"line 41: .* is not JSON: Unterminated string"),
        ("[1, 2]", r"line 41: .* is no JSON object"),
        ('{"body": "x", "n": 1}', r"line 41 has no field 'text'; there is 'body', 'n'"),
        ('{"text": 7}', r"line 41: field 'text' is 7 \(int\); a string or null is needed"),
        ('{"text": {"a": 1}}', r"line 41: field 'text' is \{'a': 1\} \(dict\)"),
        ("[" * 5000, r"line 41: .* is n"),
    ],
)
def test_json_errors_name_the_line(gpt2, tmp_path, small_blocks, line, message):
    lines = [json.dumps({"text": f"row {i}"}) for i in range(60)]
    lines[20] = ""  # blank lines are no rows, but they are lines
    lines[40] = line
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InvalidSource, match=message):
        encode_files(path, tmp_path / "out.bin", gpt2)
    assert not (tmp_path / "out.bin").exists()


def test_kept_json_fields(gpt2, tmp_path, small_blocks):
    path = tmp_path / "a.jsonl"
    rows = [{"text": "a", "n": 1, "tags": ["x"], "nothing": None}, {"text": "b", "n": 2}] * 20
    path.write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "o.parquet"
    encode_files(path, out, gpt2, keep=["n", "tags", "nothing"])
    table = pq.read_table(out)
    assert table.schema.names == ["n", "tags", "nothing", "ids"]
    assert table["n"].to_pylist() == [1, 2] * 20
    assert table["tags"].to_pylist() == [["x"], None] * 20
    with pytest.raises(InvalidSource, match=r"the first lines have no field 'm'; there is 'text'"):
        encode_files(path, out, gpt2, keep="m", overwrite=True)
    path.write_text("\n".join(map(json.dumps, [*rows, {"text": "c", "n": "three"}])))
    with pytest.raises(InvalidSource, match="a kept field has a value that is not of its type"):
        encode_files(path, out, gpt2, keep="n", overwrite=True)


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_policy_on_bytes_that_are_not_utf8(gpt2, tmp_path, small_blocks, name):
    rows = [b"fine"] * 30 + [b"bad \xff here"] + [b"fine"] * 3
    path = tmp_path / name
    if name == "a.txt":
        path.write_bytes(b"\n".join(rows))
    elif name == "a.jsonl":
        path.write_bytes(b"".join(b'{"text": "%s"}\n' % row for row in rows))
    else:
        pq.write_table(pa.table({"text": pa.array(rows, pa.binary())}), path)
    for invalid in ("byte-alphabet", "punct", "replace"):
        out = tmp_path / f"{invalid}.arrow"
        encode_files(path, out, gpt2, split="line", invalid=invalid)
        found = pa.ipc.open_file(out).read_all()["ids"].to_pylist()
        assert found == [gpt2.encode(row, invalid=invalid).tolist() for row in rows]
    with pytest.raises(InvalidUtf8, match=rf"{name}.*(row 30|line 31).*byte 4 is 0xff"):
        encode_files(path, tmp_path / "o.arrow", gpt2, split="line", invalid="error")


def test_standard_input(gpt2, tmp_path):
    import subprocess
    import sys

    program = (
        "import numbatok; print(numbatok.load('gpt2').encode_files('-', 'out.bin', split='line', "
        "input_format='text').to_dict())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], input=b"one\ntwo", cwd=tmp_path, capture_output=True,
        env=os.environ | {"PYTHONPATH": str(pytest.importorskip("numbatok").__path__[0]) + "/.."},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == b""  # no bar where nobody watches
    assert np.fromfile(tmp_path / "out.bin", np.uint16).tolist() == [505, 50256, 11545, 50256]
