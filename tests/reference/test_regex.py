"""The backtracking matcher against Oniguruma and tiktoken's engine, and what it refuses."""

from __future__ import annotations

from collections import Counter

import pytest

from numbatok.errors import InvalidTokenizerFile, NumbatokError, UnsupportedTokenizer
from numbatok.reference import regex_match, regex_parse
from numbatok.reference.atoms import characters, join, split_atoms
from numbatok.reference.chain import with_gaps
from numbatok.reference.regex_parse import parse_regex
from numbatok.spec import Split
from tests.reference.comparing import assert_equal, differences
from tests.reference.library_oracles import library_strings, pre_tokenizer, tiktoken_pieces
from tests.reference.random_regexes import RandomRegexes


def cut_by(regex, text):
    """Return the matches and what is between them, as the library's isolated split does."""
    atoms = characters(text)
    parts = with_gaps(len(atoms), regex.matches(atoms))
    return [text[part.start : part.end] for part in parts if part.end > part.start]


def matches(regex, text):
    return [text[start:end] for start, end in regex.matches(characters(text)) if end > start]


def compiled(pattern, engine):
    """Return the regex, or None if it is refused."""
    try:
        return parse_regex(pattern, engine)
    except NumbatokError:
        return None


def library_splits(pattern):
    """Return the library's pre-tokenizer, or None if Oniguruma refuses the pattern."""
    try:
        return pre_tokenizer([Split(pattern, is_regex=True)])
    except Exception:  # the library raises nothing more exact
        return None


def random_cases(seed: int, count: int):
    """Return supported random patterns with a text each, and the number of refused patterns."""
    made = RandomRegexes(seed)
    cases, refused = [], 0
    for _ in range(count):
        pattern = made.regex()
        regex, library = compiled(pattern, "tokenizers"), library_splits(pattern)
        if regex is None or library is None:
            refused += 1
            continue
        cases += [(pattern, regex, library, made.text(9)) for _ in range(8)]
    return cases, refused


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("seed", "count"), [(1, 1_500), pytest.param(2, 30_000, marks=pytest.mark.slow)]
)
def test_random_patterns_equal_oniguruma(seed, count):
    cases, refused = random_cases(seed, count)
    print(f"{refused} of {count} patterns refused")
    assert refused < count / 2
    assert_equal(
        "random patterns",
        cases,
        lambda case: library_strings(case[2], case[3]),
        lambda case: cut_by(case[1], case[3]),
    )


def tiktoken_cases(seed: int, count: int):
    """Return supported random patterns, each with a text and the pieces tiktoken makes of it."""
    made = RandomRegexes(seed)
    cases = []
    for _ in range(count):
        pattern = made.regex()
        regex = compiled(pattern, "tiktoken")
        if regex is None:
            continue
        texts = [made.text(9) for _ in range(6)]
        try:
            pieces = tiktoken_pieces(pattern, texts)
        except ValueError:  # what the crate regex cannot compile
            continue
        cases += [(pattern, regex, *case) for case in zip(texts, pieces, strict=True)]
    return cases


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("seed", "count"), [(3, 700), pytest.param(4, 10_000, marks=pytest.mark.slow)]
)
def test_random_patterns_equal_tiktoken(seed, count):
    assert_equal(
        "random patterns in tiktoken",
        tiktoken_cases(seed, count),
        lambda case: case[3],
        lambda case: matches(case[1], case[2]),
    )


@pytest.mark.oracle
def test_comparison_sees_lazy_read_as_greedy(monkeypatch):
    monkeypatch.setattr("numbatok.reference.regex_match._aim", greedy_aim)
    parse_regex.cache_clear()
    cases, _ = random_cases(1, 1_000)
    _, lines = differences(
        cases,
        lambda case: library_strings(case[2], case[3]),
        lambda case: cut_by(case[1], case[3]),
    )
    parse_regex.cache_clear()
    assert lines


def greedy_aim(fork, body, end, lazy):
    fork.targets.extend((body, end))


FIXED = [
    # (pattern, text): what the two engines read in different ways, and edges of the syntax
    (r"a{1,2}+a", "aaaa"),
    (r"a{2}?b", "aab"),
    (r"a{,2}b", "aaab"),
    (r"x$", "x\nx\n"),
    (r"^x", "x\nx\nax"),
    (r"x\Z", "x\nx\n"),
    (r"\s+$", "a \n b  "),
    (r"(?i:'s|'t)", "'S'\u017f't'T"),
    (r"(?i:k)", "kK\u212a"),
    (r"(?i)ab|c", "aBCc"),
    (r"[]a]+", "a]b"),
    (r"[^]a]+", "a]b"),
    (r"[a-]+", "a-b"),
    (r"[a&&]", "a&"),
    (r"[^a-c&&b-d]", "abcd"),
    (r"[^a[^b]]", "abc"),
    (r"\x41\x{4e2d}\u4e2d", "A中中"),
    (r"[\b]", "a\x08"),
    (r"a{x}|}", "a{x}}"),
    (r"\w+", "a²b\u200dc\u0301"),
    (r"[\w]+", "a²b\u200dc\u0301"),
    (r"\bc", "²c c"),
    (r"\h+", "agF0"),
    (r"(?=b)", "abab"),
    (r"b*", "abab"),
    (r"", "ab"),
    (r"(?>a+)a", "aaa"),
    (r" ?[^(\s|[.,!?…。，、।۔،])]+", "a(b) |c. [d]"),
    (r"\d{1,3}(?=(?:\d{3})*\b)", "1234567 12345a"),
    (r"\p{greek}|\p{Uppercase_Letter}|\p{ Lu }|\p{Alpha}", "αA1ª"),
    (r"(?i:\p{Lu})", "aA"),
    (r"(?i:[\p{Lu}])", "aAǅ"),
    (r"(?i:é)", "éÉe"),
    (r"(?i:[^s])", "sS\u017fa"),
    (r"(?i:[a-z])+", "aK\u212a\u017fé"),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("pattern", "text"), FIXED)
def test_fixed_cases_equal_oniguruma(pattern, text):
    assert cut_by(parse_regex(pattern, "tokenizers"), text) == library_strings(
        library_splits(pattern), text
    )


TIKTOKEN = [
    r"a{1,2}+a|.",
    r"a{2}?b|.",
    r"x$|.",
    r"^x|.",
    r"\s+$|\s",
    r"\s++$|\s+(?!\S)|\s|\S+",
    r"(?i:'s|'t|k)|.",
    r"(?i:\p{Lu})|.",
    r"(?i:[\p{Lu}])|.",
    r"\w+|\W",
    r"[\w]+|[\W]",
    r"\bc|[\p{L}&&[^c]]|\p{Han}|.",
    r"\pL+|\PL",
    r"(?>a+)a|[ab]",
    r"[a-c&&b-d]|\x{4e2d}|\x41|\u4e2d",
    r"\p{Greek}+|\p{alphabetic}|.",
]


@pytest.mark.oracle
@pytest.mark.parametrize("pattern", TIKTOKEN)
def test_patterns_equal_tiktoken(pattern):
    made = RandomRegexes(5)
    texts = [text for _, text in FIXED if text] + [made.text(10) for _ in range(300)]
    expected = dict(zip(texts, tiktoken_pieces(pattern, texts), strict=True))
    regex = parse_regex(pattern, "tiktoken")
    assert_equal(pattern, texts, expected.__getitem__, lambda text: matches(regex, text))


REFUSED = {
    r"(a)\1": "a backreference",
    r"(?<=a)b": "a lookbehind",
    r"(?<!a)b": "a lookbehind",
    r"(?<x>a)b": "a named group",
    r"(?P<x>a)b": "a named group",
    r"(?R)": "recursion",
    r"(a)(?(1)b|c)": "a conditional",
    r"(?~a)": "an absent operator",
    r"(?#x)a": "a comment",
    r"(*FAIL)": "a callout",
    r"(?x: a )": r"the group \(\?x:",
    r"a(?i)b": r"the group \(\?i\)",
    r"(?s:.)": r"the group \(\?s:",
    r"\Ga": r"the escape \\G",
    r"a\Kb": r"the escape \\K",
    r"\R": r"the escape \\R",
    r"\X": r"the escape \\X",
    r"\Qa\E": r"the escape \\Q",
    r"\xe4": "a byte above 7F",
    r"\pL": "a property without braces",
    r"\p{Foo}": "the property 'Foo'",
    r"\p{script=Han}": "the property 'script=Han'",
    r"[[:alpha:]]": "a POSIX bracket",
    r"[a-\d]": "a range that ends in a class",
    r"[\d-a]": "a - after a class in a class",
    r"[a-c-e]": "a - after a range",
    r"a{3,1}": r"the interval \{3,1\}",
    r"a{1,999999}": "the interval",
    r"a+*": "a quantifier on a quantifier",
    r"(?:a|)*": "a repeat of something that can be empty",
    r"(?:a*)+": "a repeat of something that can be empty",
    r"\b*": "a repeated place or lookahead",
    r"(?=a)?": "a repeated place or lookahead",
    r"(?i:ss)": "case-insensitive 'ss'",
    r"(?i:(?:s)s)": "case-insensitive 'ss'",
    r"(?i:ß)": "folds to several",
    r"(?i:[ß-ÿ])": "folds to several",
    r"(?i:[a&&b])": "an intersection where the case is ignored",
    r"(?i:[a[^b]])": "a nested complement where the case is ignored",
    "(?:a{100}){200}": "more than 10000 steps",
    "(?:(?=(?:(?=x{90})y){90})z){90}": "more than 10000 steps",
    "(" * 101 + ")" * 101: "more than 100 nested groups",
    "[" * 60 + "a" + "]" * 60: "more than 50 nested classes",
}
REFUSED_BY_TIKTOKEN = {
    r"a{,2}": "an interval without its first number",
    r"[a--b]": "the class operator --",
    r"[a~~b]": "the class operator ~~",
    r"a{": r"an unescaped \{",
    r"\Z": r"the escape \\Z",
    r"\p{xdigit}": "the property 'xdigit'",
    "a*": "a match of nothing, on which tiktoken panics",
    "(?=a)": "a match of nothing, on which tiktoken panics",
}
DAMAGED = {
    r"a)": "an unmatched \\)",
    r"(a": r"a group without its \)",
    r"[a": "an early end",
    r"[]": "an empty class",
    r"*a": r"nothing before \* to repeat",
    r"a|+": r"nothing before \+ to repeat",
    r"[z-a]": "a range that ends before it begins",
    "a\\": "an early end",
    r"\p{L": "a property without its }",
    r"\x{110000}": "which is no character",
    r"\uD800": "which is no character",
}


@pytest.mark.parametrize(("pattern", "named"), REFUSED.items())
def test_refused_by_name(pattern, named):
    with pytest.raises(UnsupportedTokenizer, match=named):
        parse_regex(pattern, "tokenizers")


@pytest.mark.parametrize(("pattern", "named"), REFUSED_BY_TIKTOKEN.items())
def test_refused_by_name_in_rank_files(pattern, named):
    with pytest.raises(UnsupportedTokenizer, match=named):
        parse_regex(pattern, "tiktoken")


@pytest.mark.parametrize("engine", ["tokenizers", "tiktoken"])
@pytest.mark.parametrize(("pattern", "named"), DAMAGED.items())
def test_no_regex(pattern, named, engine):
    with pytest.raises((InvalidTokenizerFile, UnsupportedTokenizer), match=named):
        parse_regex(pattern, engine)


@pytest.mark.parametrize(
    "pattern", ["(?:a|aa)+b", "(?:a+)+b", "(?:a|a|a)*c", "(?:(?:a?a)+)+b", "a*a*a*a*b"]
)
def test_patterns_made_to_explode_take_each_step_once_at_each_position(pattern, monkeypatch):
    taken = Counter()

    def counted(step, atoms, position):
        taken[id(step), position] += 1
        return after(step, atoms, position)

    after = regex_match._after
    monkeypatch.setattr(regex_match, "_after", counted)
    assert list(parse_regex(pattern, "tokenizers").matches(characters("a" * 2_000))) == []
    assert len(taken) > 2_000 and set(taken.values()) == {1}


def test_stray_bytes_have_properties_and_are_no_characters():
    atoms = split_atoms(b"\xb2\xa1\xe9\xff")  # stand-ins: ² ¡ é ÿ
    cases = {
        r"\p{L}": [b"\xe9", b"\xff"],
        r"\p{Ll}": [b"\xe9", b"\xff"],
        r"\p{N}": [b"\xb2"],
        r"\p{P}": [b"\xa1"],
        r"\w": [b"\xb2", b"\xe9", b"\xff"],
        r"[^\s\p{L}]": [b"\xb2", b"\xa1"],
        "é|²|[à-ÿ]": [],
        "[^é]": [b"\xb2", b"\xa1", b"\xe9", b"\xff"],
        "(?i:É)": [],
        r".\b": [b"\xb2", b"\xa1", b"\xff"],
    }
    for pattern, expected in cases.items():
        found = parse_regex(pattern, "tokenizers").matches(atoms)
        assert [join(atoms[start:end]) for start, end in found] == expected, pattern


def test_stray_bytes_are_punctuation_and_nothing_else():
    atoms = split_atoms(b"\xe9", "punct")
    for pattern, expected in {r"\p{P}": 1, r"\p{L}": 0, r"\w": 0, r"\s": 0, "!": 0, ".": 1}.items():
        assert len(list(parse_regex(pattern, "tokenizers").matches(atoms))) == expected, pattern


def test_patterns_are_parsed_once():
    assert parse_regex("a+b", "tokenizers") is parse_regex("a+b", "tokenizers")
    assert regex_parse.parse_regex("a+b", "tiktoken") is not parse_regex("a+b", "tokenizers")
