import time

import pytest

from numbatok.errors import InvalidTokenizerFile
from numbatok.formats import strict_json
from numbatok.formats.strict_json import parse_json

REFUSED = {
    "nothing": (b"", "no JSON"),
    "truncated object": (b'{"a": 1', "line 1 column 8"),
    "truncated string": (b'{"a": "', "no JSON"),
    "trailing text": (b'{"a": 1} x', "Extra data"),
    "two documents": (b"{}{}", "Extra data"),
    "comment": (b'{"a": 1 /* one */}', "no JSON"),
    "trailing comma": (b'{"a": 1,}', "no JSON"),
    "single quotes": (b"{'a': 1}", "no JSON"),
    "NaN": (b'{"a": NaN}', "t.json holds NaN, which is no JSON"),
    "Infinity": (b'{"a": Infinity}', "Infinity"),
    "minus Infinity": (b'{"a": -Infinity}', "Infinity"),
    "raw control character": (b'{"a": "\n"}', "control character"),
    "byte order mark": (b"\xef\xbb\xbf{}", "byte order mark"),
    "UTF-16": ("{}".encode("utf-16"), "byte order mark"),
    "no UTF-8": (b'{"a": "\xff"}', "0xff at offset 7"),
    "overlong UTF-8": (b'{"\xc0\xaf": 1}', "no UTF-8"),
    "encoded surrogate": (b'{"\xed\xa0\x80": 1}', "no UTF-8"),
    "lone surrogate": (b'{"x": [1, {"y": "\\ud800"}]}', r"x\[1\]\.y.*lone surrogate"),
    "lone surrogate key": (b'{"x": {"a\\udfff": 1}}', "lone surrogate"),
    "surrogates the wrong way round": (b'["\\ude00\\ud83d"]', "lone surrogate"),
    "depth of lists": (b"[" * 1_000_000, "levels deep"),
    "depth of objects": (b'{"a":' * 1_000_000, "levels deep"),
    "depth of both": (b'[{"a":' * 1_000_000, "levels deep"),
    "digits": (b'{"a": ' + b"1" * 1_000_000 + b"}", "cannot be read"),
    "key twice": (b'{"a": 1, "a": 2}', "the file names 'a' twice"),
    "key twice below": (b'{"m": {"v": [0, {"q": 1, "q": 1}]}}', r"m\.v\[1\] names 'q' twice"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    data, reason = REFUSED[name]
    start = time.perf_counter()
    with pytest.raises(InvalidTokenizerFile, match=reason) as caught:
        parse_json(data, "t.json")
    assert str(caught.value).startswith("t.json")
    assert len(str(caught.value)) < 500
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        (b'{"a": "\\\\ud800"}', {"a": "\\ud800"}),
        (b'["\\ud83d\\ude00\\ud83d\\ude00", "\\\\\\ud83d\\ude00"]', ["😀😀", "\\😀"]),
        (b'{"a": {"b": 1}, "b": {"b": 2}}', {"a": {"b": 1}, "b": {"b": 2}}),
        ('{"é": [1.5, -2, true, null]}'.encode(), {"é": [1.5, -2, True, None]}),
        (b" \r\n\t[] \n", []),
    ],
)
def test_accepted(data, value):
    assert parse_json(data, "t.json") == value


def test_size_is_bounded(monkeypatch):
    monkeypatch.setattr(strict_json, "MAX_BYTES", 10)
    with pytest.raises(InvalidTokenizerFile, match="12 bytes"):
        parse_json(b'{"abcde": 1}', "t.json")


def test_collector_is_as_before():
    import gc

    assert gc.isenabled()
    parse_json(b"{}", "t.json")
    with pytest.raises(InvalidTokenizerFile):
        parse_json(b"{", "t.json")
    assert gc.isenabled()
    gc.disable()
    try:
        parse_json(b"{}", "t.json")
        assert not gc.isenabled()
    finally:
        gc.enable()
