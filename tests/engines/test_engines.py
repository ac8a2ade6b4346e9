"""One line inside each engine, run for real where the engine is installed (the extra `engines`)."""

import os

import pytest

import numbatok

pa = pytest.importorskip("pyarrow", reason="engines pass Arrow columns")

TEXTS = ["Hello world", None, "", "日本語 and élan", "one\n\ntwo"] * 40


@pytest.fixture(scope="module")
def expected():
    tok = numbatok.load("gpt2")
    return [None if text is None else tok.encode(text).tolist() for text in TEXTS]


def plain(ids):
    """Return rows of ids as lists, whatever sequence an engine gives for one."""
    missing = lambda row: row is None or isinstance(row, float) or row is pd_na()  # noqa: E731
    return [None if missing(row) else [int(i) for i in row] for row in ids]


def pd_na():
    try:
        import pandas
    except ImportError:
        return None
    return pandas.NA


def test_datasets(expected):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    dataset = datasets.Dataset.from_dict({"text": TEXTS}).with_format("arrow")
    mapped = dataset.map(
        lambda t: t.append_column("ids", numbatok.encode_arrow(t["text"])),
        batched=True, batch_size=64,
    )  # fmt: skip
    assert plain(mapped.with_format(None)["ids"]) == expected


@pytest.mark.slow
def test_datasets_in_two_processes(expected):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    dataset = datasets.Dataset.from_dict({"text": TEXTS}).with_format("arrow")
    mapped = dataset.map(
        lambda t: t.append_column("ids", numbatok.encode_arrow(t["text"])),
        batched=True, batch_size=64, num_proc=2,
    )  # fmt: skip
    assert plain(mapped.with_format(None)["ids"]) == expected


def test_polars(expected):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"text": TEXTS})
    frame = frame.with_columns(ids=polars.from_arrow(numbatok.encode_arrow(frame["text"])))
    assert plain(frame["ids"].to_list()) == expected
    lazy = frame.lazy().select(
        polars.col("text").map_batches(
            lambda s: polars.from_arrow(numbatok.encode_arrow(s)),
            return_dtype=polars.List(polars.UInt32),
        )
    )
    assert plain(lazy.collect()["text"].to_list()) == expected
    texts = polars.from_arrow(numbatok.load("gpt2").decode_arrow(frame["ids"]))
    assert texts.to_list() == TEXTS


def test_pandas(expected):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for kind in (
        object,
        "str",
        pandas.ArrowDtype(pa.string()),
        pandas.ArrowDtype(pa.large_string()),
    ):
        frame = pandas.DataFrame({"text": pandas.Series(TEXTS, dtype=kind)})
        ids = numbatok.encode_arrow(frame["text"])
        frame["ids"] = pandas.arrays.ArrowExtensionArray(ids)
        assert plain(frame["ids"]) == expected


def test_duckdb(expected):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register("texts", pa.table({"text": TEXTS}))
    relation = connection.sql("select text from texts")
    assert plain(numbatok.encode_arrow(relation).to_pylist()) == expected
    connection.register("encoded", pa.table({"ids": numbatok.encode_arrow(relation)}))
    total = connection.sql("select sum(len(ids)) from encoded").fetchall()[0][0]
    assert total == sum(len(row) for row in expected if row)


def test_duckdb_function(expected):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.create_function(
        "encode_ids", lambda c: numbatok.encode_arrow(c, list_type="list"), ["VARCHAR"],
        "UINTEGER[]", type="arrow", null_handling="special",
    )  # fmt: skip
    connection.register("texts", pa.table({"text": TEXTS}))
    rows = connection.sql("select encode_ids(text) from texts").fetchall()
    assert plain(row[0] for row in rows) == expected


def test_dask(expected):
    dask = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    kind = pandas.ArrowDtype(pa.large_list(pa.uint32()))
    text = pandas.Series(TEXTS, dtype=pandas.ArrowDtype(pa.string()))
    frame = dask.from_pandas(pandas.DataFrame({"text": text}), npartitions=3)
    ids = frame["text"].map_partitions(
        lambda s: pandas.Series(
            pandas.arrays.ArrowExtensionArray(numbatok.encode_arrow(s)), s.index
        ),
        meta=("ids", kind),
    )
    assert plain(ids.compute()) == expected


@pytest.mark.slow
def test_ray(expected):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    pytest.importorskip("ray.data", reason="ray[data] is not installed")
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}},
    )  # fmt: skip
    try:
        dataset = ray.data.from_arrow(pa.table({"n": range(len(TEXTS)), "text": TEXTS}))
        mapped = dataset.map_batches(
            lambda t: t.append_column("ids", numbatok.encode_arrow(t["text"])),
            batch_format="pyarrow", batch_size=64,
        )  # fmt: skip
        rows = sorted(mapped.take_all(), key=lambda row: row["n"])
    finally:
        ray.shutdown()
    assert plain(row["ids"] for row in rows) == expected


@pytest.mark.slow
def test_spark(expected):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    try:
        session = sql.SparkSession.builder.master("local[2]").appName("numbatok").getOrCreate()
    except Exception as error:
        pytest.skip(f"Spark does not start here: {error}")

    def encode(batches):
        for batch in batches:
            ids = numbatok.encode_arrow(batch["text"], list_type="list")
            yield pa.RecordBatch.from_arrays(
                [batch["n"], ids.cast(pa.list_(pa.int32()))], ["n", "ids"]
            )

    try:
        frame = session.createDataFrame(list(enumerate(TEXTS)), "n int, text string")
        rows = frame.mapInArrow(encode, "n int, ids array<int>").orderBy("n").collect()
    finally:
        session.stop()
    assert plain(row["ids"] for row in rows) == expected


@pytest.fixture(scope="module")
def encoded_file(tmp_path_factory):
    """A Parquet file of ids that has all that one can have: packed pages, null and empty rows."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no Parquet")
    folder = tmp_path_factory.mktemp("encoded")
    parquet.write_table(pa.table({"text": TEXTS * 200}), folder / "in.parquet")
    numbatok.load("gpt2").encode_files(folder / "in.parquet", folder / "out.parquet")
    column = parquet.ParquetFile(folder / "out.parquet").metadata.row_group(0).column(0)
    assert column.has_dictionary_page
    return str(folder / "out.parquet")


def test_duckdb_reads_our_parquet(encoded_file, expected):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    rows = duckdb.connect().sql(f"select ids from '{encoded_file}'").fetchall()
    assert plain(row[0] for row in rows) == expected * 200


def test_polars_reads_our_parquet(encoded_file, expected):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert plain(polars.read_parquet(encoded_file)["ids"].to_list()) == expected * 200
    some = polars.scan_parquet(encoded_file).slice(777, 5_000).collect()
    assert plain(some["ids"].to_list()) == (expected * 200)[777:5_777]


def test_fastparquet_reads_our_parquet(encoded_file, expected):
    fastparquet = pytest.importorskip("fastparquet", reason="fastparquet is not installed")
    frame = fastparquet.ParquetFile(encoded_file).to_pandas()
    assert plain(frame["ids"].tolist()) == expected * 200


@pytest.mark.slow
def test_spark_reads_our_parquet(encoded_file, expected):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    try:
        session = sql.SparkSession.builder.master("local[2]").appName("numbatok").getOrCreate()
    except Exception as error:
        pytest.skip(f"Spark does not start here: {error}")
    try:
        rows = session.read.parquet(encoded_file).collect()
    finally:
        session.stop()
    assert plain(row["ids"] for row in rows) == expected * 200
