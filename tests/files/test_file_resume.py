"""A run that is ended at any moment and resumed writes the bytes of an unbroken run."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from numbatok.errors import OutputError, SpecialTokenError
from numbatok.files import blocks, encode_files, manifest, row_sinks, shards, table_writers
from tests.files.file_rows import pa, some_texts, write_json_lines, write_parquet

FORMATS = {
    "bin": {"format": "bin"},
    "llmc": {"format": "llmc", "id_type": "uint32"},
    "megatron": {"format": "megatron"},
    "parquet": {"format": "parquet", "keep": "id"},
    "arrow": {"format": "arrow"},
    "packed": {"format": "npy", "sequence_length": 50},
    "packed and padded": {"format": "parquet", "sequence_length": 50, "remainder": "pad"},
}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 600)
    monkeypatch.setattr(row_sinks, "GROUP_IDS", 200)
    monkeypatch.setattr(table_writers, "GROUP_IDS", 200)


def content_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def sources_in(folder, form):
    """Return files whose rows go on over blocks, and nulls where the format has them."""
    texts = some_texts(60, seed=2)
    if form == "parquet":
        return [
            write_parquet(folder / "a.parquet", texts),
            write_parquet(folder / "b.parquet", texts),
        ]
    (folder / "a.txt").write_text("first <s>" + "a long row of words " * 100 + "<s><s>last<s>tail")
    write_json_lines(folder / "b.jsonl", texts)
    write_parquet(folder / "c.parquet", texts)
    (folder / "d.txt").write_text("words and more " * 150)
    return [folder / name for name in ("a.txt", "b.jsonl", "c.parquet", "d.txt")]


def slow_but(quick):
    """Return all formats; those that differ little from another one are marked slow."""
    return [f if f in quick else pytest.param(f, marks=pytest.mark.slow) for f in FORMATS]


@pytest.mark.parametrize("form", slow_but(["bin", "parquet", "packed and padded"]))
def test_ended_at_every_step(gpt2, tmp_path, small, monkeypatch, form):
    options = FORMATS[form] | {"shard_ids": 400, "split": "<s>", "special": "plain"}
    sources = sources_in(tmp_path, form)
    out, states = tmp_path / "out", []

    def watched_write(path, record):
        keep_state()  # the shard is renamed, but not recorded
        write_record(path, record)
        keep_state()

    def watched_hexdigest(checksum):
        keep_state()  # the shard is whole, but has its temporary name
        return hexdigest(checksum)

    def keep_state():
        state = tmp_path / f"state-{len(states)}"
        if out.exists():
            shutil.copytree(out, state)
        states.append(state)

    write_record, hexdigest = manifest.write_record, shards.Checksum.hexdigest
    with monkeypatch.context() as patch:
        patch.setattr(shards, "write_record", watched_write)
        patch.setattr(shards.Checksum, "hexdigest", watched_hexdigest)
        whole = encode_files(sources, out, gpt2, **options)
    expected = content_of(out)
    assert len(whole.files) > 5
    for state in states:
        if state.exists():
            shutil.rmtree(out)
            state.rename(out)
        resumed = encode_files(sources, out, gpt2, resume=True, **options)
        assert content_of(out) == expected
        assert resumed.to_dict() | {"seconds": 0} == whole.to_dict() | {"seconds": 0}
    print(f"{form}: {len(states)} states resumed, {len(expected)} files each")
    assert len(states) > 12


def test_a_planted_difference_is_seen(gpt2, tmp_path, small, monkeypatch):
    """A resumed run that skips one id too many does not give the same bytes."""
    options = FORMATS["bin"] | {"shard_ids": 400, "special": "plain"}
    [source, _] = sources_in(tmp_path, "parquet")
    encode_files(source, tmp_path / "whole", gpt2, **options)
    expected = content_of(tmp_path / "whole")
    out = tmp_path / "out"
    shutil.copytree(tmp_path / "whole", out)
    record = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").unlink()
    del record["totals"], record["shards"][1:]
    resume = {"position": vars(blocks.Position()), "totals": vars(manifest.Totals()), "skip": 401}
    (out / "manifest.partial.json").write_text(
        json.dumps(record | {"complete": False, "resume": resume})
    )
    encode_files(source, out, gpt2, resume=True, **options)
    assert content_of(out) != expected
    shutil.rmtree(out)


KILLED = """
import sys, numbatok
from numbatok.files import blocks, row_sinks
blocks.BLOCK_BYTES, row_sinks.GROUP_IDS = 20_000, 5_000
options = dict(format=sys.argv[3], shard_ids=8_000, split="line", special="plain", resume=True)
print(numbatok.load("gpt2").encode_files(sys.argv[1], sys.argv[2], **options).to_dict())
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.parametrize("form", ["bin", "parquet", "megatron"])
def test_killed_processes(tmp_path, form):
    rng = np.random.default_rng(0)
    lines = [text.replace("\n", " ") for text in some_texts(40_000, nulls=False)]
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}

    def command(out):
        return [sys.executable, "-c", KILLED, str(tmp_path / "a.txt"), str(tmp_path / out), form]

    began = time.monotonic()
    subprocess.run(command("whole"), env=environment, check=True, capture_output=True)
    seconds = time.monotonic() - began
    kills = 0
    for _ in range(40):
        process = subprocess.Popen(
            command("out"), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        try:
            if kills == 0:  # at once when there is something on the disk, however fast it is
                wait_for_output(process, tmp_path)
            process.wait(0 if kills == 0 else seconds * rng.uniform(0.3, 0.9))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        assert process.returncode == 0, process.stderr.read()
        break
    else:
        subprocess.run(command("out"), env=environment, check=True, capture_output=True)
    assert content_of(tmp_path / "out") == content_of(tmp_path / "whole")
    print(f"{form}: {kills} processes killed")
    assert kills > 0


def wait_for_output(process, folder):
    """Return when a second output appears, or the process ends."""
    before = {path.name for path in folder.iterdir()}
    while process.poll() is None and {path.name for path in folder.iterdir()} <= before:
        time.sleep(0.001)


def test_a_finished_output_is_left_as_it_is(gpt2, tmp_path, small):
    source = write_parquet(tmp_path / "a.parquet", some_texts(50))
    first = encode_files(source, tmp_path / "o.bin", gpt2, special="plain")
    before = (tmp_path / "o.bin").stat().st_mtime_ns
    again = encode_files(source, tmp_path / "o.bin", gpt2, special="plain", resume=True)
    assert again.to_dict() | {"seconds": 0} == first.to_dict() | {"seconds": 0}
    assert (tmp_path / "o.bin").stat().st_mtime_ns == before


def test_what_a_resumed_run_must_have_in_common(gpt2, tmp_path, small):
    from tests.arrow.test_encode import numbatok_token, tokenizer_with

    source = write_parquet(tmp_path / "a.parquet", some_texts(50))
    out = tmp_path / "out"
    options = {"format": "bin", "shard_ids": 300, "special": "plain"}
    encode_files(source, out, gpt2, **options)
    other = tokenizer_with(added=[numbatok_token("<x>", 50_257)])
    refused = "cannot be resumed"
    with pytest.raises(
        OutputError, match=rf"{refused}: the tokenizer was <numbatok.Tokenizer gpt2"
    ):
        encode_files(source, out, other, resume=True, eos="<|endoftext|>", **options)
    with pytest.raises(OutputError, match=rf"{refused}: shard_ids was 300, now it is 301"):
        encode_files(source, out, gpt2, resume=True, **(options | {"shard_ids": 301}))
    with pytest.raises(
        OutputError, match=rf"{refused}: special was 'plain', now it is 'recognize'"
    ):
        encode_files(source, out, gpt2, resume=True, **(options | {"special": "recognize"}))
    with pytest.raises(OutputError, match=rf"{refused}: there were 1 inputs, now there are 2"):
        encode_files([source, source], out, gpt2, resume=True, **options)
    write_parquet(source, some_texts(51))
    with pytest.raises(
        OutputError, match=rf"{refused}: the input .*a.parquet has another .*modified"
    ):
        encode_files(source, out, gpt2, resume=True, **options)
    encode_files(source, out, gpt2, overwrite=True, **options)


def test_finished_shards_are_checked_before_a_run_goes_on(gpt2, tmp_path, small):
    source = write_parquet(tmp_path / "a.parquet", some_texts(50))
    out = tmp_path / "out"
    options = {"format": "bin", "shard_ids": 300, "special": "plain"}
    encode_files(source, out, gpt2, **options)
    shard = out / "shard-00001.bin"
    content = shard.read_bytes()
    changed = bytes([content[0] ^ 1]) + content[1:]
    for spoiled, fact in [(content[:-1], "has 599 bytes instead of 600"), (changed, "checksum")]:
        shard.write_bytes(spoiled)
        with pytest.raises(OutputError, match=rf"shard-00001.bin .*{fact}"):
            encode_files(source, out, gpt2, resume=True, **options)
    shard.unlink()
    with pytest.raises(OutputError, match=r"shard-00001.bin is missing"):
        encode_files(source, out, gpt2, resume=True, **options)


def test_outputs_that_exist(gpt2, tmp_path, small):
    source = write_parquet(tmp_path / "a.parquet", some_texts(50))
    out = tmp_path / "o.bin"
    out.write_bytes(b"precious")
    with pytest.raises(OutputError, match=r"o.bin exists; pass overwrite=True to replace it"):
        encode_files(source, out, gpt2, special="plain")
    with pytest.raises(OutputError, match="exists"):
        encode_files(source, out, gpt2, special="plain", resume=True)
    assert out.read_bytes() == b"precious"
    encode_files(source, out, gpt2, special="plain", overwrite=True)
    with pytest.raises(
        OutputError, match=r"o.bin is a finished output of 1 shards; pass resume=Tr"
    ):
        encode_files(source, out, gpt2, special="plain")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "mine").write_bytes(b"precious")
    with pytest.raises(OutputError, match="is not empty and has no manifest; choose another"):
        encode_files(source, folder, gpt2, format="bin", special="plain", overwrite=True)
    (folder / "manifest.json").write_text("{}")
    with pytest.raises(OutputError, match="is no manifest of this version"):
        encode_files(source, folder, gpt2, format="bin", special="plain", overwrite=True)
    assert (folder / "mine").read_bytes() == b"precious"


def test_overwriting_leaves_no_shard_of_the_run_before(gpt2, tmp_path, small):
    source = write_parquet(tmp_path / "a.parquet", some_texts(50))
    out = tmp_path / "out"
    encode_files(source, out, gpt2, format="bin", shard_ids=100, special="plain")
    options = {"format": "parquet", "special": "plain", "overwrite": True}
    encode_files(source, out, gpt2, **options)
    assert sorted(content_of(out)) == ["manifest.json", "shard-00000.parquet"]


def test_an_error_leaves_finished_shards_and_nothing_that_looks_whole(gpt2, tmp_path, small):
    texts = [*some_texts(60, nulls=False), "then <|endoftext|>", *some_texts(5, nulls=False)]
    source = write_parquet(tmp_path / "a.parquet", texts)
    out = tmp_path / "out"
    with pytest.raises(SpecialTokenError, match=r"row 60 of .*a.parquet"):
        encode_files(source, out, gpt2, format="bin", shard_ids=300)
    names = sorted(content_of(out))
    assert "manifest.partial.json" in names
    assert "manifest.json" not in names
    assert not [name for name in names if name.endswith(".tmp")]
    record = json.loads((out / "manifest.partial.json").read_text())
    files = [file["name"] for shard in record["shards"] for file in shard["files"]]
    assert files == [name for name in names if name.startswith("shard-")]
    assert len(files) > 1


@pytest.mark.parametrize("form", ["bin", "parquet", "megatron", "npy"])
def test_a_full_disk(gpt2, tmp_path, small, monkeypatch, form):
    source = write_parquet(tmp_path / "a.parquet", some_texts(300))
    out = tmp_path / "out"
    options = {"format": form, "shard_ids": 2000, "special": "plain", "compression": "none"}
    whole = encode_files(source, tmp_path / "whole", gpt2, **options)
    assert len(whole.files) > 2
    limits = pytest.importorskip("resource", reason="this system has no file size limit")
    before = limits.getrlimit(limits.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits.setrlimit(limits.RLIMIT_FSIZE, (3000, before[1]))
    try:
        with pytest.raises(
            OutputError, match=r"writing .*out failed: File too large. Finished sha"
        ):
            encode_files(source, out, gpt2, **options)
    finally:
        limits.setrlimit(limits.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, old)
    assert not list(out.glob("*.tmp"))
    encode_files(source, out, gpt2, resume=True, **options)
    assert content_of(out) == content_of(tmp_path / "whole")


def test_no_room_for_the_second_shard(gpt2, tmp_path, small, monkeypatch):
    source = write_parquet(tmp_path / "a.parquet", some_texts(300))
    out = tmp_path / "out"
    options = {"format": "bin", "shard_ids": 1000, "special": "plain"}
    begin = shards.Shards.begin

    def full(self):
        if self.count == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return begin(self)

    monkeypatch.setattr(shards.Shards, "begin", full)
    with pytest.raises(
        OutputError, match=r"No space left on device. Finished shards are intact; ma"
    ):
        encode_files(source, out, gpt2, **options)
    monkeypatch.setattr(shards.Shards, "begin", begin)
    names = [name for name in content_of(out) if name.startswith("shard")]
    assert names == ["shard-00000.bin", "shard-00001.bin"]
    encode_files(source, out, gpt2, resume=True, **options)
    encode_files(source, tmp_path / "whole", gpt2, **options)
    assert content_of(out) == content_of(tmp_path / "whole")
    assert pa is not None
