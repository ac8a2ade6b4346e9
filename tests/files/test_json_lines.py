"""JSON Lines: one object in each line, and one type in each kept field."""

import itertools
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbatok.errors import InvalidSource
from numbatok.files import blocks, encode_files
from numbatok.files.blocks import Position
from numbatok.files.json_lines import JsonLinesReader
from numbatok.files.sources import find_sources
from tests.files.file_rows import ids_of, pa, pq


def encode(tok, folder, content, **options):
    """Encode JSON Lines; return the table of ids."""
    (folder / "a.jsonl").write_bytes(content)
    out = folder / "out.arrow"
    encode_files(folder / "a.jsonl", out, tok, special="plain", overwrite=True, **options)
    return pa.ipc.open_file(out).read_all()


@pytest.mark.parametrize(
    "content, message",
    [
        ('{"text":"a"}{"text":"b"}\n{"x":1}\n{"text":null}\n{"text":"c"}', "line 1: .* Extra data"),
        ('{"text":"a"}{"text":"b"}\n{"text":null}\n', "line 1: .* is not JSON: Extra data"),
        ('{"text":"a"} {"text":"b"}\n', "line 1: .*JSON Lines has one whole object in each line"),
        ('{"text":"a"}\n\n{"x":1}{"text":"b"}\n', "line 3: .* Extra data"),
        ('{"text":"a"}\n{"x":1}\n{"text":"b"}{"text":"c"}', "line 2 has no field 'text'"),
        ('{"text":"a"}\n{"text":\n"b"}\n{"text":null}', "line 2: .* is not JSON: Expecting value"),
        ('{\n  "text": "a"\n}\n', "line 1: .* is not JSON"),
        # as many objects as lines
        ('{"text":"a"}{"text":"b"}\n{"text":\n"c"}', "line 1: .* Extra data"),
        ('{"text":\n"a"}\n{"text":"b"}{"text":"c"}', "line 1: .* Expecting value"),
        ('{"text":"a","x":[{},\n{}]}\n{"text":"b"}{"text":"c"}', "line 1: .* Expecting value"),
        ('{"text":"a"}{"text":"b"}\n{"text":"c","x":\n{"y":1}}', "line 1: .* Extra data"),
        ('{"text":"a"}{"text":"b"}\r\n{"text":\r\n"c"}\r\n', "line 1: .* Extra data"),
        ('{"text":"a"}null\n', "line 1: .* Extra data"),
        ('{"text":"a"}\nnull\n', "line 2: b'null' is no JSON object"),
    ],
)
def test_a_line_has_one_object(gpt2, tmp_path, content, message):
    with pytest.raises(InvalidSource, match=f"a.jsonl, {message}"):
        encode(gpt2, tmp_path, content.encode())
    assert not (tmp_path / "out.arrow").exists()


@pytest.mark.parametrize("keep", [(), ("n",)])
def test_null_in_the_first_line_does_not_crash_the_process(tmp_path, keep):
    (tmp_path / "a.jsonl").write_text('null\n{"text": "a", "n": 1}\n')
    code = f"import numbatok; numbatok.load('gpt2').encode_files('a.jsonl', 'o.arrow', keep={keep})"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 1, ran.stderr
    assert "a.jsonl, line 1: b'null' is no JSON object" in ran.stderr


LINES = [
    '{"text":"a"}',
    '{"text":null}',
    ' {"text":"b } {"}\t',
    '{"x":{},"text":"c"}',
    "",
    "  ",
    "\r",
]
BROKEN = ['{"text":"d"}{"text":"e"}', '{"text":\n"f"}', '{"text":"g","x":\n{}}', '{"x":1}', "null"]


def rows_by_hand(content):
    """Return the texts of all lines, or None if a line is not one object with a text."""
    rows = []
    for line in content.split("\n"):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except ValueError:
            return None
        if not isinstance(found, dict) or "text" not in found:
            return None
        rows.append(found["text"])
    return rows


@given(
    lines=st.lists(st.sampled_from(LINES) | st.sampled_from(LINES + BROKEN), max_size=8),
    end=st.sampled_from(["", "\n", "\r\n", "\n\n"]), mark=st.sampled_from(["", "\ufeff"]),
    size=st.sampled_from([16, 64, 1 << 22]),
)  # fmt: skip
def test_rows_are_the_lines_whatever_they_look_like(tmp_path_factory, lines, end, mark, size):
    content = "\n".join(lines) + end
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    path.write_bytes((mark + content).encode())
    [source] = find_sources(path, None)
    reader = JsonLinesReader("text", pa.schema([("text", pa.large_string())]), (), "byte-alphabet")
    expected, found = rows_by_hand(content), []
    before, blocks.BLOCK_BYTES = blocks.BLOCK_BYTES, size
    try:
        for block in reader.read(source, Position()):
            valid = itertools.repeat(True) if block.valid is None else block.valid
            starts = [0, *block.ends.tolist()]
            for start, end_, is_text in zip(starts, starts[1:], valid, strict=False):
                found.append(block.text[start:end_].tobytes().decode() if is_text else None)
    except InvalidSource:
        found = None
    finally:
        blocks.BLOCK_BYTES = before
    assert found == expected


def test_lines_that_are_right_are_not_read_one_by_one(gpt2, tmp_path, monkeypatch):
    monkeypatch.setattr("numbatok.files.json_lines.Lines._parse_one_by_one", None)
    lines = ["", '{"text": "a"}', "  ", ' {"text": "b\\n{"} ', '{"x": [{}, {}], "text": "c"}', ""]
    for end in ("\n", "\r\n"):
        for mark in ("", "\ufeff"):
            table = encode(gpt2, tmp_path, (mark + end.join(lines)).encode())
            assert table["ids"].to_pylist() == ids_of(gpt2, ["a", "b\n{", "c"])


@pytest.mark.parametrize(
    "values, message",
    [
        ((1, 2, "x"), r"line 4: field 'n' is 'x' \(str\), which fits in no column .*leave 'n' out"),
        (("x", None, 3), r"line 4: field 'n' is 3 \(int\)"),
        (([1], ["x"], []), r"line 3: field 'n' is \['x'\] \(list\)"),
        (({"a": 1}, {"a": "x"}, {}), r"line 3: field 'n' is \{'a': 'x'\} \(dict\)"),
        ((1, "\ud800", 2), r"line 3: field 'n' is '\\ud800' \(str\)"),
        ((2**70, "x", 2), r"line 2: field 'n' is 1180591620717411303424 \(int\)"),
    ],
)
def test_a_kept_field_of_two_types_is_named(gpt2, tmp_path, values, message):
    lines = ["", *(json.dumps({"text": "a", "n": value}) for value in values)]
    with pytest.raises(InvalidSource, match=rf"a.jsonl, {message}"):
        encode(gpt2, tmp_path, "\n".join(lines).encode(), keep="n")


def test_fields_that_are_not_kept_may_have_any_type(gpt2, tmp_path):
    rows = [{"text": "a", "n": 1, "m": 1}, {"text": "\ud800", "n": 2, "m": "x"}, {"text": None}]
    table = encode(gpt2, tmp_path, "\n".join(map(json.dumps, rows)).encode(), keep="n")
    assert table["n"].to_pylist() == [1, 2, None]
    assert table["n"].type == pa.int64()
    assert table["ids"].to_pylist() == ids_of(gpt2, ["a", "\ufffd", None])
    message = "the first lines have no field 'k'; there is 'text', 'n', 'm'"
    with pytest.raises(InvalidSource, match=message):
        encode(gpt2, tmp_path, "\n".join(map(json.dumps, rows)).encode(), keep="k")


@pytest.mark.parametrize(
    "line", ["{", "[1]", '{"text":"a"}{}', "\xff", '{"n": ' + "1" * 5000 + "}"]
)
def test_a_first_line_that_is_no_object_is_named_with_kept_fields(gpt2, tmp_path, line):
    with pytest.raises(InvalidSource, match=r"a.jsonl, line 2: "):
        encode(gpt2, tmp_path, b'{"text": "a", "n": 1}\n' + line.encode("latin-1"), keep="n")


def test_a_later_value_that_does_not_fit_is_an_error_of_the_file(gpt2, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 256)
    rows = [{"text": "a", "n": "x"}] * 40
    for value in ("\ud800", 2**70):
        content = "\n".join(map(json.dumps, [*rows, {"text": "b", "n": value}]))
        with pytest.raises(InvalidSource, match="a kept field has a value that is not of its type"):
            encode(gpt2, tmp_path, content.encode(), keep="n")


def test_a_kept_text_that_looks_like_a_time_stays_as_it_is(gpt2, tmp_path):
    objects = [
        {"text": "a", "when": "2026-01-01", "more": {"at": ["2026-01-01T00:00:00", None]}},
        {"text": "b", "when": "2026-01-02 03:04:05", "more": {"at": []}},
        {"text": "c", "when": "2026-1-2", "more": None},
    ]
    for n in (1, 3):  # the first alone is a time for pyarrow
        lines = [json.dumps(line) for line in objects[:n]]
        (tmp_path / f"{n}.jsonl").write_text("\n".join(lines) + "\n")
    paths = [tmp_path / "1.jsonl", tmp_path / "3.jsonl"]
    encode_files(paths, tmp_path / "out.parquet", gpt2, keep=["when", "more"])
    table = pq.read_table(tmp_path / "out.parquet")
    kept = [objects[0], *objects]
    assert table["when"].to_pylist() == [line["when"] for line in kept]
    assert table["more"].to_pylist() == [line["more"] for line in kept]
