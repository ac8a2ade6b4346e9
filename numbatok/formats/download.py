"""Fetching files: resumed after a break, checked against the published hash, whole or not there.

Through urllib3 (the `download` extra): it has no dependencies of its own, it retries, and requests
(and so tiktoken) stands on it. Nothing here runs unless a call says `download=True`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

from numbatok.errors import InvalidTokenizerFile, NumbatokError
from numbatok.formats.atomic import own_path
from numbatok.formats.encodings import OPENAI, Encoding
from numbatok.formats.local_caches import fetched_path
from numbatok.formats.strict_json import MAX_BYTES

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

PART_BYTES = 1 << 16
TIMEOUT_SECONDS = 30.0
ATTEMPTS = 4
BACKOFF_SECONDS = 0.2

Headers = Mapping[str, str]
Check = Callable[[Path], None]
"""Raises InvalidTokenizerFile if a file is not the published one."""


class DownloadError(NumbatokError, OSError):
    """A file could not be fetched; the message says from where and why."""


class _BrokeOff(Exception):
    """The connection ended before the file did."""


def fetch_encoding(encoding: Encoding) -> Path:
    """Fetch the rank file of a published encoding into our cache folder and return its path.

    NUMBATOK_ENCODINGS_URL may name the folder of a mirror.

    Raises:
        DownloadError: the server does not answer, or the disk is full or read-only.
        InvalidTokenizerFile: what it sends has another SHA-256 than the published file.
    """
    assert encoding.file is not None and encoding.sha256 is not None
    base = os.environ.get("NUMBATOK_ENCODINGS_URL") or OPENAI
    path = fetched_path(encoding.file)
    fetch(f"{base.rstrip('/')}/{encoding.file}", path, hash_check("sha256", encoding.sha256))
    return path


def fetch(url: str, path: Path, check: Check, headers: Headers | None = None) -> None:
    """Fetch a file to `path`, where it appears whole and checked or not at all.

    What has arrived is kept beside it as `.part`, and only the rest is asked for next time.
    """
    part = own_path(path, "part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _adopt_leftover(path, part)
        _fetch_rest(url, part, headers or {})
        try:
            check(part)
        except InvalidTokenizerFile:
            part.unlink()
            raise
        os.replace(part, path)
    except (DownloadError, InvalidTokenizerFile):
        raise
    except OSError as error:
        raise DownloadError(f"{url} could not be kept in {path.parent}: {error}.") from error


def fetch_bytes(url: str, headers: Headers | None = None) -> bytes:
    """Return the content of an address of at most MAX_BYTES bytes."""
    content = bytearray()
    with _answer(url, headers or {}) as response:
        _expect(response, url, (200,))
        try:
            for piece in _pieces(response, url):
                content += piece
        except _BrokeOff as error:
            raise DownloadError(f"{url} broke off after {len(content)} bytes: {error}.") from error
    return bytes(content)


def hash_check(algorithm: str, expected: str, prefix: bool = False) -> Check:
    """Return the check for a known hash; with `prefix` that of a Git blob, its header included."""

    def check(path: Path) -> None:
        content = path.read_bytes()
        header = b"blob %d\0" % len(content) if prefix else b""
        found = hashlib.new(algorithm, header + content).hexdigest()
        if found != expected:
            raise InvalidTokenizerFile(
                f"{path} has {algorithm} {found}, but {expected} is published: the download is "
                "damaged or was replaced. It was deleted; try again."
            )

    return check


def _adopt_leftover(path: Path, part: Path) -> None:
    """Take over what a process left unfinished: one that nobody has written to for a while."""
    for leftover in path.parent.glob(f".{path.name}.*.part"):
        with contextlib.suppress(OSError):
            if leftover != part and time.time() - leftover.stat().st_mtime > TIMEOUT_SECONDS:
                os.replace(leftover, part)


def _fetch_rest(url: str, part: Path, headers: Headers) -> None:
    """Append to `part` what it lacks; a connection that breaks off is resumed some times."""
    for _ in range(ATTEMPTS):
        have = part.stat().st_size if part.exists() else 0
        ranged = {**headers, "Range": f"bytes={have}-"} if have else headers
        with _answer(url, ranged) as response:
            if response.status == 416:  # it is complete already, or of another file: begin again
                part.unlink()
                continue
            _expect(response, url, (200, 206))
            try:
                _write(response, url, part, have if response.status == 206 else 0)
            except _BrokeOff as error:
                broken = error
                continue
            return
    raise DownloadError(f"{url} broke off {ATTEMPTS} times, last: {broken}. Try again to go on.")


def _write(response: BaseHTTPResponse, url: str, part: Path, have: int) -> None:
    with part.open("ab" if have else "wb") as file:
        for piece in _pieces(response, url, have):
            file.write(piece)


def _pieces(response: BaseHTTPResponse, url: str, have: int = 0) -> Iterator[bytes]:
    """Yield the content as it arrives, of a file of at most MAX_BYTES bytes."""
    from urllib3.exceptions import HTTPError

    try:
        while piece := response.read1(PART_BYTES):  # what is there, so that a break loses nothing
            have += len(piece)
            if have > MAX_BYTES:
                raise DownloadError(f"{url} has over {MAX_BYTES} bytes; no tokenizer file has.")
            yield piece
    except HTTPError as error:
        raise _BrokeOff(str(error)) from error


@contextlib.contextmanager
def _answer(url: str, headers: Headers) -> Iterator[BaseHTTPResponse]:
    pool = _pool(url)
    from urllib3.exceptions import HTTPError

    sent = {"User-Agent": "numbatok", "Accept-Encoding": "identity", **headers}
    try:
        response = pool.request("GET", url, headers=sent, preload_content=False)
    except HTTPError as error:
        raise DownloadError(
            f"{url} cannot be reached: {error}. Without a network, pass the path of the file."
        ) from error
    try:
        yield response
    finally:
        response.close()
        pool.clear()


def _pool(url: str) -> PoolManager:
    """Return a pool that retries, through the proxy that the environment names."""
    try:
        import urllib3
    except ImportError as error:
        raise DownloadError(
            "download=True needs urllib3; install it with `pip install numbatok[download]`."
        ) from error
    retries = urllib3.Retry(
        total=ATTEMPTS,
        backoff_factor=BACKOFF_SECONDS,
        status_forcelist=(429, 500, 502, 503, 504),
        raise_on_status=False,
        respect_retry_after_header=False,  # it may ask for hours
    )
    timeout = urllib3.Timeout(TIMEOUT_SECONDS)
    parts = urllib3.util.parse_url(url)
    proxy = getproxies().get(parts.scheme or "https")
    if proxy and not proxy_bypass(parts.host or ""):
        return urllib3.ProxyManager(proxy, retries=retries, timeout=timeout)
    return urllib3.PoolManager(retries=retries, timeout=timeout)


def _expect(response: BaseHTTPResponse, url: str, statuses: tuple[int, ...]) -> None:
    if response.status in statuses:
        return
    hints = {
        401: "It is private, gated or not there; set HF_TOKEN to a token that may read it.",
        403: "It is gated; accept its terms on the Hub and set HF_TOKEN.",
        404: "There is nothing of that name.",
    }
    raise DownloadError(
        f"{url} answered {response.status} {response.reason or ''}. "
        f"{hints.get(response.status, 'Try again later.')}"
    )
