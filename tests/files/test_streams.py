"""Bytes that come once: standard input, pipes, and what they do when nothing comes."""

import gzip
import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from numbatok.errors import InvalidSource, InvalidValue
from numbatok.files import encode_files
from numbatok.files.sources import Source, find_sources
from numbatok.files.streams import ByteStream
from tests.files.file_rows import pa

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="of Unix")
STANDARD = Source("-", "text", None, 0, 0)
HELLO = [15496, 11, 995, 50256]


def start(*arguments):
    """Start Python with pipes."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)], env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.fixture
def pipe(tmp_path):
    """Return a function (name, data) -> a named pipe that gives the data to its reader."""

    def named_pipe(name, data):
        os.mkfifo(tmp_path / name)
        write = threading.Thread(target=(tmp_path / name).write_bytes, args=(data,), daemon=True)
        write.start()
        return tmp_path / name

    return named_pipe


# --- standard input -------------------------------------------------------------------------------


SILENT = """
import sys, threading, time
from numbatok.cli import main

def tell():
    while "numbatok-read" not in [thread.name for thread in threading.enumerate()]:
        time.sleep(0.01)
    time.sleep(0.3)  # it waits for input now
    print("ready", flush=True)

threading.Thread(target=tell, daemon=True).start()
sys.exit(main(sys.argv[1:]))
"""


@posix
@pytest.mark.parametrize("given", [b"", b"some words\n"])
@pytest.mark.parametrize("source", ["-", "pipe"])
def test_an_interrupt_ends_a_run_that_waits_for_silent_input(gpt2, tmp_path, source, given):
    out = tmp_path / "s.bin"
    if source == "pipe":
        source = tmp_path / "pipe"
        os.mkfifo(source)
    command = ["encode", source, "-o", out, "--input-format", "text", "--split", "line"]
    child = start("-c", SILENT, *command)
    with child.stdin if source == "-" else open(source, "wb") as file:
        file.write(given)
        file.flush()
        assert child.stdout.readline() == b"ready\n"
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=30) == 130
        print(f"ended after {time.monotonic() - sent:.2f} s")
        assert child.stderr.read() == b"numbatok: interrupted\n"
    assert not out.exists()


@posix
def test_what_standard_input_has_read_already_is_not_lost():
    program = (
        "import sys; from numbatok.files.streams import ByteStream\n"
        "from numbatok.files.sources import Source\n"
        "head = sys.stdin.buffer.readline()\n"
        "with ByteStream(Source('-', 'text', None, 0, 0)) as stream:\n"
        "    parts = [stream.read(7), stream.read(100_000), stream.read(1 << 20), stream.read(9)]\n"
        "sys.stdout.buffer.write(head + b'|' + b'|'.join(parts))"
    )
    data = b"head\n" + bytes(range(256)) * 1000
    child = start("-c", program)
    found, error = child.communicate(data, timeout=60)
    rest = data[5:]
    expected = [b"head\n", rest[:7], rest[7:100_007], rest[100_007:], b""]
    assert (error, found) == (b"", b"|".join(expected))


@posix
def test_standard_input_that_does_not_block_is_waited_for(monkeypatch):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)

    def write():
        for _ in range(5):
            time.sleep(0.05)
            os.write(writing, b"some words ")
        os.close(writing)

    writer = threading.Thread(target=write)
    with open(reading, "rb") as buffer:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
        writer.start()
        assert ByteStream(STANDARD).read(1000) == b"some words " * 5
    writer.join()


def test_standard_input_may_be_another_object(monkeypatch):
    class Bare(io.RawIOBase):
        """An object without a file descriptor that cannot seek."""

        def __init__(self):
            self._data = io.BytesIO(b"some words")

        def readable(self):
            return True

        def readinto(self, room):
            return self._data.readinto(room)

    for buffer in (io.BytesIO(b"some words"), Bare(), io.BufferedReader(Bare())):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
        with ByteStream(STANDARD) as stream:
            assert (stream.read(4), stream.read(100), stream.read(1)) == (b"some", b" words", b"")
        assert not buffer.closed


def test_standard_input_that_is_a_file_is_read_from_its_start(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Hello, world")
    command = [sys.executable, "-m", "numbatok", "encode", "-", "-o", "o.bin", "--input-format"]
    with open(tmp_path / "a.txt", "rb") as file:
        ran = subprocess.run(
            [*command, "text"], stdin=file, cwd=tmp_path, capture_output=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert np.fromfile(tmp_path / "o.bin", np.uint16).tolist() == HELLO


# --- named pipes ----------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize(
    "name, data",
    [
        ("a.txt", b"Hello, world"),
        ("a.jsonl", b'{"text": "Hello, world"}\n'),
        ("a.txt.gz", gzip.compress(b"Hello, world")),
    ],
    ids=["text", "json lines", "gzip"],
)
def test_a_named_pipe_is_read(gpt2, tmp_path, pipe, name, data):
    summary = encode_files(pipe(name, data), tmp_path / "o.bin", gpt2)
    assert summary.rows == 1
    assert np.fromfile(tmp_path / "o.bin", np.uint16).tolist() == HELLO


@posix
def test_a_named_pipe_of_many_blocks_and_an_empty_one(gpt2, tmp_path, pipe):
    big, empty = pipe("big.txt", b"some words\n" * 500_000), pipe("empty.txt.gz", b"")
    summary = encode_files([big, empty], tmp_path / "o.bin", gpt2, split="line")
    assert summary.rows == 500_000


@posix
def test_a_named_pipe_that_cannot_be_used(gpt2, tmp_path):
    for name in ("a.parquet", "a.jsonl"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(
        InvalidSource, match=r"a.parquet is a pipe, but Parquet is read from its end"
    ):
        find_sources(tmp_path / "a.parquet", None)
    with pytest.raises(
        InvalidValue, match=r"keep needs files; .*a.jsonl is a pipe and can be read"
    ):
        encode_files(tmp_path / "a.jsonl", tmp_path / "o.arrow", gpt2, keep="n")
    with pytest.raises(InvalidSource, match="matches no file as a glob"):
        find_sources(tmp_path / "*.jsonl", None)  # one that nobody writes to would be waited for
    with pytest.raises(InvalidSource, match="/dev/null is no file, folder or pipe"):
        find_sources("/dev/null", "text")


@posix
def test_a_resumed_run_takes_a_pipe_for_the_same_input(gpt2, tmp_path, pipe):
    path = pipe("a.jsonl", b'{"text": "Hello, world"}\n')
    first = find_sources(path, None)
    os.utime(path, (1, 1))
    assert find_sources(path, None) == first == [Source(str(path), "jsonl", None, 0, 0)]
    encode_files(path, tmp_path / "o.arrow", gpt2)
    assert pa.ipc.open_file(tmp_path / "o.arrow").read_all()["ids"].to_pylist() == [HELLO[:3]]
