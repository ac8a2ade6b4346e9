"""Threads, processes, signals, and caches that are damaged, read-only or empty."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import numbatok
from numbatok import image, native
from numbatok.cache import cache_directory, write_atomically
from numbatok.formats import locate

ROOT = Path(__file__).resolve().parents[1]
HELLO = [15496, 11, 995]
MANY = int(os.environ.get("NUMBATOK_TEST_PROCESSES", "4"))  # the promise is for sixteen
posix = pytest.mark.skipif(os.name == "nt", reason="of Unix")


def start(code, cache=None, **environment):
    """Start Python on some code with another cache folder and other variables."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    if cache is not None:
        variables["NUMBATOK_CACHE_DIR"] = str(cache)
    return subprocess.Popen(
        [sys.executable, "-c", code], env=variables, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(code, cache=None, **environment):
    """Run Python on some code; return what it printed to standard output and error."""
    child = start(code, cache, **environment)
    out, err = child.communicate(timeout=300)
    assert child.returncode == 0, err
    return out.strip(), err


ENCODE = "import numbatok; print(numbatok.load('gpt2').encode('Hello, world').tolist())"


# --- the cache ------------------------------------------------------------------------------------


def test_of_many_processes_on_an_empty_cache_one_compiles(tmp_path):
    children = [start(ENCODE, tmp_path) for _ in range(MANY)]
    results = [child.communicate(timeout=600) for child in children]

    assert [out.strip() for out, _ in results] == [str(HELLO)] * MANY
    said = "".join(err for _, err in results)
    assert said.count("compiling the core kernels") <= 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels", "tables"]
    assert run(ENCODE, tmp_path) == (str(HELLO), "")  # nothing is left to be done


@posix
def test_interrupting_the_first_compilation_ends_it(tmp_path):
    child = start(ENCODE, tmp_path)
    line = child.stderr.readline()
    assert "compiling the" in line
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert err.strip().endswith("KeyboardInterrupt") and child.returncode != 0
    assert not list(tmp_path.rglob("core-*.o"))


@posix
def test_a_child_that_is_killed_ends_the_compilation_of_all(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBATOK_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(native, "_engines", {})
    children = []

    class Child(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            children.append(self)
            if len(children) == 3:
                self.kill()

    monkeypatch.setattr(native.subprocess, "Popen", Child)
    with pytest.raises(native.CompileError, match="status -9"):
        native.load_together(["find_pretokens", "learn_late_merges", "merge_giant"], 3)
    assert len(children) == 3 and all(child.poll() not in (None, 0) for child in children)


def test_an_interpreter_that_ends_starts_no_thread(monkeypatch):
    class Ended(native.ThreadPoolExecutor):
        def submit(self, *_):
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(native, "ThreadPoolExecutor", Ended)
    monkeypatch.setattr(native, "_engines", {})
    monkeypatch.setattr(native, "_object_path", lambda group: Path("missing"))
    native.load_together(["decode_ids", "find_separators"], 2)
    assert native._engines == {}


def test_the_end_of_the_interpreter_may_be_the_first_use(gpt2):
    gpt2.encode("compiled and cached")
    code = f"import atexit; atexit.register(lambda: exec({ENCODE!r}))"
    assert run(code) == (str(HELLO), "")


@pytest.mark.slow
@posix
def test_nothing_needs_to_be_written(tmp_path):
    """Neither the cache folder nor the home folder can be made: everything works in memory."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")

    out, _ = run(ENCODE, blocked / "cache", HOME=str(blocked / "home"))

    assert out == str(HELLO)


def test_an_object_that_is_damaged_is_not_used(gpt2):
    native.prepare("gpt2")
    path = native._object_path("gpt2")
    whole = path.read_bytes()
    assert native._cached(path) is not None

    damaged = path.with_name("damaged.o")
    try:
        for position in range(0, len(whole), len(whole) // 50):
            flipped = bytearray(whole)
            flipped[position] ^= 1 << position % 8
            damaged.write_bytes(flipped)
            assert native._cached(damaged) is None, f"bit flipped in byte {position}"
            damaged.write_bytes(whole[:position])
            assert native._cached(damaged) is None, f"cut at byte {position}"
    finally:
        damaged.unlink()


def test_a_damaged_object_is_made_anew(gpt2, tmp_path):
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    native.prepare("gpt2")
    names = [native._object_path(group).name for group in ("core", "gpt2")]
    for name in names:
        (kernels / name).write_bytes((cache_directory() / "kernels" / name).read_bytes())
    content = bytearray((kernels / names[1]).read_bytes())
    content[len(content) // 2] ^= 1
    (kernels / names[1]).write_bytes(content)

    out, _ = run(ENCODE, tmp_path)

    assert out == str(HELLO)
    assert native._cached(kernels / names[1]) is not None


@pytest.fixture
def own_tables(tmp_path, monkeypatch, gpt2):
    """A cache folder with GPT-2's table image in it, for this process; kernels stay loaded."""
    monkeypatch.setenv("NUMBATOK_CACHE_DIR", str(tmp_path))
    numbatok.load("gpt2")
    return image.image_path(locate("gpt2").digest)


def test_a_damaged_image_is_made_anew(own_tables):
    whole = own_tables.read_bytes()
    digest = locate("gpt2").digest
    assert image.open_image(digest) is not None

    step = len(whole) // 20
    for position in [*range(0, 200, 10), *range(200, len(whole), step), len(whole) - 1]:
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        for content in (flipped, whole[:position]):
            own_tables.write_bytes(content)
            assert image.open_image(digest) is None, position
            assert not own_tables.exists()
    own_tables.write_bytes(whole[:-1])

    assert numbatok.load("gpt2").encode("Hello, world").tolist() == HELLO
    assert own_tables.read_bytes() == whole


def test_an_image_of_another_source_is_not_used(own_tables):
    other = image.image_path("0" * 64)
    other.write_bytes(own_tables.read_bytes())

    assert image.open_image("0" * 64) is None


@posix
def test_a_full_disk_leaves_no_file(tmp_path):
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from numbatok.cache import write_atomically\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "print(write_atomically(Path(sys.argv[1]) / 'a', [b'x' * 999]),\n"
        "      write_atomically(Path(sys.argv[1]) / 'b', [b'x' * 10_000]))"
    ).replace("sys.argv[1]", repr(str(tmp_path)))

    assert run(code)[0] == "True False"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_appears_whole(tmp_path):
    assert write_atomically(tmp_path / "new" / "file", [b"a", memoryview(b"b")])
    assert (tmp_path / "new" / "file").read_bytes() == b"ab"
    assert not write_atomically(tmp_path / "new" / "file" / "below", [b"c"])


# --- threads and processes ------------------------------------------------------------------------


def texts_of_many_kinds():
    chance = np.random.default_rng(7)
    words = [
        "the",
        " quick",
        "naïve",
        " 中文",
        "\n\n",
        " 1234",
        "!!",
        " don't",
        "\ud800",
        " x" * 40,
    ]
    return ["".join(chance.choice(words, size)) for size in chance.integers(1, 400, 300)]


def test_threads_that_encode_at_once_get_the_ids_of_one(gpt2):
    texts = texts_of_many_kinds()
    large = texts * 20  # enough for the parallel driver, which one thread at a time may enter
    expected = [gpt2.encode(text).tolist() for text in texts]
    expected_batch = gpt2.encode_batch(large)
    wrong = []

    def work(number):
        for _ in range(3):
            ids = [gpt2.encode(text).tolist() for text in texts[number:] + texts[:number]]
            if ids != expected[number:] + expected[:number]:
                wrong.append(number)
            if gpt2.encode_batch(large) != expected_batch:
                wrong.append(number)
            gpt2.forget()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


FORGETTING = """
import random, sys, threading, time
import numbatok
sys.setswitchinterval(1e-5)
tok, rng = numbatok.load("gpt2"), random.Random(1)
words = ["the", " of", " it's", "  ", "\\n\\n", "na\u00efve", " \u4e2d\u6587", "12345", "!?"]
texts = ["".join(rng.choices(words, k=size)) for size in (3, 30, 300, 3000, 30_000) * 4]
texts += ["x" * 20_000 + " y", "ab" * 9000]
wanted, many = [tok.encode(text).tolist() for text in texts], tok.encode_batch(texts * 5)
end, wrong, done = time.time() + 3, [], []

def work(number):
    chance = random.Random(number)
    while time.time() < end:
        k, special = chance.randrange(len(texts)), chance.choice(["raise", "plain", "recognize"])
        if tok.encode(texts[k], special).tolist() != wanted[k]:
            wrong.append(k)
        if chance.random() < 0.05:
            tok.forget()
        if chance.random() < 0.02 and tok.encode_batch(texts * 5) != many:
            wrong.append("batch")
        done.append(k)

threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(done), wrong[:3])
"""


def test_threads_may_forget_and_change_policies_while_others_encode():
    out, _ = run(FORGETTING)
    n_done, wrong = out.split(" ", 1)
    print(f"{n_done} texts compared")
    assert int(n_done) > 100 and wrong.strip() == "[]"


FORKED = """
import os, numpy, numbatok
from numbatok import parallel
tok = numbatok.load("gpt2")
text = "some words of a text, " * 200_000
before = tok.encode_batch([text] * 4)      # the parent has used everything, in parallel if it can
assert parallel.prepare() in (True, False)
before = tok.encode_batch([text] * 4)
child = os.fork()
if child == 0:
    same = tok.encode("Hello, world").tolist() == [15496, 11, 995]
    same = same and tok.encode_batch([text] * 4) == before
    same = same and numbatok.load("gpt2").decode([15496]) == "Hello"
    os._exit(0 if same else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert tok.encode_batch([text] * 4) == before
"""


@posix
def test_a_fork_after_use_encodes(gpt2):
    out, err = run(FORKED)

    assert out == "0", err


POOL = """
import multiprocessing, sys, numbatok

def encode(item):
    tok, text = item
    return tok.encode_batch([text] * 3).to_list()

if __name__ == "__main__":
    tok = numbatok.load("gpt2")
    texts = ["Hello, world", "a" * 100_000, "naïve \\ud800", " x" * 300_000]
    expected = [encode((tok, text)) for text in texts]
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(encode, [(tok, text) for text in texts]) == expected)
"""


@pytest.mark.parametrize("method", ["fork", "spawn"] if os.name != "nt" else ["spawn"])
def test_a_pool_encodes(gpt2, tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(POOL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), method], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    assert done.stdout == "True\n", done.stderr


def test_pickling_sends_where_a_tokenizer_is_from(gpt2, tmp_path):
    gpt2.save(tmp_path / "tokenizer.json")
    for tokenizer in (gpt2, numbatok.load(tmp_path / "tokenizer.json")):
        pickled = pickle.dumps(tokenizer)
        again = pickle.loads(pickled)

        assert len(pickled) < 2000
        assert again.fingerprint == tokenizer.fingerprint == gpt2.fingerprint
        assert again.encode("Hello, world").tolist() == HELLO


LONG = """
import numbatok
tok = numbatok.load("gpt2")
text = bytes(range(256)) * 400_000         # 100 MB, and slow: hardly any pretoken is a token
print("ready", flush=True)
while True:
    {call}
"""


@posix
@pytest.mark.parametrize("call", ["tok.encode(text)", "tok.encode_batch([text] * 3)"])
def test_an_interrupt_ends_a_long_call(gpt2, call):
    child = start(LONG.format(call=call))
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)

    print(f"{call}: ended after {time.monotonic() - sent:.2f} s")
    assert err.strip().endswith("KeyboardInterrupt")
    assert time.monotonic() - sent < 20
