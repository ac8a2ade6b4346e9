"""Reading, encoding and writing side by side: errors, progress, order, memory."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from numbatok.errors import SpecialTokenError
from numbatok.files import blocks, encode_files, pipeline, sinks
from numbatok.files.progress import Bar, Reporter
from tests.files.file_rows import pa, some_texts, stream_of, write_parquet


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 500)


def test_a_special_token_is_named_with_file_row_and_place(gpt2, tmp_path, small):
    end = "<|endoftext|>"
    first = write_parquet(tmp_path / "a.parquet", some_texts(100, nulls=False))
    texts = ["fine", None, "fine too", f"x {end}", "", f"{end}"]
    second = write_parquet(tmp_path / "b.parquet", texts)
    message = (
        r"row 3 of .*b.parquet contains the special token '<\|endoftext\|>' at byte 2. "
        r"2 of [\d,]+ rows contain it. .*special='recognize'.*special='plain'"
    )
    with pytest.raises(SpecialTokenError, match=message):
        encode_files([first, second], tmp_path / "o.bin", gpt2)
    (tmp_path / "long.txt").write_text("a long row of words " * 200 + end)
    with pytest.raises(SpecialTokenError, match=r"row 0 of .*long.txt .* at byte 4000"):
        encode_files(tmp_path / "long.txt", tmp_path / "o.bin", gpt2, overwrite=True)


def test_progress(gpt2, tmp_path, small):
    paths = [write_parquet(tmp_path / f"{i}.parquet", some_texts(60, seed=i)) for i in range(3)]
    seen = []
    summary = encode_files(paths, tmp_path / "o.bin", gpt2, special="plain", progress=seen.append)
    assert len(seen) > 3
    assert [p.read_bytes for p in seen] == sorted(p.read_bytes for p in seen)
    last = seen[-1]
    assert last.read_bytes == last.total_bytes == sum(path.stat().st_size for path in paths)
    assert (last.rows, last.text_bytes) == (summary.rows, summary.text_bytes)


def test_a_bar_only_where_somebody_watches(capsys):
    pytest.importorskip("tqdm", reason="the bar is tqdm's")
    with Reporter(None) as report:
        assert not isinstance(report, Bar)
    with Reporter(True) as report:
        assert isinstance(report, Bar)
        report(pipeline_progress())
    assert "1,234 rows" in capsys.readouterr().err
    with Reporter(False) as report:
        assert not isinstance(report, Bar)


def pipeline_progress():
    from numbatok.files import Progress

    return Progress(1234, 10_000, 2500, 50, 100)


def test_many_small_files_and_one_long_row(gpt2, tmp_path):
    texts = some_texts(400, nulls=False, longest=10)
    for number, text in enumerate(texts):
        (tmp_path / f"{number:03d}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "z.txt").write_text("a row longer than a block " * 100_000)
    blocks_seen = []
    before, blocks.BLOCK_BYTES = blocks.BLOCK_BYTES, 1 << 19
    try:
        encode_files(
            tmp_path, tmp_path / "o.bin", gpt2, special="plain", progress=blocks_seen.append
        )
    finally:
        blocks.BLOCK_BYTES = before
    expected = stream_of(gpt2, [*texts, "a row longer than a block " * 100_000])
    assert np.fromfile(tmp_path / "o.bin", np.uint16).tolist() == expected
    assert 3 < len(blocks_seen) < 20


def test_one_side_that_fails_ends_the_others(gpt2, tmp_path, small, monkeypatch):
    source = write_parquet(tmp_path / "a.parquet", some_texts(2000))

    def failing(self, encoded, before):
        raise ZeroDivisionError("planted")

    before = threading.active_count()
    began = time.monotonic()
    with monkeypatch.context() as patch:
        patch.setattr(sinks.StreamSink, "take", failing)
        with pytest.raises(ZeroDivisionError, match="planted"):
            encode_files(source, tmp_path / "o.bin", gpt2, special="plain")

    def interrupted(progress):
        if progress.rows > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_files(
            source, tmp_path / "o.bin", gpt2, special="plain", progress=interrupted, resume=True
        )
    assert threading.active_count() == before
    assert time.monotonic() - began < 60
    assert not (tmp_path / "o.bin").exists()
    encode_files(source, tmp_path / "o.bin", gpt2, special="plain", resume=True)


def test_a_channel_holds_few_blocks():
    channel = pipeline.Channel()
    given = []

    def give():
        for number in range(50):
            channel.put(number)
            given.append(number)
        channel.put(None)

    pipeline.start_thread("test", channel, give)
    time.sleep(0.1)
    assert len(given) <= pipeline.QUEUED + 1
    assert list(channel) == list(range(50))
    assert channel.is_complete


PEAK = """
import resource, sys, numbatok
from numbatok.files import blocks
blocks.BLOCK_BYTES >>= 2  # the queues are full after 40 MB, not after 160
numbatok.load("gpt2").encode_files(sys.argv[1], sys.argv[2], split=sys.argv[3], special="plain")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as Linux gives it")
@pytest.mark.parametrize("split", ["file", "line", "<|endoftext|>"])
def test_memory_does_not_grow_with_the_file(tmp_path, split):
    peaks = []
    text = (
        "some words of a text, as they come, again and again 2024\n" * 17 + "<|endoftext|>"
    ) * 1000
    for copies in (60, 180):
        with open(tmp_path / "a.txt", "w") as file:
            for _ in range(copies):
                file.write(text)
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        command = [
            sys.executable,
            "-c",
            PEAK,
            str(tmp_path / "a.txt"),
            str(tmp_path / "o.bin"),
            split,
        ]
        ran = subprocess.run(command, env=environment, capture_output=True, check=True)
        peaks.append(int(ran.stdout) // 1024)
        for path in tmp_path.glob("o.bin*"):
            path.unlink()
    print(f"{split}: peak memory {peaks[0]} MB at 60 MB, {peaks[1]} MB at 180 MB")
    assert peaks[1] < peaks[0] + 50
    assert peaks[1] < 700
    assert pa is not None
