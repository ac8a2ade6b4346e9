import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from numbatok.cli import main

HELLO = [15496, 11, 995]


@pytest.fixture
def start():
    """Start a command in a process of its own."""

    def start_command(*arguments, **options):
        command = [sys.executable, "-m", "numbatok", *map(str, arguments)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, **{**pipes, **options})

    return start_command


def text_file(folder, name="text.txt", data=b"Hello, world"):
    path = folder / name
    path.write_bytes(data)
    return path


# --- encode and decode ----------------------------------------------------------------------------


def test_encode_writes_a_line_per_text(cli, tmp_path):
    first, second = text_file(tmp_path), text_file(tmp_path, "b.txt", b"a\nb")

    assert cli("encode", "--text", "Hello, world", "--text", "a") == (0, b"15496 11 995\n64\n", "")
    assert cli("encode", first, second) == (0, b"15496 11 995\n64 198 65\n", "")
    assert cli("encode", "--lines", second) == (0, b"64\n65\n", "")
    assert cli("encode", tmp_path / "*.txt")[1] == b"64 198 65\n15496 11 995\n"


@pytest.mark.parametrize("name", ["ids.npy", "ids.bin", "ids.jsonl", "ids.txt"])
@pytest.mark.parametrize("data", [b"Hello, world\r\n\xff\x00 bye\n", b""])
def test_what_encode_writes_decode_reads_back(cli, tmp_path, name, data):
    source, ids, back = text_file(tmp_path, data=data), tmp_path / name, tmp_path / "back"

    assert cli("encode", source, "-o", ids) == (0, b"", "")
    assert cli("decode", ids, "-o", back) == (0, b"", "")
    assert back.read_bytes() == data
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["text.txt", name, "back"])


def test_formats_hold_the_same_ids(cli, tmp_path):
    source = text_file(tmp_path)
    for name in ("a.npy", "a.bin", "a.json"):
        assert cli("encode", source, source, "-o", tmp_path / name)[0] == 0
    assert cli("encode", source, source, "-o", tmp_path / "b.bin", "--dtype", "uint16")[0] == 0

    array = np.load(tmp_path / "a.npy")
    assert array.dtype == np.uint32 and array.tolist() == HELLO * 2
    assert np.fromfile(tmp_path / "a.bin", "<u4").tolist() == HELLO * 2
    assert np.fromfile(tmp_path / "b.bin", "<u2").tolist() == HELLO * 2
    objects = [json.loads(line) for line in (tmp_path / "a.json").read_text().splitlines()]
    assert objects == [{"source": str(source), "ids": HELLO}] * 2
    assert json.loads(cli("encode", "--json", "--lines", source)[1]) == {
        "source": str(source),
        "line": 1,
        "ids": HELLO,
    }


def test_ids_that_do_not_fit_are_refused(tmp_path):
    from numbatok.batch import join_rows
    from numbatok.cli.id_files import ArrayWriter
    from numbatok.errors import InvalidValue

    with (tmp_path / "x").open("wb") as file, pytest.raises(InvalidValue, match="70000 does not"):
        ArrayWriter(file, np.dtype("<u2")).write([], join_rows([np.array([70000], np.uint32)]))


def test_decode_reads_text_and_names_what_is_no_id(cli, tmp_path):
    ids = text_file(tmp_path, "ids", b"15496 11 995\n64\n")

    assert cli("decode", ids)[1] == b"Hello, worlda"
    assert cli("decode", "--lines", ids)[1] == b"Hello, world\na\n"
    assert cli("decode", text_file(tmp_path, "s", b"64 50256"), "--skip-special")[1] == b"a"
    cases = {
        b"1 two": "line 1: 'two' is no id",
        b"1\n99999": "text 2: id 99999 at position 0 is unknown",
        b"-1": "'-1' is no id",
    }
    for data, message in cases.items():
        code, out, err = cli("decode", text_file(tmp_path, "bad", data), "-o", tmp_path / "out")
        assert (code, out) == (1, b"") and message in err
        assert not (tmp_path / "out").exists()
    code, _, err = cli("decode", text_file(tmp_path, "bad.npy", b"no array"))
    assert code == 1 and "is no .npy file" in err
    code, _, err = cli("decode", text_file(tmp_path, "bad.bin", b"abc"))
    assert code == 1 and "no multiple of 4" in err
    code, _, err = cli("decode", text_file(tmp_path, "bad.json", b'{"a": 1}'))
    assert code == 1 and "an object with 'ids'" in err


def test_special_tokens_follow_the_policy(cli, tmp_path):
    path = text_file(tmp_path, data=b"ok\na<|endoftext|>")

    code, out, err = cli("encode", "--lines", path)
    assert (code, out) == (1, b"")
    assert err.startswith(f"numbatok: {path}, line 2: the text contains the special token")
    assert cli("encode", path, "--special", "recognize")[1] == b"482 198 64 50256\n"
    assert cli("encode", path, "--special", "<|endoftext|>")[1] == b"482 198 64 50256\n"
    assert cli("encode", path, "--special", "plain")[1].count(b" ") > 4
    assert "stands alone" in cli("encode", path, "--special", "plain", "--special", "x")[2]
    assert "'x' is no special token" in cli("encode", path, "--special", "x")[2]


def test_bytes_follow_the_policy(cli, tmp_path):
    path = text_file(tmp_path, data=b"a\xff")

    assert cli("encode", path)[1] == b"64 187\n"
    assert cli("encode", path, "--invalid", "replace")[1] == b"64 4210\n"
    code, _, err = cli("encode", path, "--invalid", "error")
    assert code == 1 and "byte 1 is 0xff" in err


# --- files ----------------------------------------------------------------------------------------


def test_errors_are_one_line_without_a_traceback(cli, tmp_path):
    cases = [
        (["encode", tmp_path / "none"], f"{tmp_path / 'none'}: No such file or directory"),
        (["encode", tmp_path], f"{tmp_path}: Is a directory"),
        (["encode", tmp_path / "*.none"], "no file matches"),
        (["encode", "-t", tmp_path / "none", "--text", "a"], "There is no file or folder"),
        (["encode", "--text", "a", "-o", tmp_path / "no" / "x"], "No such file or directory"),
        (["encode", "--text", "a", tmp_path], "give either --text or files"),
        (["encode", "--text", "a", "--special-token", "x"], "TOKEN=ID is needed"),
    ]
    for arguments, message in cases:
        code, out, err = cli(*arguments)
        assert (code, out) == (1, b""), arguments
        assert err.startswith("numbatok: ") and err.count("\n") == 1 and message in err, err


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["encode", "--dtype", "int8"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as exit:
        main(arguments)

    assert exit.value.code == 2
    assert capsys.readouterr().err.startswith("usage: numbatok")


def test_an_output_is_replaced_only_when_asked(cli, tmp_path):
    path, out = text_file(tmp_path), tmp_path / "out"
    out.write_text("precious")

    code, _, err = cli("encode", path, "-o", out)
    assert code == 1 and "pass --overwrite" in err and out.read_text() == "precious"
    assert cli("encode", path, "-o", out, "--overwrite")[0] == 0
    assert out.read_text() == "15496 11 995\n"


def test_a_failed_run_leaves_no_file(cli, tmp_path):
    good, bad = text_file(tmp_path), text_file(tmp_path, "z.txt", b"<|endoftext|>")
    before = sorted(tmp_path.iterdir())

    assert cli("encode", good, bad, "-o", tmp_path / "out")[0] == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(os.name == "nt", reason="device files are of Unix")
def test_an_output_that_is_no_regular_file_is_written_directly(cli, tmp_path):
    assert cli("encode", text_file(tmp_path), "-o", "/dev/null") == (0, b"", "")
    assert not os.path.isfile("/dev/null")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_is_an_error(cli, tmp_path):
    code, _, err = cli("encode", text_file(tmp_path), "-o", "/dev/full")

    assert code == 1 and "No space left on device" in err


# --- the other commands ---------------------------------------------------------------------------


def test_count_is_a_line_per_file_and_a_total(cli, tmp_path):
    first, second = text_file(tmp_path), text_file(tmp_path, "b.txt", b"a<|endoftext|>")

    code, out, _ = cli("count", first, second)
    lines = [line.split(None, 1) for line in out.decode().splitlines()]
    assert code == 0
    assert lines == [["3", str(first)], ["8", str(second)], ["11", "total"]]
    assert json.loads(cli("count", "--json", first)[1]) == {
        "source": str(first),
        "ids": 3,
        "bytes": 12,
    }
    assert cli("count", "--special", "recognize", second)[1].split()[0] == b"2"


def test_info_says_what_a_tokenizer_is(cli, gpt2):
    code, out, _ = cli("info", "gpt2")
    text = out.decode()
    facts = json.loads(cli("info", "--json", "gpt2")[1])

    assert code == 0
    assert "byte-level BPE, 50,257 tokens, 50,000 merges" in text
    assert "gpt2 family" in text and "no: it loads" in text
    assert facts["fingerprint"] == gpt2.fingerprint and facts["vocab_size"] == 50257
    assert facts["refused"] is None


def test_info_says_what_is_refused(cli, tmp_path):
    path = text_file(tmp_path, "t.json", b'{"model": {"type": "Unigram", "vocab": []}}')

    code, out, _ = cli("info", path)
    assert code == 1
    assert "refused" in out.decode() and "Unigram" in out.decode()
    assert "Unigram" in json.loads(cli("info", "--json", path)[1])["refused"]


def test_verify_tells_equal_from_different(cli, tmp_path, monkeypatch):
    texts = text_file(tmp_path, data="näïve text".encode())

    code, out, _ = cli("verify", "gpt2", "--texts", texts)
    assert code == 0 and b"plain Python): equal\n2 comparisons, 0 differences" in out
    report = json.loads(cli("verify", "gpt2", "--json", "--texts", texts)[1])
    assert report["ok"] and report["comparisons"] == 2 and report["first"] is None

    monkeypatch.setattr("numbatok.reference.encode", lambda *arguments, **options: [1, 2])
    code, out, _ = cli("verify", "gpt2", "--texts", texts)
    assert code == 1 and b"NOT EQUAL" in out and b"first difference (encode)" in out


def test_bench_measures_every_figure(cli, tmp_path):
    path = text_file(tmp_path, data=b"some text, and more\n" * 2000)

    figures = json.loads(cli("bench", "--json", path)[1])
    assert figures["bytes"] == 40_000 and figures["ids"] == 12_000
    assert all(value > 0 for value in figures.values()) and len(figures) == 9
    assert len(cli("bench", path)[1].splitlines()) == 8


def test_warmup_says_where_things_are_kept(cli, gpt2):
    assert b"kept in " + os.fsencode(os.environ["NUMBATOK_CACHE_DIR"]) in cli("warmup")[1]
    assert cli("warmup", "--quiet")[:2] == (0, b"")


# --- processes ------------------------------------------------------------------------------------


def test_standard_input_and_output(start, gpt2):
    out, err = start("encode").communicate(b"Hello, world")
    assert (out, err) == (b"15496 11 995\n", b"")
    out, err = start("encode", "-", "--format", "npy").communicate(b"Hello, world")
    back, _ = start("decode", "--format", "npy").communicate(out)
    assert back == b"Hello, world"
    command = start("--version")
    assert command.communicate()[0].startswith(b"numbatok ") and command.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals are of Unix")
def test_an_interrupt_exits_with_130_and_leaves_no_file(start, tmp_path, gpt2):
    child = start("encode", "-", "--lines", "-o", tmp_path / "out")
    for _ in range(10):  # more than a batch, so that it has begun to write
        child.stdin.write(b"some text of a line\n" * 10_000)
    wait_for(lambda: list(tmp_path.glob("*.partial*")))
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)

    assert child.returncode == 130
    assert err == b"numbatok: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="signals are of Unix")
def test_a_reader_that_goes_away_is_no_error(start, tmp_path, gpt2):
    path = text_file(tmp_path, data=b"some text of a line\n" * 200_000)
    child = start("encode", "--lines", path)
    child.stdout.read(10)
    child.stdout.close()

    assert child.wait(timeout=60) == 141
    assert child.stderr.read() == b""


def wait_for(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "nothing happened"
        time.sleep(0.02)
