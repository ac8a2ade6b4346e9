"""The commands that read whole data sets: encode with columns and shards, train, words."""

import gzip
import json

import numpy as np
import pytest

import numbatok

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = ["Hello, world", "a b a b a b", "", "naïve"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "in.parquet"
    columns = {"body": [*TEXTS, None], "url": [f"u{k}" for k in range(5)]}
    parquet.write_table(pyarrow.table(columns), path)
    return path


def test_a_column_goes_to_parquet_with_the_columns_to_keep(cli, gpt2, table, tmp_path):
    out = tmp_path / "out.parquet"

    code, said, err = cli("encode", table, "--column", "body", "--keep", "url", "-o", out)

    assert code == 0, err
    assert said.startswith(b"5 rows, ")
    found = parquet.read_table(out).to_pydict()
    assert found["ids"] == [*(gpt2.encode(text).tolist() for text in TEXTS), None]
    assert found["url"] == ["u0", "u1", "u2", "u3", "u4"]


def test_compressed_json_lines_go_to_shards(cli, gpt2, tmp_path):
    source, shards = tmp_path / "in.jsonl.gz", tmp_path / "shards"
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    source.write_bytes(gzip.compress(lines.encode()))
    end = "<|endoftext|>"

    code, said, err = cli(
        "encode", source, "--format", "npy", "--eos", end, "--shard-ids", 4,
        "-o", f"{shards}/", "--json",
    )  # fmt: skip

    assert code == 0, err
    files = json.loads(said)["files"]
    ids = np.concatenate([np.load(shards / name) for name in files]).tolist()
    assert ids == [i for text in TEXTS for i in [*gpt2.encode(text).tolist(), 50256]]
    assert len(files) == -(-len(ids) // 4)


def test_errors_of_data_sets_are_one_line(cli, table, tmp_path):
    out = tmp_path / "out.parquet"
    cases = {
        ("encode", table): "needs an output",
        ("encode", table, "-o", out): "'text'",
        ("encode", table, "--column", "body", "-o", tmp_path / "x.txt"): "name the output",
        ("encode", tmp_path / "none.parquet", "-o", out): "does not exist",
    }
    for arguments, message in cases.items():
        code, said, err = cli(*arguments)
        assert (code, said) == (1, b""), arguments
        assert err.startswith("numbatok: ") and message in err, err
        assert not out.exists()


def test_train_writes_a_tokenizer_that_loads(cli, tmp_path):
    source, out = tmp_path / "in.txt", tmp_path / "tokenizer.json"
    source.write_text("low lower lowest new newer newest " * 50)
    arguments = ("train", source, "--vocab-size", 270, "--special-token", "<|end|>", "-o", out)

    code, said, err = cli(*arguments, "--held-out", source)

    assert code == 0, err
    assert said.startswith(b"270 ids, 13 merges") and b"on the held-out text" in said
    tokenizer = numbatok.load(out)
    assert tokenizer.vocab_size == 270 and tokenizer.special_tokens.keys() == {"<|end|>"}
    assert (b"l", b"o") in tokenizer.merges
    assert "pass --overwrite" in cli(*arguments)[2]
    nowhere = ("train", source, "--vocab-size", 270, "-o", tmp_path / "no" / "out.json")
    assert "cannot be written" in cli(*nowhere)[2]  # before the work, not after it
    report = json.loads(cli(*arguments, "--overwrite", "--json")[1])
    assert report["n_merges"] == 13 and report["text_bytes"] == source.stat().st_size


def test_train_takes_ids_of_special_tokens_and_a_start(cli, tmp_path):
    source, first, more = (tmp_path / name for name in ("in.txt", "first.json", "more.json"))
    source.write_text("ab abc abcd " * 20)
    common = ("train", source, "--ties", "bytes", "-o")

    assert cli(*common, first, "--vocab-size", 259, "--special-token", "<e>=258")[0] == 0
    assert numbatok.load(first).special_tokens == {"<e>": 258}
    code, _, err = cli(*common, more, "--vocab-size", 261, "--start-from", first)
    assert code == 0, err
    assert numbatok.load(more).merges[:2] == numbatok.load(first).merges


def test_words_counts_and_plots(cli, tmp_path):
    source, plot = tmp_path / "in.txt", tmp_path / "words.svg"
    source.write_text("a b a c a b")

    code, said, err = cli("words", source, "--top", 2, "--plot", plot)
    assert code == 0, err
    assert b"total:                              6" in said
    assert b"<svg" in plot.read_bytes()
    report = json.loads(cli("words", source, "--json", "--top", 1)[1])
    assert (report["total"], report["distinct"], report["singletons"]) == (6, 4, 2)
    assert report["top"] == [[" a", 2]]


@pytest.mark.parametrize("size", ["2GB", "500 MB", "1.5GiB", "7"])
def test_sizes(size):
    from numbatok.cli.choices import n_bytes

    expected = {"2GB": 2 * 10**9, "500 MB": 5 * 10**8, "1.5GiB": 15 * 10**8, "7": 7}
    assert n_bytes(size) == expected[size]


def test_no_size_is_wrong_usage(capsys):
    from numbatok.cli import main

    with pytest.raises(SystemExit) as exit:
        main(["words", "x", "--memory-limit", "much"])

    assert exit.value.code == 2 and "'much' is no size" in capsys.readouterr().err
