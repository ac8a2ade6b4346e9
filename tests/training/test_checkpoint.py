"""Checkpoints: killed at any moment, training goes on to the same result; others are refused."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import numbatok
from numbatok.errors import CheckpointError, InvalidValue, TrainingError
from numbatok.training import checkpoint, merging, run, train_with_report

ROOT = Path(numbatok.__file__).parents[1]


def make_text(seed=0, n_words=3000):
    chosen = random.Random(seed)
    words = ["".join(chosen.choices("etaoinshr", k=chosen.randint(2, 9))) for _ in range(400)]
    return " ".join(chosen.choices(words, k=n_words))


TEXTS = [make_text()]


def learn(folder, source=TEXTS, vocab_size=400, **options):
    return train_with_report(source, vocab_size, checkpoint=folder, progress=False, **options)


@pytest.fixture
def slices(monkeypatch):
    """Small slices of work, with a checkpoint after each."""
    monkeypatch.setattr(merging, "WORK_A_CALL", 100)
    monkeypatch.setattr(run, "CHECKPOINT_SECONDS", 0.0)


def interrupt_after(n):
    """Return a progress function that interrupts the n-th time that merges are told of."""
    told = []

    def progress(now):
        if now.phase == "merging":
            told.append(now)
            if len(told) == n:
                raise KeyboardInterrupt

    return progress


@pytest.mark.usefixtures("slices")
@pytest.mark.parametrize("ties", ["huggingface", "bytes", "minbpe"])
@pytest.mark.parametrize("n", [1, 6, 20])
def test_an_interrupted_training_goes_on(tmp_path, monkeypatch, ties, n):
    monkeypatch.setattr("numbatok.training.progress.EVERY", 0.0)
    wanted, _ = train_with_report(TEXTS, 400, ties=ties, progress=False)
    with pytest.raises(KeyboardInterrupt):
        numbatok.train(TEXTS, 400, ties=ties, checkpoint=tmp_path, progress=interrupt_after(n))
    found, report = learn(tmp_path, ties=ties)
    assert found.merges == wanted.merges and found.fingerprint == wanted.fingerprint
    assert report.n_resumed < report.n_merges == 144
    assert report.n_resumed > 0 or n == 1
    again, report = learn(tmp_path, ties=ties)
    assert again.merges == wanted.merges and report.n_resumed == 144


@pytest.mark.usefixtures("slices")
def test_vetoes_and_tokenizers_to_extend_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("numbatok.training.progress.EVERY", 0.0)
    first = numbatok.train([make_text(1)], 300, progress=False)
    options = {"start_from": first, "veto": r"[ns]$", "special_tokens": ["<|x|>"]}
    wanted = numbatok.train(TEXTS, 400, progress=False, **options)
    with pytest.raises(KeyboardInterrupt):
        numbatok.train(TEXTS, 400, checkpoint=tmp_path, progress=interrupt_after(20), **options)
    found, report = learn(tmp_path, **options)
    assert found.fingerprint == wanted.fingerprint and report.n_resumed > 0


def test_more_merges_later(tmp_path):
    learn(tmp_path, vocab_size=300)
    found, report = learn(tmp_path, vocab_size=400)
    assert report.n_resumed == 44
    assert found.merges == numbatok.train(TEXTS, 400, progress=False).merges
    fewer, _ = learn(tmp_path, vocab_size=280)
    assert fewer.merges == found.merges[:24]
    assert learn(tmp_path, vocab_size=400)[1].n_resumed == 144  # none was lost


def test_files_are_not_read_again(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXTS[0])
    found, _ = learn(tmp_path / "kept", path)
    status = path.stat()
    path.write_text("y" * len(TEXTS[0]))  # what is not read cannot be noticed
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert learn(tmp_path / "kept", path)[0].merges == found.merges
    path.write_text(TEXTS[0] + ".")
    with pytest.raises(CheckpointError, match="belongs to another training: source was"):
        learn(tmp_path / "kept", path)


def test_another_training_is_refused(tmp_path):
    learn(tmp_path)
    with pytest.raises(CheckpointError, match="another training: corpus was"):
        learn(tmp_path, [make_text(1)])
    for options, name in (
        ({"ties": "bytes"}, "ties"),
        ({"min_frequency": 2}, "min_frequency"),
        ({"max_token_bytes": 9}, "max_token_bytes"),
        ({"veto": "x"}, "veto"),
        ({"special_tokens": ["<|x|>"]}, "tokenizer"),
        ({"initial_alphabet": bytes(range(256))}, "alphabet"),
    ):
        with pytest.raises(CheckpointError, match=f"another training: {name} was"):
            learn(tmp_path, **options)
    counts = numbatok.count_pretokens(TEXTS)
    assert learn(tmp_path, counts)[0].merges == learn(tmp_path)[0].merges


def test_another_version_is_refused(tmp_path, monkeypatch):
    learn(tmp_path)
    monkeypatch.setattr(checkpoint, "__version__", "99.0")
    with pytest.raises(CheckpointError, match=r"was made by numbatok .*, this is 99\.0"):
        learn(tmp_path)


@pytest.mark.parametrize("name", ["counts", "merges"])
def test_damage_is_noticed(tmp_path, name):
    learn(tmp_path)
    whole = (tmp_path / name).read_bytes()
    for damaged in (b"", b"{}", whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), b"\n" + whole):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"is damaged|belongs to another training"):
            learn(tmp_path)
    (tmp_path / name).write_bytes(whole)
    assert learn(tmp_path)[1].n_resumed == 144


def test_a_full_disk_leaves_the_last_checkpoint_whole(tmp_path, monkeypatch):
    learn(tmp_path, vocab_size=300)
    kept = (tmp_path / "merges").read_bytes()

    def full(path, parts):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write_whole", full)
        with pytest.raises(TrainingError, match=r"No space left on device; the one before it"):
            learn(tmp_path, vocab_size=400)
    assert (tmp_path / "merges").read_bytes() == kept
    assert learn(tmp_path, vocab_size=400)[1].n_resumed == 44


def test_folders_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidValue, match="is a file; a folder is needed"):
        learn(tmp_path / "file")
    with pytest.raises(TrainingError, match="cannot be made"):
        learn(tmp_path / "file" / "inside")


SCRIPT = """
import json, sys, time
import numbatok
from numbatok.training import checkpoint, merging, run
write_whole = checkpoint.write_whole
def write_slowly(path, parts):  # the signal has to come while it runs, however fast the machine is
    write_whole(path, parts)
    time.sleep(0.01)
checkpoint.write_whole = write_slowly
merging.WORK_A_CALL = 30
run.CHECKPOINT_SECONDS = 0.0
folder, path = sys.argv[1:]
print("ready", flush=True)
tokenizer = numbatok.train(path, 700, checkpoint=folder, progress=False)
print(json.dumps([[left.hex(), right.hex()] for left, right in tokenizer.merges]), flush=True)
"""


def start(folder, path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SCRIPT, str(folder), str(path)]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    return child


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_killed_at_any_moment(tmp_path):
    """Kill the process after a random time, again and again; the result is that of one run."""
    path = tmp_path / "text.txt"
    path.write_text(make_text(3, 40_000))
    wanted = numbatok.train(path, 700, progress=False).merges
    chosen, n_killed, sizes = random.Random(0), 0, []
    for _ in range(30):
        child = start(tmp_path / "kept", path)
        try:
            child.wait(chosen.uniform(0.0, 0.15) if n_killed < 6 else 60)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            n_killed += 1
        last = child.stdout.read()
        child.wait()
        sizes.append(sum(file.stat().st_size for file in (tmp_path / "kept").glob("*")))
        if last:
            break
    found = [(bytes.fromhex(left), bytes.fromhex(right)) for left, right in json.loads(last)]
    print(f"killed {n_killed} times, {len(found)} merges compared; sizes {sizes}")
    assert n_killed >= 3 and found == wanted and len(found) == 444


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_an_interrupt_from_the_keyboard_leaves_a_checkpoint(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(make_text(3, 40_000))
    child = start(tmp_path / "kept", path)
    merges = tmp_path / "kept" / "merges"
    for _ in range(3000):
        if merges.exists() and json.loads(merges.read_bytes().split(b"\n")[0])["arrays"][0][2]:
            break
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    found, report = train_with_report(path, 700, checkpoint=tmp_path / "kept", progress=False)
    assert report.n_resumed > 0
    assert found.merges == numbatok.train(path, 700, progress=False).merges
