"""Counting runs inside any engine: a map over parts; what is merged trains as on one machine."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

import numbatok
from numbatok.training import PretokenCounts
from tests.training.small_corpora import small_corpus

TEXTS = [text for seed in range(12) for text in small_corpus(seed)]
SCHEMA = "pretoken binary, count long"


def counting_map():
    """Return the map: a function that engines can send to workers that do not have this file."""

    def count_batch(batch):
        import numbatok

        return numbatok.count_pretokens(batch["text"], progress=False).to_arrow()

    return count_batch


@pytest.fixture(scope="module")
def merges():
    return numbatok.train(TEXTS, 320, progress=False).merges


def train(tables):
    """Merge Arrow tables of counts, in which pretokens may be repeated, and train."""
    pyarrow = pytest.importorskip("pyarrow")
    counts = PretokenCounts.from_arrow(pyarrow.concat_tables(tables), pattern="gpt2")
    return numbatok.train(counts, 320, progress=False).merges


def test_dask(merges):
    bag = pytest.importorskip("dask.bag")
    parts = bag.from_sequence(TEXTS, npartitions=5)
    counts = parts.map_partitions(lambda texts: [numbatok.count_pretokens(list(texts))])
    merged = counts.fold(PretokenCounts.__add__).compute(scheduler="threads")
    assert merged == numbatok.count_pretokens(TEXTS)
    assert numbatok.train(merged, 320, progress=False).merges == merges


@pytest.mark.slow
def test_ray_data(merges):
    data = pytest.importorskip("ray.data")
    import ray

    path = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=path)
    try:
        texts = data.from_items([{"text": text} for text in TEXTS], override_num_blocks=4)
        counts = texts.map_batches(counting_map(), batch_format="pyarrow", batch_size=None)
        assert train(ray.get(counts.to_arrow_refs())) == merges
    finally:
        ray.shutdown()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark(merges, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    import pyarrow

    count_batch = counting_map()

    def count_batches(batches):
        for batch in batches:
            table = count_batch(batch).select(["pretoken", "count"])
            yield from table.cast(
                pyarrow.schema([("pretoken", pyarrow.binary()), ("count", pyarrow.int64())])
            ).to_batches()

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = session.getOrCreate()
    try:
        texts = spark.createDataFrame([(text,) for text in TEXTS], "text string").repartition(3)
        counts = texts.mapInArrow(count_batches, SCHEMA).groupBy("pretoken").sum("count")
        table = counts.withColumnRenamed("sum(count)", "count").toArrow()
        assert train([table]) == merges
    finally:
        spark.stop()
