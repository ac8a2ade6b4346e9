"""Downloads, against a server on this machine: hashes, breaks, resuming, refusals."""

import hashlib
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from numbatok.errors import InvalidTokenizerFile, UnknownTokenizerName
from numbatok.formats import download, encodings, load_spec, locate
from numbatok.formats.atomic import own_path
from numbatok.formats.download import DownloadError, fetch, hash_check
from tests.formats.documents import document

urllib3 = pytest.importorskip("urllib3")

COMMIT = "1234567890" * 4
CONTENT = json.dumps(document()).encode()


class Server(ThreadingHTTPServer):
    """Serves `files` by path; `cuts` are lengths after which answers break off, one each."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {}
        self.cuts = []
        self.statuses = []
        self.seen = []
        self.ranges = True

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.seen.append((self.path, dict(self.headers)))
        content = server.files.get(self.path)
        status = server.statuses.pop(0) if server.statuses else 200 if content is not None else 404
        if status != 200:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            if status == 302:
                self.send_header("Location", server.files["redirect"])
            self.end_headers()
            return
        start = 0
        asked = self.headers.get("Range")
        if asked and server.ranges:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_response(416)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        self.send_response(206 if start else 200)
        rest = content[start:]
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        cut = server.cuts.pop(0) if server.cuts else len(rest)
        self.wfile.write(rest[:cut])
        if cut < len(rest):
            self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    for name in ("HF_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("NUMBATOK_CACHE_DIR", str(tmp_path / "numbatok"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    found = Server()
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", found.url)
    monkeypatch.setenv("NUMBATOK_ENCODINGS_URL", f"{found.url}/encodings")
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def git_sha1(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def get(server, path, content, name="file"):
    server.files[f"/{name}"] = content
    fetch(f"{server.url}/{name}", path, hash_check("sha256", sha256(content)))
    return path.read_bytes()


def leftovers(folder):
    return sorted(path.name for path in folder.rglob("*.part"))


# --- one file -------------------------------------------------------------------------------------


def test_whole_file(server, tmp_path):
    content = os.urandom(300_000)
    assert get(server, tmp_path / "new" / "x", content) == content
    assert leftovers(tmp_path) == []
    ((_, headers),) = server.seen
    assert "Range" not in headers
    assert headers["Accept-Encoding"] == "identity"


def test_a_connection_that_breaks_off_is_resumed(server, tmp_path):
    content = os.urandom(300_000)
    server.cuts = [100_000, 50_000]
    assert get(server, tmp_path / "x", content) == content
    assert [headers.get("Range") for _, headers in server.seen] == [
        None,
        "bytes=100000-",
        "bytes=150000-",
    ]


def test_what_has_arrived_is_kept_for_the_next_time(server, tmp_path):
    content = os.urandom(300_000)
    server.cuts = [1000] * download.ATTEMPTS
    with pytest.raises(DownloadError, match=r"broke off 4 times.*Try again to go on"):
        get(server, tmp_path / "x", content)
    assert not (tmp_path / "x").exists()
    assert len(leftovers(tmp_path)) == 1
    server.seen.clear()
    assert get(server, tmp_path / "x", content) == content
    assert server.seen[0][1]["Range"] == "bytes=4000-"
    assert leftovers(tmp_path) == []


def test_what_another_process_left_is_taken_over_when_it_is_old(server, tmp_path):
    content = os.urandom(300_000)
    left = tmp_path / ".x.999999-1.part"
    left.write_bytes(content[:7000])
    assert get(server, tmp_path / "x", content) == content
    assert "Range" not in server.seen[0][1]  # it may still be at work
    assert left.exists()
    old = time.time() - 10 * download.TIMEOUT_SECONDS
    os.utime(left, (old, old))
    (tmp_path / "x").unlink()
    assert get(server, tmp_path / "x", content) == content
    assert server.seen[1][1]["Range"] == "bytes=7000-"
    assert leftovers(tmp_path) == []


def test_a_server_without_ranges_sends_it_again(server, tmp_path):
    content = os.urandom(300_000)
    server.ranges = False
    server.cuts = [100_000]
    assert get(server, tmp_path / "x", content) == content


def test_complete_leftover_and_one_that_is_too_long(server, tmp_path):
    content = os.urandom(10_000)
    for length in (10_000, 12_000):
        own_path(tmp_path / "x", "part").write_bytes((content + bytes(2000))[:length])
        assert get(server, tmp_path / "x", content) == content


def test_damaged_content_is_refused_and_deleted(server, tmp_path):
    server.files["/x"] = b"something else"
    with pytest.raises(InvalidTokenizerFile, match="the download is damaged or was replaced"):
        fetch(f"{server.url}/x", tmp_path / "x", hash_check("sha256", "0" * 64))
    assert list(tmp_path.iterdir()) == []


def test_damaged_leftover_does_not_stay_in_the_way(server, tmp_path):
    content = os.urandom(10_000)
    own_path(tmp_path / "x", "part").write_bytes(bytes(5000))
    with pytest.raises(InvalidTokenizerFile):
        get(server, tmp_path / "x", content)
    assert get(server, tmp_path / "x", content) == content


def test_errors_of_the_server(server, tmp_path):
    for status, hint in ((404, "nothing of that name"), (401, "HF_TOKEN"), (403, "gated")):
        server.statuses = [status]
        with pytest.raises(DownloadError, match=f"answered {status}.*{hint}"):
            get(server, tmp_path / "x", b"x")
    server.statuses = [503, 500, 429]
    assert get(server, tmp_path / "x", b"x") == b"x"
    server.statuses = [503] * 10
    with pytest.raises(DownloadError, match="answered 503"):
        get(server, tmp_path / "y", b"x", name="y")


def test_nobody_answers(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    with pytest.raises(DownloadError, match=r"cannot be reached.*pass the path of the file"):
        fetch("http://127.0.0.1:9/x", tmp_path / "x", hash_check("sha256", ""))


def test_size_is_bounded(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "MAX_BYTES", 1000)
    with pytest.raises(DownloadError, match="has over 1000 bytes"):
        get(server, tmp_path / "x", bytes(100_000))


def test_folder_that_cannot_be_written(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match="could not be kept"):
        get(server, tmp_path / "file" / "x", b"x")


def test_without_urllib3(server, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "urllib3", None)
    with pytest.raises(DownloadError, match=r"pip install numbatok\[download\]"):
        locate("org/model", download=True)


# --- encodings ------------------------------------------------------------------------------------


@pytest.fixture
def tiny_encoding(monkeypatch):
    """An encoding of 256 ranks in place of r50k_base."""
    import base64
    import dataclasses

    content = b"".join(base64.b64encode(bytes([b])) + b" %d\n" % b for b in range(256))
    tiny = dataclasses.replace(encodings.ENCODINGS["r50k_base"], ranks=256, sha256=sha256(content))
    monkeypatch.setitem(encodings.ENCODINGS, "r50k_base", tiny)
    return content


def test_encoding(server, tiny_encoding, tmp_path):
    server.files["/encodings/r50k_base.tiktoken"] = tiny_encoding
    with pytest.raises(UnknownTokenizerName, match="download=True"):
        locate("r50k_base")
    assert server.seen == []
    source = load_spec("r50k_base", download=True)
    assert source.spec.name == "r50k_base"
    assert (tmp_path / "numbatok" / "encodings" / "r50k_base.tiktoken").is_file()
    server.seen.clear()
    assert locate("r50k_base").digest == locate("r50k_base", download=True).digest == source.digest
    assert server.seen == []


def test_encoding_that_was_replaced(server, tiny_encoding, tmp_path):
    server.files["/encodings/r50k_base.tiktoken"] = tiny_encoding.replace(b"AA==", b"AA== ")
    with pytest.raises(InvalidTokenizerFile, match="is published"):
        load_spec("r50k_base", download=True)
    assert leftovers(tmp_path) == []


# --- the Hub --------------------------------------------------------------------------------------


def publish(server, files, name="org/model", large=()):
    """Serve a model as the Hub's API does."""
    entries = [
        {"type": "file", "path": path, "size": len(content), "oid": git_sha1(content)}
        | ({"lfs": {"oid": sha256(content), "size": len(content)}} if path in large else {})
        for path, content in files.items()
    ]
    entries.append({"type": "directory", "path": "onnx", "size": 0, "oid": "0" * 40})
    info = {"id": name, "sha": COMMIT, "siblings": []}
    server.files[f"/api/models/{name}/revision/main"] = json.dumps(info).encode()
    server.files[f"/api/models/{name}/tree/{COMMIT}"] = json.dumps(entries).encode()
    for path, content in files.items():
        server.files[f"/{name}/resolve/{COMMIT}/{path}"] = content


@pytest.mark.parametrize("large", [(), ("tokenizer.json",)])
def test_model(server, tmp_path, large):
    publish(server, {"tokenizer.json": CONTENT, "config.json": b"{}"}, large=large)
    with pytest.raises(UnknownTokenizerName, match="download=True"):
        locate("org/model")
    assert server.seen == []
    source = load_spec("org/model", download=True)
    assert source.spec.model.tokens[b"ab"] == 256
    folder = tmp_path / "hf" / "hub" / "models--org--model"
    assert (folder / "refs" / "main").read_text() == COMMIT
    assert os.listdir(folder / "snapshots" / COMMIT) == ["tokenizer.json"]
    assert os.listdir(folder / "blobs") == [sha256(CONTENT) if large else git_sha1(CONTENT)]
    server.seen.clear()
    assert locate("org/model").digest == locate("org/model", download=True).digest == source.digest
    assert server.seen == []


def test_other_libraries_find_the_files(server):
    hub = pytest.importorskip("huggingface_hub")
    publish(server, {"tokenizer.json": CONTENT})
    located = locate("org/model", download=True)
    found = hub.try_to_load_from_cache(
        "org/model", "tokenizer.json", cache_dir=os.path.join(os.environ["HF_HOME"], "hub")
    )
    assert found == str(located.files[0][1])


def test_slow_files_of_a_model(server):
    vocab = json.dumps(document()["model"]["vocab"]).encode()
    config = json.dumps(
        {
            "tokenizer_class": "GPT2Tokenizer",
            "bos_token": "ab",
            "eos_token": "ab",
            "unk_token": "ab",
        }
    ).encode()
    files = {
        "vocab.json": vocab,
        "merges.txt": b"a b\nab c\n",
        "tokenizer_config.json": config,
        "model.safetensors": bytes(10),
    }
    publish(server, files)
    spec = load_spec("org/model", download=True).spec
    assert [token.content for token in spec.added_tokens] == ["ab"]
    assert not any("safetensors" in path for path, _ in server.seen)


def test_model_without_a_tokenizer_in_the_cache_is_completed(server, tmp_path):
    publish(server, {"tokenizer.json": CONTENT})
    folder = tmp_path / "hf" / "hub" / "models--org--model"
    (folder / "snapshots" / COMMIT).mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(COMMIT)
    with pytest.raises(UnknownTokenizerName, match="holds no tokenizer file"):
        locate("org/model")
    assert load_spec("org/model", download=True).spec.model.tokens[b"ab"] == 256


def test_damaged_file_of_a_model(server, tmp_path):
    publish(server, {"tokenizer.json": CONTENT})
    server.files[f"/org/model/resolve/{COMMIT}/tokenizer.json"] = CONTENT + b" "
    with pytest.raises(InvalidTokenizerFile, match="has sha1"):
        locate("org/model", download=True)
    assert not (tmp_path / "hf" / "hub" / "models--org--model" / "snapshots").exists()
    with pytest.raises(UnknownTokenizerName):
        locate("org/model")


def test_redirects_are_followed_and_the_token_stays_at_home(server, monkeypatch):
    """The token goes to the Hub; a redirect to another host is followed without it."""
    other = Server()
    thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        publish(server, {"tokenizer.json": CONTENT})
        path = f"/org/model/resolve/{COMMIT}/tokenizer.json"
        other.files["/stored"] = CONTENT
        server.files["redirect"] = f"http://localhost:{other.server_port}/stored"
        monkeypatch.setenv("HF_TOKEN", "secret")
        server.statuses = [200, 200, 302]
        assert locate("org/model", download=True).read().model.tokens[b"ab"] == 256
        assert [headers.get("Authorization") for _, headers in server.seen] == ["Bearer secret"] * 3
        assert server.seen[-1][0] == path
        assert [headers.get("Authorization") for _, headers in other.seen] == [None]
    finally:
        other.shutdown()
        other.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("answer", "error", "reason"),
    [
        (b"[]", InvalidTokenizerFile, "expected an object"),
        (b"no JSON", InvalidTokenizerFile, "is no JSON"),
        (b'{"sha": "../../x"}', InvalidTokenizerFile, "expected a commit"),
        (b'{"sha": 3}', InvalidTokenizerFile, "sha is 3"),
    ],
)
def test_answers_that_make_no_sense(server, answer, error, reason):
    server.files["/api/models/org/model/revision/main"] = answer
    with pytest.raises(error, match=reason):
        locate("org/model", download=True)


def test_hash_that_is_no_hash(server):
    publish(server, {"tokenizer.json": CONTENT})
    tree = json.dumps([{"path": "tokenizer.json", "oid": "../../x"}]).encode()
    server.files[f"/api/models/org/model/tree/{COMMIT}"] = tree
    with pytest.raises(InvalidTokenizerFile, match="expected a hash"):
        locate("org/model", download=True)


def test_model_that_is_not_there_or_has_no_tokenizer(server):
    with pytest.raises(DownloadError, match="answered 404"):
        locate("org/model", download=True)
    publish(server, {"config.json": b"{}"})
    with pytest.raises(UnknownTokenizerName, match="'org/model' has no tokenizer file"):
        locate("org/model", download=True)


def test_offline(server, monkeypatch):
    publish(server, {"tokenizer.json": CONTENT})
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DownloadError, match="HF_HUB_OFFLINE is set"):
        locate("org/model", download=True)
    assert server.seen == []


def test_two_at_once(server):
    publish(server, {"tokenizer.json": CONTENT})
    digests, errors = [], []

    def run():
        try:
            digests.append(locate("org/model", download=True).digest)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(digests) == 6
    assert len(set(digests)) == 1
