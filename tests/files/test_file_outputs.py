"""What stands in the files of each format, read by other code than what wrote them."""

import json
import struct
from itertools import chain

import numpy as np
import pytest

import numbatok
from numbatok.errors import InvalidValue, OutputError
from numbatok.files import blocks, encode_files, row_sinks
from tests.files.file_rows import (
    EOS,
    ids_of,
    pa,
    pq,
    some_texts,
    stream_of,
    write_json_lines,
    write_parquet,
)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 700)
    monkeypatch.setattr(row_sinks, "GROUP_IDS", 300)


@pytest.fixture
def texts():
    return some_texts(300, seed=4)


@pytest.fixture
def source(tmp_path, texts):
    return write_parquet(tmp_path / "in.parquet", texts)


def read_megatron(prefix):
    """Return the documents of a .bin and its .idx, as Megatron's reader takes them."""
    with open(f"{prefix}.idx", "rb") as file:
        assert file.read(9) == b"MMIDIDX\x00\x00"
        (version,) = struct.unpack("<Q", file.read(8))
        (code,) = struct.unpack("<B", file.read(1))
        n_sequences, n_documents = struct.unpack("<QQ", file.read(16))
        lengths = np.frombuffer(file.read(4 * n_sequences), np.int32)
        pointers = np.frombuffer(file.read(8 * n_sequences), np.int64)
        documents = np.frombuffer(file.read(8 * n_documents), np.int64)
        assert file.read() == b""
    assert version == 1
    kind = {8: np.uint16, 4: np.int32}[code]
    data = np.memmap(f"{prefix}.bin", kind, "r")
    assert data.size == lengths.sum()
    assert documents.tolist() == list(range(n_sequences + 1))
    item = np.dtype(kind).itemsize
    return [
        np.frombuffer(data, kind, n, offset=p).tolist()
        for p, n in zip(pointers.tolist(), lengths.tolist(), strict=True)
    ], item


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_rows(gpt2, tmp_path, small, texts, source, form):
    out = tmp_path / f"out.{form}"
    summary = encode_files(source, out, gpt2, special="plain", keep=["id"])
    table = pq.read_table(out) if form == "parquet" else pa.ipc.open_file(out).read_all()
    table.validate(full=True)
    assert table["ids"].to_pylist() == ids_of(gpt2, texts)
    assert table["id"].to_pylist() == list(range(300))
    assert table.schema.field("ids").type.value_type == pa.uint32()
    assert table.schema.metadata[b"numbatok.tokenizer"].decode() == gpt2.fingerprint
    assert summary.ids == sum(len(row) for row in ids_of(gpt2, texts) if row)
    assert summary.text_bytes == sum(len(text.encode()) for text in texts if text)
    if form == "parquet":
        groups = pq.ParquetFile(out).metadata
        assert groups.num_row_groups == table["ids"].num_chunks > 5


@pytest.mark.parametrize("compression", ["snappy", "zstd", "lz4", "none"])
def test_compressions(gpt2, tmp_path, texts, source, compression):
    for form in ("parquet", "arrow"):
        out = tmp_path / f"out.{form}"
        encode_files(source, out, gpt2, special="plain", compression=compression)
        table = pq.read_table(out) if form == "parquet" else pa.ipc.open_file(out).read_all()
        assert table["ids"].to_pylist() == ids_of(gpt2, texts)


def test_nanogpt_bin(gpt2, tmp_path, small, texts, source):
    out = tmp_path / "train.bin"
    summary = encode_files(source, out, gpt2, special="plain")
    data = np.memmap(out, dtype=np.uint16, mode="r")  # as nanoGPT opens it
    assert data.tolist() == stream_of(gpt2, texts)
    assert summary.ids == data.size
    encode_files(source, out, gpt2, special="plain", id_type="uint32", eos=False, overwrite=True)
    assert np.fromfile(out, np.uint32).tolist() == stream_of(gpt2, texts, eos=None)


def test_npy(gpt2, tmp_path, small, texts, source):
    out = tmp_path / "ids.npy"
    encode_files(source, out, gpt2, special="plain")
    assert np.load(out, mmap_mode="r").dtype == np.uint16
    assert np.load(out).tolist() == stream_of(gpt2, texts)
    encode_files(source, out, gpt2, special="plain", sequence_length=32, overwrite=True)
    stream = stream_of(gpt2, texts)
    n = len(stream) // 32
    assert np.load(out).shape == (n, 32)
    assert np.load(out).reshape(-1).tolist() == stream[: n * 32]


def test_llmc_bin(gpt2, tmp_path, small, texts, source):
    """Header of 256 int32 and the end-of-text id before each document, as llm.c's data has it."""
    expected = []
    for ids in ids_of(gpt2, texts):
        expected += [] if ids is None else [EOS, *ids]
    for id_type, magic, version in [("uint16", 20240520, 1), ("uint32", 20240801, 7)]:
        out = tmp_path / f"{id_type}.bin"
        encode_files(source, out, gpt2, special="plain", format="llmc", id_type=id_type)
        content = out.read_bytes()
        header = np.frombuffer(content[:1024], np.int32)
        assert header[:3].tolist() == [magic, version, len(expected)]
        assert not header[3:].any()
        assert np.frombuffer(content[1024:], id_type).tolist() == expected


@pytest.mark.parametrize("id_type", ["uint16", "int32"])
def test_megatron(gpt2, tmp_path, small, texts, source, id_type):
    encode_files(
        source, tmp_path / "data.bin", gpt2, special="plain", format="megatron", id_type=id_type
    )
    documents, item = read_megatron(tmp_path / "data")
    assert documents == [[*ids, EOS] for ids in ids_of(gpt2, texts) if ids is not None]
    assert item == np.dtype(id_type).itemsize


def test_megatron_is_read_by_megatron(gpt2, tmp_path, texts, source):
    module = pytest.importorskip(
        "megatron.core.datasets.indexed_dataset", reason="needs megatron-core and torch"
    )
    encode_files(source, tmp_path / "data.bin", gpt2, special="plain", format="megatron")
    dataset = module.IndexedDataset(str(tmp_path / "data"))
    expected = [[*ids, EOS] for ids in ids_of(gpt2, texts) if ids is not None]
    assert [dataset[i].tolist() for i in range(len(dataset))] == expected


@pytest.mark.parametrize("form", ["npy", "parquet", "arrow"])
@pytest.mark.parametrize("remainder", ["drop", "pad"])
def test_packed_sequences(gpt2, tmp_path, small, texts, source, form, remainder):
    out = tmp_path / f"out.{form}"
    options = {"sequence_length": 100, "remainder": remainder, "special": "plain"}
    summary = encode_files(source, out, gpt2, **options)
    if form == "npy":
        rows = np.load(out).tolist()
    else:
        table = pq.read_table(out) if form == "parquet" else pa.ipc.open_file(out).read_all()
        rows = table["ids"].to_pylist()
    stream = stream_of(gpt2, texts)
    left = len(stream) % 100
    assert left
    stream = stream[:-left] if remainder == "drop" else stream + [EOS] * (100 - left)
    assert rows == [stream[i : i + 100] for i in range(0, len(stream), 100)]
    assert summary.dropped_ids == (left if remainder == "drop" else 0)


def test_shards_of_flat_files_have_the_exact_size(gpt2, tmp_path, small, texts, source):
    stream = stream_of(gpt2, texts)
    summary = encode_files(
        source, tmp_path / "s", gpt2, special="plain", format="bin", shard_ids=700
    )
    parts = [np.fromfile(tmp_path / "s" / name, np.uint16).tolist() for name in summary.files]
    assert list(chain.from_iterable(parts)) == stream
    assert [len(part) for part in parts[:-1]] == [700] * (len(stream) // 700)
    assert summary.files == [f"shard-{i:05d}.bin" for i in range(len(parts))]
    options = {"format": "npy", "shard_ids": 700, "sequence_length": 64}
    summary = encode_files(source, tmp_path / "p", gpt2, special="plain", **options)
    rows = np.concatenate([np.load(tmp_path / "p" / name) for name in summary.files])
    assert rows.reshape(-1).tolist() == stream[: len(stream) // 64 * 64]
    assert {np.load(tmp_path / "p" / name).shape for name in summary.files[:-1]} == {(10, 64)}


def test_shards_of_rows_end_with_the_row_that_fills_them(gpt2, tmp_path, small, texts, source):
    out = tmp_path / "shards"
    options = {"format": "parquet", "shard_ids": 500, "keep": "id", "special": "plain"}
    summary = encode_files(source, out, gpt2, **options)
    tables = [pq.read_table(out / name) for name in summary.files]
    assert pa.concat_tables(tables)["ids"].to_pylist() == ids_of(gpt2, texts)
    for table in tables[:-1]:
        lengths = [len(row or []) for row in table["ids"].to_pylist()]
        assert sum(lengths) >= 500 > sum(lengths[:-1])
    assert len(tables) > 5


def test_the_manifest_counts_and_checks(gpt2, tmp_path, small, texts, source):
    import hashlib

    out = tmp_path / "shards"
    summary = encode_files(source, out, gpt2, format="bin", shard_ids=900, special="plain")
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["complete"] is True
    assert manifest["tokenizer"]["fingerprint"] == gpt2.fingerprint
    assert [i["path"] for i in manifest["inputs"]] == [str(source)]
    files = [file for shard in manifest["shards"] for file in shard["files"]]
    assert [file["name"] for file in files] == summary.files
    for file in files:
        content = (out / file["name"]).read_bytes()
        assert (file["bytes"], file["sha256"]) == (
            len(content),
            hashlib.sha256(content).hexdigest(),
        )
    assert sum(shard["ids"] for shard in manifest["shards"]) == summary.ids
    assert manifest["totals"]["rows"] == summary.rows == 300
    assert sorted(p.name for p in out.iterdir()) == sorted([*summary.files, "manifest.json"])
    assert json.loads(json.dumps(summary.to_dict()))["ids"] == summary.ids


def test_inputs_without_rows(gpt2, tmp_path):
    for name in ("a.txt", "a.jsonl"):
        (tmp_path / name).write_bytes(b"")
    write_parquet(tmp_path / "a.parquet", [])
    for name in ("a.txt", "a.jsonl", "a.parquet"):
        for out in ("o.bin", "o.npy", "o.parquet", "o.arrow"):
            summary = encode_files(
                tmp_path / name, tmp_path / out, gpt2, split="line", overwrite=True
            )
            assert (summary.rows, summary.ids, len(summary.files)) == (0, 0, 1)
    assert np.load(tmp_path / "o.npy").shape == (0,)
    assert pq.read_table(tmp_path / "o.parquet").num_rows == 0


def test_rows_from_many_kinds_of_files_keep_their_order(gpt2, tmp_path, texts):
    folder = tmp_path / "in"
    folder.mkdir()
    expected = []
    for number in range(40):
        part = [text for text in texts[number * 7 : number * 7 + 7] if text]
        part = [text.replace("\n", " ") for text in part]
        if number % 3 == 0:
            write_json_lines(folder / f"{number:02d}.jsonl", part)
        elif number % 3 == 1:
            write_parquet(folder / f"{number:02d}.parquet", part)
        else:
            (folder / f"{number:02d}.txt").write_text("\n".join(part) + "\n", encoding="utf-8")
        expected += part
    summary = encode_files(folder, tmp_path / "o.bin", gpt2, split="line", special="plain")
    assert summary.rows == len(expected) > 200
    assert np.fromfile(tmp_path / "o.bin", np.uint16).tolist() == stream_of(gpt2, expected)


def test_template_and_separator_go_around_rows(tmp_path, small):
    from numbatok.spec import Template, TemplatePart
    from tests.arrow.test_encode import tokenizer_with

    parts = (TemplatePart(ids=(7, 8)), TemplatePart(text="A"), TemplatePart(ids=(9,)))
    tok = tokenizer_with(template=Template(single=parts, pair=()))
    texts = ["word " * 900, "", "b", "several words " * 200]
    (tmp_path / "a.txt").write_text("<sep>".join(texts))
    encode_files(tmp_path / "a.txt", tmp_path / "o.arrow", tok, split="<sep>", template=True)
    rows = pa.ipc.open_file(tmp_path / "o.arrow").read_all()["ids"].to_pylist()
    assert rows == [tok.encode(text, template=True).tolist() for text in texts]
    encode_files(tmp_path / "a.txt", tmp_path / "o.bin", tok, split="<sep>", template=True)
    expected = list(chain.from_iterable([*row, EOS] for row in rows))
    assert np.fromfile(tmp_path / "o.bin", np.uint16).tolist() == expected


def test_recognized_special_tokens(gpt2, tmp_path):
    (tmp_path / "a.txt").write_text("one<|endoftext|>two")
    encode_files(tmp_path / "a.txt", tmp_path / "o.bin", gpt2, special="recognize", eos=False)
    assert np.fromfile(tmp_path / "o.bin", np.uint16).tolist() == [505, EOS, 11545]


def test_options_that_do_not_fit_are_refused_before_anything_is_read(gpt2, tmp_path):
    cases = [
        ("o", {}, r"format is ''; use one of 'parquet', .* or name the output .parquet"),
        ("o.bin", {"format": "parquet"}, r"files of format='parquet' are named \*.parquet"),
        ("o.bin", {"shard_ids": 5}, r"shard_ids makes several; name a folder, such as .*/o$"),
        ("o.bin", {"shard_ids": 0}, r"shard_ids is 0; a positive integer is needed"),
        ("o.bin", {"sequence_length": 5}, r"sequence_length is for parquet, arrow and npy"),
        ("o.parquet", {"eos": 1}, r"eos is 1, but format='parquet' keeps rows apart"),
        ("o.bin", {"keep": "id"}, r"keep is for rows in parquet or arrow"),
        ("o.bin", {"eos": "<none>"}, r"eos is '<none>', which is no token"),
        ("o.bin", {"id_type": "uint8"}, r"id_type is 'uint8'; use one of 'uint16', 'uint32'"),
        ("o.bin", {"split": ""}, r"split is ''; use 'file', 'line' or the separator"),
        ("o.bin", {"special": "maybe"}, r"special is 'maybe'"),
        ("o.bin", {"input_format": "csv"}, r"input_format is 'csv'; use one of 'parquet', 'jsonl'"),
        ("o.parquet", {"keep": "ids"}, r"keep has 'ids', the name of the column of ids"),
        ("o.parquet", {"compression": "brotli"}, r"compression is 'brotli'"),
        ("o.npy", {"remainder": "keep"}, r"remainder is 'keep'; use one of 'drop', 'pad'"),
    ]
    for name, options, message in cases:
        with pytest.raises(InvalidValue, match=message):
            encode_files(tmp_path / "absent.txt", tmp_path / name, gpt2, **options)
    assert not list(tmp_path.iterdir())
    print(f"{len(cases)} refusals checked")


def test_ids_of_more_than_16_bits(tmp_path):
    from tests.arrow.test_encode import numbatok_token, tokenizer_with

    tok = tokenizer_with(added=[numbatok_token("<last>", 70_000)])
    (tmp_path / "a.txt").write_text("a <last>")
    with pytest.raises(InvalidValue, match=r"has ids up to 70000; use 'uint32'"):
        encode_files(tmp_path / "a.txt", tmp_path / "o.bin", tok, id_type="uint16", eos=False)
    with pytest.raises(InvalidValue, match=r"eos is needed.*'<\|endoftext\|>', '<last>'"):
        encode_files(tmp_path / "a.txt", tmp_path / "o.bin", tok)
    encode_files(tmp_path / "a.txt", tmp_path / "o.bin", tok, special="recognize", eos="<last>")
    assert np.fromfile(tmp_path / "o.bin", np.uint32).tolist()[-2:] == [70_000, 70_000]
    options = {"format": "megatron", "special": "recognize", "eos": "<last>"}
    encode_files(tmp_path / "a.txt", tmp_path / "m.bin", tok, **options)
    assert read_megatron(tmp_path / "m")[1] == 4


def test_limits_of_the_formats(gpt2, tmp_path, monkeypatch):
    from numbatok.files import writers

    (tmp_path / "a.txt").write_text("several words of text")
    monkeypatch.setattr(writers, "LLMC_LARGEST", 3)
    with pytest.raises(OutputError, match="do not fit a file of format='llmc'; pass shard_ids"):
        encode_files(tmp_path / "a.txt", tmp_path / "o.bin", gpt2, format="llmc")
    monkeypatch.setattr(writers, "MEGATRON_LONGEST", 3)
    with pytest.raises(OutputError, match="a document of 6 ids does not fit format='megatron'"):
        encode_files(tmp_path / "a.txt", tmp_path / "m.bin", gpt2, format="megatron")
    assert sorted(p.name for p in tmp_path.glob("*.bin")) == []


def test_the_method_of_a_tokenizer(gpt2, tmp_path):
    (tmp_path / "a.txt").write_text("text")
    summary = gpt2.encode_files(tmp_path / "a.txt", tmp_path / "o.bin")
    assert str(summary).startswith("1 rows, 4 bytes of text -> 2 ids in 1 files of 4 bytes")
    numbatok.files.encode_files(tmp_path / "a.txt", tmp_path / "p.bin", "gpt2")
    assert (tmp_path / "o.bin").read_bytes() == (tmp_path / "p.bin").read_bytes()
