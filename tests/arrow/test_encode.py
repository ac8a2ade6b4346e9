"""Columns in, columns out: every layout gives the ids that `encode` gives row by row."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbatok
from numbatok import parallel
from numbatok.errors import (
    InvalidType,
    InvalidUtf8,
    InvalidValue,
    SpecialTokenError,
)

pa = pytest.importorskip("pyarrow", reason="columns need pyarrow")

TEXTS = ["Hello world", None, "", "日本語 and élan", "a" * 70, " \n\n x", None, "it's 2024", "\0"]
LAYOUTS = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "dictionary": pa.dictionary(pa.int16(), pa.string()),
    "dictionary of views": pa.dictionary(pa.uint8(), pa.string_view()),
}


def array_of(texts, kind):
    if pa.types.is_dictionary(kind):
        plain = pa.array(texts, pa.string()).dictionary_encode()
        values = plain.dictionary.cast(kind.value_type)
        return pa.DictionaryArray.from_arrays(plain.indices.cast(kind.index_type), values)
    if "binary" in str(kind):
        texts = [None if text is None else text.encode() for text in texts]
    return pa.array(texts, kind)


def rows_of(tok, texts, **options):
    return [None if t is None else tok.encode(t, "plain", **options).tolist() for t in texts]


def differences(expected, column):
    found = column.to_pylist()
    pairs = zip(expected, found, strict=True)
    return sum(a != b for a, b in pairs)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_slices_and_chunks(gpt2, layout):
    whole = array_of(TEXTS * 3, LAYOUTS[layout])
    expected = rows_of(gpt2, TEXTS * 3)
    compared = 0
    for start, stop in [(0, 27), (1, 20), (9, 9), (3, 4), (26, 27), (0, 0), (8, 26)]:
        column = whole[start:stop]
        ids = gpt2.encode_arrow(column, "plain")
        ids.validate(full=True)
        assert ids.type == pa.large_list(pa.uint32())
        assert differences(expected[start:stop], ids) == 0
        counts = gpt2.count_arrow(column)
        assert counts.to_pylist() == [None if e is None else len(e) for e in expected[start:stop]]
        compared += len(column)
    chunked = pa.chunked_array([whole[:4], whole[4:4], whole[4:5], whole[5:]], whole.type)
    ids = gpt2.encode_arrow(chunked, "plain")
    assert [len(chunk) for chunk in ids.chunks] == [4, 0, 1, 22]
    assert differences(expected, ids) == 0
    assert gpt2.count_arrow(chunked).type == pa.int64()
    print(f"{layout}: {compared + len(chunked)} rows compared")
    assert compared > 60


def test_a_planted_wrong_id_is_seen(gpt2):
    expected = rows_of(gpt2, TEXTS)
    expected[3][1] += 1
    assert differences(expected, gpt2.encode_arrow(pa.array(TEXTS), "plain")) == 1


def test_null_type_and_columns_without_rows(gpt2):
    ids = gpt2.encode_arrow(pa.nulls(3))
    assert ids.type == pa.large_list(pa.uint32())
    assert ids.to_pylist() == [None] * 3
    assert gpt2.count_arrow(pa.nulls(2)).to_pylist() == [None, None]
    for kind in (pa.string(), pa.dictionary(pa.int32(), pa.string())):
        empty = pa.chunked_array([], kind)
        assert gpt2.encode_arrow(empty).num_chunks == 0
        assert gpt2.encode_arrow(empty).type == pa.large_list(pa.uint32())


@pytest.mark.parametrize("large", [False, True])
def test_a_null_row_whose_slot_holds_bytes(gpt2, large):
    offsets = np.array([0, 1, 4, 5], np.int64 if large else np.int32)
    kind = pa.large_string() if large else pa.string()
    buffers = [pa.py_buffer(b"\x05"), pa.py_buffer(offsets), pa.py_buffer(b"aJUKb")]
    column = pa.Array.from_buffers(kind, 3, buffers)
    assert column.to_pylist() == ["a", None, "b"]
    ids = gpt2.encode_arrow(column)
    assert ids.to_pylist() == [gpt2.encode("a").tolist(), None, gpt2.encode("b").tolist()]
    assert ids.offsets.to_pylist() == [0, 1, 1, 2]
    assert gpt2.count_arrow(column[1:]).to_pylist() == [None, 1]


def test_text_is_read_and_ids_are_written_in_place(gpt2, monkeypatch):
    seen = []

    def watched(encoder, text, *arguments, **options):
        job = encode(encoder, text, *arguments, **options)
        seen.append((text.ctypes.data, job.ids.ctypes.data))
        return job

    encode = parallel.encode
    monkeypatch.setattr(parallel, "encode", watched)
    for kind in (pa.string(), pa.large_string(), pa.binary()):
        column = array_of(TEXTS, kind)[2:]
        ids = gpt2.encode_arrow(column, "plain")
        text, result = seen.pop()
        assert text == column.buffers()[2].address + len("Hello world")
        assert result == ids.values.buffers()[1].address


def test_each_value_of_a_dictionary_is_encoded_once(gpt2, monkeypatch):
    sizes = []

    def watched(encoder, text, *arguments, **options):
        sizes.append(text.size)
        return encode(encoder, text, *arguments, **options)

    encode = parallel.encode
    monkeypatch.setattr(parallel, "encode", watched)
    first = pa.array(["ab", "cde", "ab", None] * 50).dictionary_encode()
    second = pa.array(["fghi", "cde"] * 50).dictionary_encode()
    column = pa.chunked_array([first[:150], first[150:], second])
    ids = gpt2.encode_arrow(column)
    assert sum(sizes) == len("abcdefghi")
    assert differences(rows_of(gpt2, column.to_pylist()), ids) == 0
    assert ids.num_chunks == 3
    unused = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array(["<|endoftext|>", "ok"]))
    assert differences(rows_of(gpt2, ["ok", "ok"]), gpt2.encode_arrow(unused)) == 0


class Stream:
    """A column of another library: nothing but the Arrow C stream interface."""

    def __init__(self, column):
        self._column = column

    def __arrow_c_stream__(self, requested_schema=None):
        return self._column.__arrow_c_stream__(requested_schema)


class CArray:
    def __init__(self, array):
        self._array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self._array.__arrow_c_array__(requested_schema)


def test_objects_with_the_c_data_interface(gpt2):
    expected = rows_of(gpt2, TEXTS)
    array = pa.array(TEXTS)
    assert differences(expected, gpt2.encode_arrow(CArray(array), "plain")) == 0
    stream = Stream(pa.chunked_array([array[:4], array[4:]]))
    assert differences(expected, gpt2.encode_arrow(stream, "plain")) == 0
    assert differences(expected, gpt2.encode_arrow(Stream(pa.table({"text": array})), "plain")) == 0
    with pytest.raises(InvalidType, match=r"table with the columns a, b; pass one column"):
        gpt2.encode_arrow(Stream(pa.table({"a": array, "b": array})))


def test_lists_numpy_and_extension_types(gpt2):
    expected = rows_of(gpt2, TEXTS)
    for column in (TEXTS, tuple(TEXTS), np.array(TEXTS, object)):
        assert differences(expected, gpt2.encode_arrow(column, "plain")) == 0
    found = gpt2.encode_arrow(np.array(["ab", "c"]))
    assert differences(rows_of(gpt2, ["ab", "c"]), found) == 0
    if hasattr(pa, "json_"):
        storage = pa.array(['{"a": 1}', None])
        column = pa.ExtensionArray.from_storage(pa.json_(pa.string()), storage)
        assert differences(rows_of(gpt2, storage.to_pylist()), gpt2.encode_arrow(column)) == 0


def test_columns_of_other_types_are_named_with_the_fix(gpt2):
    cases = [
        (pa.array([1, 2]), r"type int64; string or binary is needed: cast it to pyarrow.large_str"),
        (pa.array([["a"]]), r"type list<.*string.*encode its flattened values"),
        (pa.array([{"x": "a"}]), r"type struct<.*pass one of its fields: 'x'"),
        (
            pa.table({"t": ["a"]}),
            r"Table with the columns 't'; pass one column, such as table\['t'",
        ),
        ("text", r"column is 'text' \(builtins.str\); for one text use encode"),
        ((t for t in ["a"]), r"generator.*for an iterable of texts use encode_batch"),
        (7, r"column is 7 \(builtins.int\); pass a pyarrow Array"),
        (["a", 1], r"gives no Arrow column"),
        (pa.compute.run_end_encode(pa.array(["a", "a"])), r"run_end_decode"),
    ]
    for column, message in cases:
        with pytest.raises((InvalidType, InvalidValue), match=message):
            gpt2.encode_arrow(column)
    print(f"{len(cases)} refusals checked")


def test_encode_batch_points_to_encode_arrow(gpt2):
    with pytest.raises(InvalidType, match=r"row 0 is .*StringScalar.* for an Arrow column use"):
        gpt2.encode_batch(pa.array(["a"]))


def test_uint16_and_32_bit_offsets(gpt2, monkeypatch):
    column = pa.array(TEXTS)
    narrow = gpt2.encode_arrow(column, "plain", id_type="uint16", list_type="list")
    assert narrow.type == pa.list_(pa.uint16())
    assert differences(rows_of(gpt2, TEXTS), narrow) == 0
    monkeypatch.setattr("numbatok.arrow.encode.LARGEST_OFFSET", {"list": 9, "large_list": 1 << 62})
    monkeypatch.setattr(parallel, "encode", None)  # the error comes before work starts
    with pytest.raises(InvalidValue, match=r"a chunk may have \d+ ids, more than 32-bit offsets"):
        gpt2.encode_arrow(column, list_type="list")
    with pytest.raises(InvalidValue, match=r"list_type is 'lists'; use 'large_list' or 'list'"):
        gpt2.encode_arrow(column, list_type="lists")


@pytest.mark.parametrize("largest, fits", [(65_535, True), (65_536, False)])
def test_uint16_only_where_every_id_fits(largest, fits):
    tok = tokenizer_with(added=[numbatok_token("<last>", largest)])
    assert tok.vocab_size == largest + 1
    column = pa.array(["a <last>"])
    if fits:
        ids = tok.encode_arrow(column, "recognize", id_type="uint16")
        assert ids.to_pylist()[0][-1] == 65_535
    else:
        with pytest.raises(InvalidValue, match="has ids up to 65536; use 'uint32'"):
            tok.encode_arrow(column, id_type="uint16")


def numbatok_token(content, number):
    from numbatok.spec import AddedToken

    return AddedToken(content, number, special=True, normalized=False)


def tokenizer_with(added=(), template=None):
    """Return GPT-2 with more added tokens and a template."""
    import dataclasses

    from numbatok.compile import build_tables
    from numbatok.formats.gpt2 import read_gpt2
    from numbatok.tokenizer import Tokenizer

    spec = read_gpt2()
    spec = dataclasses.replace(spec, added_tokens=(*spec.added_tokens, *added), template=template)
    return Tokenizer(spec, build_tables(spec))


def test_template_goes_around_rows_that_are_not_null():
    from numbatok.spec import Template, TemplatePart

    parts = (TemplatePart(ids=(50256, 7)), TemplatePart(text="A"), TemplatePart(ids=(9,)))
    tok = tokenizer_with(template=Template(single=parts, pair=()))
    ids = tok.encode_arrow(pa.array(TEXTS), "plain", template=True)
    assert differences(rows_of(tok, TEXTS, template=True), ids) == 0
    rows = [text for text in TEXTS if text is not None]
    batch = tok.encode_batch(rows, "plain", template=True)
    assert batch.to_list() == rows_of(tok, rows, template=True)
    assert ids.to_pylist()[2] == [50256, 7, 9]
    assert ids.to_pylist()[1] is None


def test_special_tokens_in_the_text(gpt2):
    end = "<|endoftext|>"
    texts = ["fine", None, "ok", f"x {end}", "", f"{end}y"]
    chunked = pa.chunked_array([pa.array(texts[:3]), pa.array(texts[3:])])
    message = (
        r"row 3 contains the special token '<\|endoftext\|>' at byte 2. 2 of 6 rows contain it. "
        r".*special='recognize'.*special='plain'"
    )
    for column in (chunked, chunked.cast(pa.string_view()), chunked.dictionary_encode()):
        with pytest.raises(SpecialTokenError, match=message):
            gpt2.encode_arrow(column)
    recognized = gpt2.encode_arrow(chunked, "recognize").to_pylist()
    assert recognized[3] == gpt2.encode(f"x {end}", "recognize").tolist()
    assert recognized[3][-1] == 50256
    assert gpt2.count_arrow(chunked).to_pylist()[3] == gpt2.count(f"x {end}") > 2


def test_bytes_that_are_not_utf8(gpt2):
    rows = [b"ok", b"a\xff", None, b"\xe2\x82", "é".encode()] * 40
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        column = pa.array(rows, kind)
        for invalid in ("byte-alphabet", "punct", "replace"):
            expected = [
                None if r is None else gpt2.encode(r, invalid=invalid).tolist() for r in rows
            ]
            assert differences(expected, gpt2.encode_arrow(column, invalid=invalid)) == 0
        with pytest.raises(InvalidUtf8, match=r"row 11, byte 1 is 0xff"):
            chunks = pa.chunked_array([pa.array([b"fine"] * 10, kind), column])
            gpt2.encode_arrow(chunks, invalid="error")


def damaged(kind, offsets, data=b"hello"):
    """Return an array whose offsets are wrong, as an IPC file with flipped bytes gives it."""
    width = np.int64 if kind == pa.large_string() else np.int32
    right = np.array([0, 1, 2, 5], width)
    buffers = [None, pa.py_buffer(right), pa.py_buffer(data)]
    table = pa.table({"t": pa.Array.from_buffers(kind, 3, buffers)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content = sink.getvalue().to_pybytes()
    assert content.count(right.tobytes()) == 1
    content = content.replace(right.tobytes(), np.array(offsets, width).tobytes())
    return pa.ipc.open_stream(content).read_all()["t"].chunk(0)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_damaged_offsets_never_reach_a_kernel(gpt2, kind):
    cases = [[0, 3, 2, 5], [0, 1, 2, 500], [-4, 1, 2, 5], [0, -1, 2, 5], [0, 9, 9, 9], [7, 7, 7, 7]]
    for offsets in cases:
        for call in (gpt2.encode_arrow, gpt2.count_arrow):
            with pytest.raises(InvalidValue, match=r"row \d is damaged: it goes from byte"):
                call(damaged(kind, offsets))
        with pytest.raises(InvalidValue, match="damaged"):
            gpt2.encode_arrow(damaged(kind, offsets), invalid="replace")
    assert gpt2.encode_arrow(damaged(kind, [0, 1, 2, 5])).to_pylist() == rows_of(
        gpt2, ["h", "e", "llo"]
    )
    print(f"{len(cases)} damaged columns refused")


def test_damaged_dictionary_and_views(gpt2):
    dictionary = pa.array(["a", "b"])
    column = pa.DictionaryArray.from_arrays(np.array([0, 1, 7], np.int32), dictionary, safe=False)
    with pytest.raises(
        InvalidValue, match=r"row 2 is damaged: it has value 7 of a dictionary of 2"
    ):
        gpt2.encode_arrow(column)
    view = pa.array(["a long text, not inlined"], pa.string_view())
    buffers = view.buffers()
    wrong = np.frombuffer(buffers[1], np.int32).copy()
    wrong[3] = 1000  # the offset into the data buffer
    hostile = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(wrong), *buffers[2:]])
    with pytest.raises(InvalidValue, match="damaged"):
        gpt2.encode_arrow(hostile)


@given(
    rows=st.lists(st.none() | st.text(max_size=30), max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=4),
    layout=st.sampled_from(sorted(LAYOUTS)),
)
def test_any_rows_in_any_chunks(rows, cuts, layout):
    tok = numbatok.load("gpt2")
    whole = array_of(rows, LAYOUTS[layout])
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [whole[a:b] for a, b in pairwise(bounds)]
    chunked = pa.chunked_array(parts, whole.type)
    ids = tok.encode_arrow(chunked, "plain")
    assert differences(rows_of(tok, rows), ids) == 0
    assert [len(chunk) for chunk in ids.chunks] == [len(part) for part in parts]
    texts = [None if row is None else row for row in rows]
    assert tok.decode_arrow(ids).to_pylist() == texts


def test_the_one_liner_and_its_imports(gpt2):
    column = pa.array(TEXTS)
    assert numbatok.encode_arrow(column, special="plain") == gpt2.encode_arrow(column, "plain")
    assert numbatok.encode_arrow(column, gpt2, "plain") == gpt2.encode_arrow(column, "plain")
    program = "import numbatok, numbatok.arrow, sys; print('pyarrow' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"
