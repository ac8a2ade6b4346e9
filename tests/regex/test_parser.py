"""What the parser refuses, by name and position, and what it takes for damaged."""

from __future__ import annotations

import pytest

from numbatok.errors import InvalidTokenizerFile, UnsupportedTokenizer
from numbatok.regex.parser import parse
from numbatok.regex.sets import STRAY_BYTES, STRAY_MARK, SetTable

REFUSED = [
    (r"(a)\1", "a backreference", 3),
    (r"\k<n>", "a backreference", 0),
    (r"(?<n>a)\g<n>", "a subexpression call", 7),
    (r"(?R)", "a recursion", 0),
    (r"a(?(1)b|c)", "a conditional", 1),
    (r"(?~ab)", "an absent operator", 0),
    (r"(?#x)a", "a comment", 0),
    (r"(*FAIL)", "a callout", 0),
    (r"x(?<=ab)c", "a lookbehind of more than one character", 1),
    (r"(?x: a)", "the option 'x'", 0),
    (r"\X", "a grapheme cluster", 0),
    (r"a\K", "a keep", 1),
    (r"\G", "a search start", 0),
    (r"\y", "a text segment boundary", 0),
    (r"\101", "an octal escape", 0),
    (r"\xE9", r"\\xE9, a byte above 7F", 0),
    (r"\i", r"the escape \\i", 0),
    (r"\pL", "a property without a name in braces", 0),
    (r"\p{In_Greek}", "the property 'In_Greek'", 0),
    (r"\p{Age=6.0}", "the property 'Age=6.0'", 0),
    (r"[[:wrong:]]", "the POSIX bracket 'wrong'", 1),
    (r"[a-c-e]", "a - after a range", 4),
    (r"[\d-z]", "a - after a class in a class", 3),
    (r"(a*)*", "a repeat of what can be empty", 0),
    (r"(?:a?){2}", "a repeat of what can be empty", 0),
    (r"a**", "a quantifier on a quantifier", 0),
    (r"a{1,2}{3}", "a quantifier on a quantifier", 0),
    (r"\b+", "a repeated place", 0),
    (r"(?=a)?", "a repeated place", 0),
    (r"a{3,1}", "the interval {3,1}", 1),
    (r"a{200000}", "the interval {200000}, above 100000", 1),
    (r"(?i:ß)", "a case-insensitive character that folds to several", 4),
    (r"(?i:[\p{L}])", "a case-insensitive character that folds to several", 4),
    (r"(?i:mass)", "case-insensitive 'ss'", 7),
    (r"(?i:[a[^b]])", "a nested complement where the case is ignored", 6),
    (r"(?i:[a-z&&b])", "an intersection where the case is ignored", 4),
    ("(" * 120 + "a" + ")" * 120, "a group in more than 100 others", 101),
    ("[" * 60 + "a" + "]" * 60, "a class in more than 50 others", 51),
]
REFUSED_BY_TIKTOKEN = [
    (r"\Z", r"the escape \\Z", 0),
    (r"\R", "a line break", 0),
    (r"\<", r"the escape \\<", 0),
    (r"a{,2}", "an interval without its first number", 1),
    (r"a}", "an unescaped }", 1),
    (r"[a--b]", "the class operator --", 2),
    (r"[[:alpha:]]", "this POSIX bracket", 1),
    (r"\p{word}", "the property 'word'", 0),
    (r"(?m:^a)", "the option 'm'", 0),
]
DAMAGED = [
    (r"a)", "an unmatched )", 1),
    (r"(a", "a group without its )", 0),
    (r"[a", "it ends too early", 2),
    (r"[]", "a class without a member", 1),
    (r"*a", "nothing before * to repeat", 0),
    (r"a|+", "nothing before + to repeat", 2),
    ("a\\", "it ends too early", 2),
    (r"[b-a]", "a range that ends before it begins", 1),
    (r"\x{110000}", "is no character", 0),
    (r"\uD800", "is no character", 0),
    (r"(?P<n>a)", "an unknown kind of group", 0),
]


def refusal(pattern, engine, kind):
    with pytest.raises(kind) as caught:
        parse(pattern, engine, SetTable())
    return str(caught.value)


@pytest.mark.parametrize(("pattern", "name", "position"), REFUSED)
def test_a_construct_is_refused_by_name_and_position(pattern, name, position):
    message = refusal(pattern, "tokenizers", UnsupportedTokenizer)

    assert name.replace("\\\\", "\\") in message
    assert f"at character {position} of" in message


@pytest.mark.parametrize(("pattern", "name", "position"), REFUSED_BY_TIKTOKEN)
def test_what_only_the_crate_reads_otherwise_is_refused_for_it(pattern, name, position):
    message = refusal(pattern, "tiktoken", UnsupportedTokenizer)

    assert name.replace("\\\\", "\\") in message
    assert f"at character {position} of" in message


@pytest.mark.parametrize(("pattern", "fact", "position"), DAMAGED)
def test_a_damaged_pattern_is_told_from_an_unsupported_one(pattern, fact, position):
    message = refusal(pattern, "tokenizers", InvalidTokenizerFile)

    assert fact in message
    assert f"at character {position} of" in message


def members(pattern, engine="tokenizers"):
    sets = SetTable()
    node = parse(pattern, engine, sets)
    return sets.mask(node.members)


def test_a_stray_byte_has_properties_but_is_no_literal():
    stray = STRAY_BYTES + 0xE9  # the byte alphabet spells it as é

    assert members(r"\p{L}")[stray] and members(r"\w")[stray]
    assert not members("é")[stray] and not members("[à-ü]")[stray]
    assert members("[^a]")[stray] and members(".")[stray]
    assert members(r"\p{P}")[STRAY_MARK] and not members(r"\p{L}")[STRAY_MARK]


def test_word_characters_differ_by_engine_and_place():
    superscript, joiner = 0xB2, 0x200D

    assert members(r"\w")[superscript] and not members(r"[\w]")[superscript]
    assert not members(r"\w", "tiktoken")[superscript]
    assert members(r"\w", "tiktoken")[joiner] and not members(r"\w")[joiner]
