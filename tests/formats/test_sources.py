"""The digests of files: kept while a file rests, never those of another content."""

import hashlib
import os
import time

import pytest

from numbatok.cache import cache_directory
from numbatok.errors import InvalidTokenizerFile
from numbatok.formats import sources

pytestmark = pytest.mark.skipif(os.name != "posix", reason="digests are not kept here")
SIZE = sources.WORTH_KEEPING


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return a file that rested long enough, in a cache of its own."""
    monkeypatch.setenv("NUMBATOK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "RESTED", -(10**18))
    file = tmp_path / "tokenizer.json"
    file.write_bytes(b"a" * SIZE)
    return file


def kept():
    return sorted((cache_directory() / "digests").glob("*"))


def true_digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_digest_is_kept_and_used(path, monkeypatch):
    first = sources.hash_file(path)
    assert first == true_digest(path) and len(kept()) == 1
    monkeypatch.setattr(type(path), "read_bytes", lambda _: pytest.fail("the file was read"))
    assert sources.hash_file(path) == first


def test_a_change_of_equal_size_and_time_is_seen(path):
    sources.hash_file(path)
    before = path.stat()
    time.sleep(0.05)  # more than the clock's resolution
    with path.open("r+b") as file:
        file.write(b"b")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert sources.hash_file(path) == true_digest(path)


def test_another_file_in_its_place_is_seen(path):
    sources.hash_file(path)
    other = path.with_name("other")
    other.write_bytes(b"c" * SIZE)
    os.replace(other, path)
    assert sources.hash_file(path) == true_digest(path)


def test_a_file_that_was_just_written_is_read_each_time(path, monkeypatch):
    monkeypatch.setattr(sources, "RESTED", 10**10)
    assert sources.hash_file(path) == true_digest(path)
    assert kept() == []


@pytest.mark.parametrize(
    "content", [b"", b"00", b"0" * 64 + b" " + b"0" * 16, b"\xff\xfe", b"a b c"]
)
def test_a_damaged_digest_is_not_used(path, content):
    sources.hash_file(path)
    (file,) = kept()
    file.write_bytes(content)
    assert sources.hash_file(path) == true_digest(path)


def test_small_files_and_no_files(path, tmp_path):
    small = tmp_path / "small"
    small.write_bytes(b"x")
    assert sources.hash_file(small) == true_digest(small)
    assert kept() == []
    with pytest.raises(InvalidTokenizerFile, match="is no file"):
        sources.hash_file(tmp_path)
