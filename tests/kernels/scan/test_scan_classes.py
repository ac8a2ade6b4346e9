"""Classes and parameters: what patterns lay out is what kernels read."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from numbatok.groups import GROUPS
from numbatok.kernels.scan import blocks, wide
from numbatok.pattern import PATTERNS, families
from numbatok.reference.families import FAMILIES
from numbatok.reference.properties import category, is_han, is_numeric, is_white_space

ALL = pytest.mark.parametrize("name", PATTERNS)
BITS = ("LETTER", "NUMBER", "WHITE", "NEWLINE", "OTHER", "UPPER", "LOWER", "IDEOGRAPH")
SAMPLE = [*range(0x3000), *range(0x3000, 0x110000, 13)]


@pytest.mark.parametrize("bit", BITS)
def test_bits_are_the_same_on_both_sides(bit):
    assert getattr(families, bit) == getattr(blocks, bit)


@ALL
def test_every_pattern_is_a_family_of_the_reference_and_has_its_entries(name):
    pattern = PATTERNS[name]
    assert name in FAMILIES
    group = next(group for group, entries in GROUPS.items() if pattern.scan in entries)
    assert set(GROUPS[group]) == {pattern.scan, pattern.pretoken_end}


def test_every_family_of_the_reference_is_a_pattern():
    assert set(FAMILIES) == set(PATTERNS)


@ALL
def test_a_pattern_has_as_many_parameters_as_its_kernel_reads(name):
    pattern = PATTERNS[name]
    group = next(entries for entries in GROUPS.values() if pattern.scan in entries)
    module = importlib.import_module(group[pattern.scan].module)
    rules = getattr(module, "Rules", None)
    assert len(pattern.parameters) == (len(rules._fields) if rules else 0)


@ALL
def test_ranges_that_are_read_at_once_have_one_class(name):
    """`wide` gives U+4E00-9F7F and U+AC00-D77F the class of their first character."""
    classes = PATTERNS[name].class_of_points()
    assert set(classes[0x4E00:0x9F80].tolist()) == {classes[int(wide.IDEOGRAPH)]}
    assert set(classes[0xAC00:0xD780].tolist()) == {classes[int(wide.HANGUL)]}


@ALL
def test_no_byte_of_an_ill_formed_sequence_is_white_space(name):
    """The masks take white space beyond ASCII for whole characters."""
    classes = PATTERNS[name].class_of_points()
    assert not (classes[[*range(0x80, 0x85), *range(0xA1, 0x144)]] & families.WHITE).any()


def base_class(code: int) -> str:
    if is_white_space(code):
        return "WHITE"
    return {"L": "LETTER", "N": "NUMBER"}.get(category(code)[0], "OTHER")


@pytest.mark.parametrize("name", ["gpt2", "llama3", "o200k", "kimi", "digits_gpt2"])
def test_base_classes_are_those_of_the_reference(name):
    classes = PATTERNS[name].class_of_points()
    base = families.LETTER | families.NUMBER | families.WHITE | families.OTHER
    numeric = name == "digits_gpt2"
    for code in SAMPLE:
        expected = "NUMBER" if numeric and is_numeric(code) else base_class(code)
        assert classes[code] & base == getattr(families, expected), hex(code)


@pytest.mark.parametrize("name", ["o200k", "kimi"])
def test_cases_are_those_of_the_reference(name):
    classes = PATTERNS[name].class_of_points()
    for code in SAMPLE:
        kind, apart = category(code), name == "kimi" and is_han(code)
        is_upper = kind in ("Lu", "Lt", "Lm", "Lo", "Mn", "Mc", "Me") and not apart
        is_lower = kind in ("Ll", "Lm", "Lo", "Mn", "Mc", "Me") and not apart
        assert bool(classes[code] & families.UPPER) == is_upper, hex(code)
        assert bool(classes[code] & families.LOWER) == is_lower, hex(code)
        assert bool(classes[code] & families.IDEOGRAPH) == apart, hex(code)


def test_line_ends_have_the_bit_where_the_pattern_has_a_rule_for_them():
    for name, pattern in PATTERNS.items():
        newlines = np.flatnonzero(pattern.class_of_points() & families.NEWLINE).tolist()
        assert newlines == ([] if name in ("gpt2", "digits_gpt2", "bloom") else [0x0A, 0x0D])
