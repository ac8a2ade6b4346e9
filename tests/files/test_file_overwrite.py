"""What was there stays until there is something in its place."""

import errno
import subprocess
import sys

import pytest

from numbatok.errors import InvalidSource, InvalidValue, OutputError, SpecialTokenError
from numbatok.files import encode_files, parquet, shards
from tests.files.file_rows import ids_of, pa, pq, some_texts, write_parquet


@pytest.fixture
def source(tmp_path):
    return write_parquet(tmp_path / "in.parquet", some_texts(100))


def test_an_output_outlives_a_failed_run_that_was_to_replace_it(gpt2, tmp_path, source):
    out = tmp_path / "out.parquet"
    encode_files(source, out, gpt2, special="plain")
    before, there = out.read_bytes(), sorted(p.name for p in tmp_path.iterdir())
    refused = write_parquet(tmp_path / "refused.parquet", ["<|endoftext|>"])
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(source.read_bytes()[:-9])
    there = sorted([*there, "refused.parquet", "damaged.parquet"])
    for error, given, options in [
        (InvalidSource, source, {"column": "typo"}),
        (InvalidSource, source, {"keep": "typo"}),
        (InvalidSource, damaged, {}),
        (SpecialTokenError, refused, {}),
    ]:
        with pytest.raises(error):
            encode_files(given, out, gpt2, overwrite=True, **options)
        assert out.read_bytes() == before
        assert sorted(p.name for p in tmp_path.iterdir()) == there


def test_a_mistake_leaves_nothing_behind(gpt2, tmp_path, source):
    for out in (tmp_path / "out.parquet", tmp_path / "folder"):
        with pytest.raises(InvalidSource, match="has no column 'typo'"):
            encode_files(source, out, gpt2, format="parquet", column="typo")
        encode_files(source, out, gpt2, format="parquet", special="plain")


def test_an_input_is_no_output(gpt2, tmp_path, source):
    before = source.read_bytes()
    with pytest.raises(InvalidValue, match="parquet is an input and an output"):
        encode_files(source, source, gpt2, special="plain", overwrite=True)
    folder = tmp_path / "folder"
    encode_files(source, folder, gpt2, special="plain", format="parquet", keep="text")
    options = {"special": "plain", "format": "parquet", "overwrite": True}
    with pytest.raises(InvalidValue, match="is an input and an output"):
        encode_files(folder, folder, gpt2, **options)
    assert source.read_bytes() == before


def test_shards_that_were_not_recorded_go_with_the_others(gpt2, tmp_path, source):
    """The record of many shards is not written after each of them."""
    options = {"special": "plain", "format": "bin"}
    code = (
        "import os, numbatok\n"
        "from numbatok.files import encode_files, shards\n"
        "finish, shards.RECORD_PAUSE = shards.Shards._finish, 1e9\n"
        "def die(self, *given):\n"
        "    finish(self, *given)\n"
        "    if len(self._record.shards) == 5:\n"
        "        os._exit(9)\n"
        "shards.Shards._finish = die\n"
        f"encode_files({str(source)!r}, {str(tmp_path / 'died')!r}, 'gpt2', shard_ids=100, "
        "special='plain', format='bin')\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=100).returncode == 9
    died = tmp_path / "died"
    assert len([p for p in died.iterdir() if p.suffix == ".bin"]) == 5
    summary = encode_files(source, died, gpt2, shard_ids=10_000, overwrite=True, **options)
    assert sorted(p.name for p in died.iterdir()) == sorted([*summary.files, "manifest.json"])


def test_advice_fits_the_failure(gpt2, tmp_path, source):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match="check the folder"):
        encode_files(source, tmp_path / "file" / "out.parquet", gpt2, special="plain")


def test_a_disk_that_stays_full_hides_no_error(gpt2, tmp_path, source, monkeypatch):
    """There is no room for the record of what is whole either."""
    out, written = tmp_path / "out", shards.write_record

    def full(path, record):
        if record.shards:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(path, record)

    monkeypatch.setattr(shards, "write_record", full)
    with pytest.raises(OutputError, match=r"No space left on device.*make room"):
        encode_files(source, out, gpt2, special="plain", format="bin", shard_ids=100)
    assert not list(out.glob("*.tmp"))
    monkeypatch.undo()
    encode_files(source, out, gpt2, special="plain", format="bin", shard_ids=100, resume=True)
    encode_files(source, tmp_path / "b", gpt2, special="plain", format="bin", shard_ids=100)
    for path in (tmp_path / "b").glob("*.bin"):
        assert (out / path.name).read_bytes() == path.read_bytes()


def test_how_many_rows_have_the_token(gpt2, tmp_path):
    texts = ["fine"] * 5_000
    for row in (1_234, 1_235, 4_999):
        texts[row] = "a <|endoftext|>"
    other = write_parquet(tmp_path / "other.parquet", ["b"] * 10)
    source = write_parquet(tmp_path / "in.parquet", texts)
    message = r"row 1234 of .*in.parquet .* 3 of 5,010 rows contain it"
    with pytest.raises(SpecialTokenError, match=message):
        encode_files([other, source], tmp_path / "out.parquet", gpt2)


def test_a_column_that_is_encrypted(gpt2, tmp_path):
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def wrap_key(self, key, _name):
            return key

        def unwrap_key(self, key, _name):
            return key

    factory = encryption.CryptoFactory(lambda _: Keys())
    config = encryption.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["text"]}, plaintext_footer=True
    )
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), config)
    path = tmp_path / "in.parquet"
    table = pa.table({"text": ["a", "b"], "number": [1, 2]})
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    with pytest.raises(InvalidSource, match=r"in.parquet cannot be read.*decrypt it first"):
        encode_files(path, tmp_path / "out.parquet", gpt2)


def test_batches_follow_the_size_of_rows(gpt2, tmp_path):
    """Rows that a dictionary has once are large again in a batch; the name may have a dot."""
    long = ["x y " * 50_000, "z " * 100_000]
    texts = ["short"] * 3_000 + [long[i % 2] for i in range(60)] + ["short"] * 9_000
    pq.write_table(pa.table({"a.b": texts}), tmp_path / "in.parquet", row_group_size=20_000)
    reader = parquet.ParquetReader("a.b", (), None, "byte-alphabet")
    with parquet.open_parquet(parquet.Source(str(tmp_path / "in.parquet"), "", None, 1, 1)) as file:
        batches = list(reader._batches(file, 0))
    assert pa.Table.from_batches(batches)["a.b"].to_pylist() == texts
    assert max(len(batch) for batch in batches) > 2_000
    assert sum(len(batch) for batch in batches if batch.nbytes > 14_000_000) == 0
    out = tmp_path / "out.parquet"
    encode_files(tmp_path / "in.parquet", out, gpt2, column="a.b")
    assert pq.read_table(out)["ids"].to_pylist()[3_050] == ids_of(gpt2, [long[0]])[0]
