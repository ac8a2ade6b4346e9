"""All matches of a regex: compared with the Replace normalizer of tokenizers."""

from __future__ import annotations

import numpy as np
import pytest

from numbatok.errors import NumbatokError, UnsupportedTokenizer
from numbatok.normalization import Normalization
from numbatok.regex.find import Pattern
from numbatok.spec import Replace
from numbatok.tables import STRIDE
from tests.reference.comparing import assert_equal, differences
from tests.reference.random_regexes import RandomRegexes

KNOWN = [" {2,}", " ", r"(?<!\n)^", "^", "$", r"\b", "", r"\s+", r"[\r\n]+", r"a*", r"(?=b)|a"]


def replacements(seed, count):
    """Return (library, our normalization, text) for known and random patterns."""
    tokenizers = pytest.importorskip("tokenizers")
    made, cases = RandomRegexes(seed), []
    for number in range(count):
        pattern = KNOWN[number] if number < len(KNOWN) else made.regex()
        try:
            library = tokenizers.normalizers.Replace(tokenizers.Regex(pattern), "<>")
            ours = Normalization([Replace(pattern, True, "<>")])
        except Exception as error:
            assert isinstance(error, NumbatokError) or "Oniguruma" in str(error)
            continue
        texts = [made.text(12) for _ in range(6)]
        if number < len(KNOWN):  # of others some take Oniguruma more steps than it allows
            texts.append(made.text(12) * (STRIDE // 3))
        cases += [(pattern, library, ours, text) for text in texts]
    return cases


def expected(case):
    return case[1].normalize_str(case[3])


def found(case):
    return case[2].apply(case[3].encode()).decode()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("seed", "count"), [(1, 250), pytest.param(2, 8_000, marks=pytest.mark.slow)]
)
def test_replacements_equal_those_of_tokenizers(seed, count):
    assert_equal("replacements", replacements(seed, count), expected, found)


@pytest.mark.oracle
def test_comparison_sees_lost_empty_matches(monkeypatch):
    monkeypatch.setattr("numbatok.regex.find.EMPTY_MATCH", -1)
    assert differences(replacements(1, 60), expected, found)[1]


def test_spans():
    assert Pattern(r"a+|$").spans(b"baab").tolist() == [[1, 3], [4, 4]]
    assert Pattern("é", is_regex=False).spans("aéé".encode()).tolist() == [[1, 3], [3, 5]]
    assert Pattern("").spans("é!".encode()).tolist() == [[0, 0], [2, 2], [3, 3]]
    assert Pattern("x").spans(b"").shape == (0, 2)
    assert Pattern("x").spans(b"abc").shape == (0, 2)


def test_a_match_may_be_longer_than_a_stretch():
    text = b"b" + b"a" * (3 * STRIDE) + b"b"
    assert Pattern("a+").spans(text).tolist() == [[1, 3 * STRIDE + 1]]
    assert Pattern("a(?=a*b)").spans(text).shape == (3 * STRIDE, 2)
    assert Pattern("a(?=a*c)").spans(text).shape == (0, 2)


def test_bytes_that_are_not_utf_8_stay_and_match_by_their_properties():
    text = b"a\xe9\xff b"
    assert Normalization([Replace(r"\s", True, "_")]).apply(text) == b"a\xe9\xff_b"
    assert Pattern(r"\p{L}").spans(text).tolist() == [[0, 1], [1, 2], [2, 3], [4, 5]]
    assert Pattern("é").spans(text).shape == (0, 2)


def test_an_unsupported_pattern_is_refused_with_the_normalizer_named():
    with pytest.raises(UnsupportedTokenizer, match="normalizer Replace: regex: a backreference"):
        Normalization([Replace(r"(a)\1", True, "")])


def test_edits_tell_what_was_replaced():
    (edits,) = Normalization([Replace(r"\s+", True, " ")]).edits(b"a  b\n")
    assert edits == [(1, 3, b" "), (4, 5, b" ")]
    with pytest.raises(UnsupportedTokenizer, match="offsets"):
        list(Normalization([Replace("^", True, "_")]).edits(b"a"))


def test_time_grows_with_the_text_only():
    pattern = Pattern("a*b|a")
    spans = pattern.spans(b"a" * 200_000)
    assert np.array_equal(spans[:, 1] - spans[:, 0], np.ones(200_000))
