import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

TEXT = "Hello, wörld ⭢ <b>&\n\tx\x1b[31m\u200b<|endoftext|>"


@pytest.fixture(autouse=True)
def no_colors(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def texts_of(page):
    """The text of each token of a page, marks included."""
    spans = re.findall(r'<span title="([^"]*)"[^>]*>(.*?)</span>', page, flags=re.DOTALL)
    return [(title, html.unescape(re.sub(r"<[^>]*>", "", inside))) for title, inside in spans]


def test_html_has_every_token_with_its_id_and_bytes_on_hover(gpt2):
    found = texts_of(gpt2.show(TEXT)._repr_html_())

    ids = gpt2.encode(TEXT, "recognize").tolist()
    assert [int(re.match(r"id (\d+) ", title)[1]) for title, _ in found] == ids
    assert found[0] == ("id 15496 · bytes 48 65 6c 6c 6f · 0–5", "Hello")
    assert found[-1][0].endswith("special")


def test_html_is_escaped(gpt2):
    page = gpt2.show('<script>alert("1")</script> & more')._repr_html_()

    assert "<script" not in page
    assert "".join(text for _, text in texts_of(page)) == '<script>alert("1")</script> & more'


def test_what_cannot_be_seen_is_marked(gpt2):
    shown = "".join(text for _, text in texts_of(gpt2.show(TEXT)._repr_html_()))

    assert r"\xe2\xad\xa2" in shown  # an arrow cut into three tokens
    assert "↵\n" in shown and r"\t" in shown and r"\x1b[31m" in shown and r"\u200b" in shown
    assert "\x1b" not in shown and "\u200b" not in shown


def test_bytes_that_are_no_text_are_shown(gpt2):
    assert str(gpt2.show(b"a\xff\xe2\x82 b")).splitlines()[0] == r"a|\xff|\xe2|\x82| b"


def test_terminal_gets_colors_and_no_escapes_of_the_text(gpt2, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    colored = str(gpt2.show(TEXT))

    assert colored.startswith("\x1b[30;48;5;153mHello\x1b[0m\x1b[30;48;5;157m,\x1b[0m")
    assert set(re.findall(r"\x1b\[([0-9;]*)m", colored)) >= {"0", "4", "24", "30;48;5;153"}
    assert "\x1b[31m" not in colored
    for line in colored.splitlines():
        assert line.rfind("\x1b[0m") >= line.rfind("\x1b[30"), "a background runs over a line end"


def test_without_a_terminal_there_are_bars_and_no_colors(gpt2):
    assert str(gpt2.show("Hello, world")) == "Hello|,| world\n15496 11 995\n" + (
        "3 tokens, 12 bytes, 4.0 bytes a token"
    )
    assert repr(gpt2.show("a")) == str(gpt2.show("a"))


def test_limit_counts_what_it_hides(gpt2):
    shown = gpt2.show("hello " * 3000, limit=3)

    assert len(shown.tokens) == 3
    assert shown.summary == (
        "3,001 tokens, 18,000 bytes, 6.0 bytes a token; the last 2,998 are not shown"
    )
    assert gpt2.show("").summary == "0 tokens, 0 bytes"


@given(data=st.binary(max_size=40))
def test_any_bytes_can_be_shown_and_none_are_lost(gpt2, data):
    shown = gpt2.show(data)

    assert b"".join(token.data for token in shown.tokens) == data
    assert [token.start for token in shown.tokens] == [
        len(b"".join(token.data for token in shown.tokens[:k])) for k in range(len(shown.tokens))
    ]
    assert len(texts_of(shown._repr_html_())) == len(shown.tokens)
