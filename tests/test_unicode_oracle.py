r"""Each class of characters equals what `tokenizers` and `tiktoken` do, on every scalar."""

from functools import partial

import numpy as np
import pytest

from numbatok import unicode
from numbatok.unicode.properties import POSIX_BRACKETS, content
from tests.unicode_probes import (
    SCALARS,
    class_differences,
    cut_differences,
    in_order,
    kept,
    removed_differences,
    split,
    text_of,
    tokenizers,
)

pytestmark = pytest.mark.oracle
pre_tokenizers = tokenizers.pre_tokenizers

CATEGORIES = ["L", "M", "N", "P", "S", "Lu", "Ll", "Lt", "Lm", "Lo"]
CLASSES = {
    **{rf"\p{{{name}}}": partial(unicode.category, name) for name in CATEGORIES},
    r"\s": unicode.white_space,
    r"\p{Han}": partial(unicode.script, "Han"),
    r"\w": unicode.oniguruma_word_characters,
    r"[\w]": partial(unicode.posix_bracket, "word"),
}
MORE_CLASSES = {
    r"\d": partial(unicode.category, "Nd"),
    r"[\d]": partial(unicode.category, "Nd"),
    r"[\s]": unicode.white_space,
    r"\h": partial(unicode.oniguruma_property, "xdigit"),
    r"[\p{word}]": partial(unicode.oniguruma_property, "word", in_brackets=True),
    **{
        rf"\p{{{name}}}": partial(unicode.oniguruma_property, name)
        for name in ["word", "punct", "posixpunct", "newline", *content().header["binary"]]
    },
    **{f"[[:{name}:]]": partial(unicode.posix_bracket, name) for name in POSIX_BRACKETS},
}


@pytest.mark.parametrize("pattern", CLASSES)
def test_class(pattern):
    expected = CLASSES[pattern]()

    assert class_differences(pattern, expected).size == 0
    print(f"{pattern}: {SCALARS.size:,} scalars compared, {expected.sum():,} members")


@pytest.mark.slow
@pytest.mark.parametrize("pattern", MORE_CLASSES)
def test_more_classes(pattern):
    assert class_differences(pattern, MORE_CLASSES[pattern]()).size == 0


def test_a_planted_fault_is_found():
    letters = unicode.category("L").copy()
    letters[[0x17F, 0x31, 0x10FFFF]] ^= True
    scripts = unicode.cutting_scripts().copy()
    scripts[0x3B1] = unicode.SCRIPT_NAMES.index("Latin")

    assert set(class_differences(r"\p{L}", letters)) == {0x17F, 0x31, 0x10FFFF}
    assert cut_differences(pre_tokenizers.UnicodeScripts(), scripts) > 0


def alternation(names):
    return "|".join(rf"\p{{{name}}}+" for name in names)


@pytest.mark.parametrize(
    ("names", "table"),
    [
        (unicode.CATEGORY_NAMES, unicode.category),
        (unicode.SCRIPT_NAMES, unicode.script),
    ],
    ids=["categories", "scripts"],
)
def test_every_category_and_script(names, table):
    values = np.zeros(0x110000, np.uint8)
    for number, name in enumerate(names):
        values[table(name)] = number
    present = [name for name in names if table(name)[SCALARS].any()]

    assert cut_differences(split(alternation(present), "isolated"), values) == 0
    for name in present:
        first = chr(SCALARS[np.argmax(table(name)[SCALARS])])
        assert split(rf"\p{{{name}}}").pre_tokenize_str(first) == []
    print(f"{len(present)} sets, {SCALARS.size:,} scalars compared")


def test_every_alias():
    header = content().header
    names = [*header["category_aliases"], *header["script_aliases"], *header["binary_aliases"]]
    values = unicode.general_categories().astype(np.int64) * 256 + unicode.cutting_scripts()
    _, places = np.unique(values[SCALARS], return_index=True)
    sample = SCALARS[np.union1d(places, np.arange(0, SCALARS.size, 997))]
    for name in names:
        inside, _ = kept(split(rf"\p{{{name}}}"), text_of(sample))
        assert np.array_equal(~inside, unicode.oniguruma_property(name)[sample]), name
    assert len(names) > 500
    print(f"{len(names)} names x {sample.size:,} scalars compared")


def test_steps_of_the_library():
    white_space, digits = unicode.white_space(), unicode.numeric_characters()
    punctuation = pre_tokenizers.Punctuation(behavior="removed")
    values = np.where(white_space, 0, 1 + unicode.word_characters())
    inside, starts = kept(pre_tokenizers.Whitespace(), text_of(in_order(values)))

    assert cut_differences(pre_tokenizers.Digits(individual_digits=False), digits) == 0
    assert pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str("a12")[1][0] == "1"
    assert removed_differences(punctuation, unicode.punctuation_characters()).size == 0
    assert removed_differences(pre_tokenizers.WhitespaceSplit(), white_space).size == 0
    assert (starts.sum(), inside.sum()) == (2, SCALARS.size - 25)
    assert np.flatnonzero(starts).tolist() == [0, unicode.word_characters()[SCALARS].sum()]


def test_script_changes():
    scripts = unicode.cutting_scripts()
    unknown, latin = (unicode.SCRIPT_NAMES.index(name) for name in ("Unknown", "Latin"))
    step = pre_tokenizers.UnicodeScripts()
    values = np.where(scripts == unknown, 0, 1 + scripts.astype(np.int64))
    order = in_order(values)
    _, starts = kept(step, text_of(order))
    changes = np.diff(values[order], prepend=-1) != 0
    after_latin = np.stack([np.full(SCALARS.size, 0x61), SCALARS], axis=1).reshape(-1)
    _, cuts = kept(step, text_of(after_latin))
    only_latin = SCALARS[scripts[SCALARS] == latin]
    after_greek = np.stack([np.full(only_latin.size, 0x3B1), only_latin], axis=1).reshape(-1)

    assert np.array_equal(starts, changes & (values[order] != 0))
    assert np.array_equal(cuts[1::2], ~np.isin(scripts[SCALARS], [latin, unknown]))
    assert kept(step, text_of(after_greek))[1].all()


def case_scalars():
    cased = [c for c in range(0x110000) if len(unicode.case_variants(c)) > 1]
    return sorted({*cased, *(c for c in range(0x110000) if unicode.case_expansion(c))})


@pytest.mark.parametrize(
    "form", ["(?i:\\x{%x})", pytest.param("(?i:[\\x{%x}])", marks=pytest.mark.slow)]
)
def test_case_variants_of_every_cased_character(form):
    cased = case_scalars()
    text = "\n".join(map(chr, cased))
    for code_point in cased:
        inside, _ = kept(split(form % code_point), text)
        found = [cased[i] for i in np.flatnonzero(~inside[::2])]
        assert tuple(found) == unicode.case_variants(code_point), hex(code_point)
    print(f"{len(cased)} x {len(cased)} scalars compared")


def test_other_characters_have_no_variants():
    others = np.ones(0x110000, np.bool_)
    others[case_scalars()] = False
    bounds = np.flatnonzero(np.diff(others, prepend=False, append=False)).reshape(-1, 2)
    ranges = "".join(f"\\x{{{start:x}}}-\\x{{{end - 1:x}}}" for start, end in bounds)

    assert class_differences(f"(?i:[{ranges}])", others).size == 0


def test_case_widens_classes_in_brackets_only():
    upper = unicode.category("Lu")

    assert class_differences(r"(?i:[\p{Lu}])", unicode.close_under_case(upper)).size == 0
    assert class_differences(r"(?i:\p{Lu})", upper).size == 0


def test_case_expansions():
    count = 0
    for code_point in case_scalars():
        expansion = "".join(map(chr, unicode.case_expansion(code_point)))
        if expansion:
            assert split(f"(?i:{expansion})").pre_tokenize_str(chr(code_point)) == []
            assert split(f"(?i:{chr(code_point)})").pre_tokenize_str(expansion) == []
            count += 1
    assert count == 104


def added_token(**options):
    model = tokenizers.models.WordLevel({"?": 0}, unk_token="?")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.add_special_tokens([tokenizers.AddedToken("[X]", **options)])
    return tokenizer


def token_covers(form, **options):
    """Return for each scalar whether the added token's span covers it, and its `[`."""
    place, bracket = form.index("C"), form.index("[")
    text = "".join(form.replace("C", chr(code)) for code in SCALARS)
    covered = np.zeros(len(text), np.bool_)
    encoding = added_token(**options).encode(text)
    for number, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
        covered[start:end] = number != 0
    return covered[place :: len(form)], covered[bracket :: len(form)]


@pytest.mark.slow
def test_neighbors_of_added_tokens():
    for form in ("C[X] ", " [X]C"):
        _, found = token_covers(form, single_word=True)
        assert np.array_equal(found, ~unicode.word_characters()[SCALARS])
    for form, options in (("aC[X]", {"lstrip": True}), ("[X]Ca", {"rstrip": True})):
        covered, _ = token_covers(form, **options)
        assert np.array_equal(covered, unicode.white_space()[SCALARS])


@pytest.mark.slow
def test_strip_removes_white_space():
    strip = tokenizers.normalizers.Strip()
    stripped = [strip.normalize_str(f"a{chr(code)}") == "a" for code in SCALARS]

    assert np.array_equal(stripped, unicode.white_space()[SCALARS])


@pytest.mark.slow
def test_classes_of_tiktoken():
    tiktoken = pytest.importorskip("tiktoken")
    classes = {
        r"\w": unicode.word_characters(),
        r"\d": unicode.category("Nd"),
        r"\s": unicode.white_space(),
        r"\p{L}": unicode.category("L"),
        r"\p{Han}": unicode.han(),
        r"(?i:\p{Lu})": unicode.close_under_case(unicode.category("Lu")),
    }
    ranks = {bytes([byte]): byte for byte in range(256)}
    text = text_of(SCALARS)
    for pattern, expected in classes.items():
        encoding = tiktoken.Encoding(
            "one class", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )
        matched = encoding.decode(encoding.encode_ordinary(text))
        assert matched == text_of(SCALARS[expected[SCALARS]]), pattern
