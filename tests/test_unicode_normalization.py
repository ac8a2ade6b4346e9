"""The normalization, lowercase and accent tables equal what `tokenizers` does, on every scalar."""

import random

import numpy as np
import pytest

from numbatok.unicode import normalization as tables
from numbatok.unicode.normalization import (
    combining_class,
    composition,
    decomposition,
    normalization_tables,
)
from tests.unicode_probes import SCALARS, text_of, tokenizers

pytestmark = pytest.mark.oracle
FORMS = ["NFC", "NFD", "NFKC", "NFKD"]
CHANGES = {
    "NFC": tables.NFC_CHANGES,
    "NFD": tables.NFD_CHANGES,
    "NFKC": tables.NFKC_CHANGES,
    "NFKD": tables.NFKD_CHANGES,
}
CHANGED = {"NFC": 2_060 - 940, "NFD": 2_060 + 11_172, "NFKC": 4_794, "NFKD": 5_722 + 11_172}
# Around a character: what it may combine with, what may block it, what must be reordered.
CONTEXTS = ["a{}", "{}\u0301", "e\u0323{}", "a\u0315{}\u0300", "\u1100{}", "{}\u11a8", "\uac00{}"]
CONTEXTS += [
    "{}\u1161",
    "{0}{0}",
    "\u0b47{}",
    "{}\u3099",
    "\u0338{}x",
    "{}\u11a7",
    "\u1112{}\u11c2",
]


def normalize(form, text):
    return getattr(tokenizers.normalizers, form)().normalize_str(text)


def column(name):
    """Return a column of the tables as an array over all code points."""
    arrays = normalization_tables()
    return getattr(arrays, name).reshape(-1, 256)[arrays.pages].reshape(-1)


def hangul_parts(code):
    index = code - tables.HANGUL_SYLLABLES
    if not 0 <= index < tables.HANGUL_SYLLABLE_COUNT:
        return ()
    index, trailing = divmod(index, tables.HANGUL_TRAILING_COUNT)
    leading, vowel = divmod(index, tables.HANGUL_VOWEL_COUNT)
    parts = (tables.HANGUL_LEADING + leading, tables.HANGUL_VOWELS + vowel)
    return parts + ((tables.HANGUL_TRAILING + trailing,) if trailing else ())


def hangul_pair(first, second):
    leading, vowel = first - tables.HANGUL_LEADING, second - tables.HANGUL_VOWELS
    if 0 <= leading < tables.HANGUL_LEADING_COUNT and 0 <= vowel < tables.HANGUL_VOWEL_COUNT:
        syllable = leading * tables.HANGUL_VOWEL_COUNT + vowel
        return tables.HANGUL_SYLLABLES + syllable * tables.HANGUL_TRAILING_COUNT
    trailing = second - tables.HANGUL_TRAILING
    if len(hangul_parts(first)) == 2 and 0 < trailing < tables.HANGUL_TRAILING_COUNT:
        return first + trailing
    return None


def ordered(codes):
    result, run = [], []
    for code in codes:
        if combining_class(code) == 0:
            result += sorted(run, key=combining_class)
            run = []
            result.append(code)
        else:
            run.append(code)
    return result + sorted(run, key=combining_class)


def composed(codes):
    result, starter, last_class = [], None, 0
    for code in codes:
        this_class = combining_class(code)
        blocked = starter is not None and len(result) - 1 > starter and last_class >= this_class
        pair = None
        if starter is not None and not blocked:
            first = result[starter]
            pair = hangul_pair(first, code) or composition(first, code)
        if pair is not None:
            result[starter] = pair
            continue
        if this_class == 0:
            starter = len(result)
        result.append(code)
        last_class = this_class
    return result


def by_tables(form, text):
    compatibility = "K" in form
    codes = []
    for code in map(ord, text):
        codes += hangul_parts(code) or decomposition(code, compatibility) or (code,)
    codes = ordered(codes)
    return "".join(map(chr, composed(codes) if form.endswith("C") else codes))


def each_alone(normalizer, before=""):
    """Return what becomes of `before` and each scalar, in one call, between newlines."""
    stretch = [SCALARS] if not before else [np.full(SCALARS.size, ord(before)), SCALARS]
    text = text_of(np.stack([*stretch, np.full(SCALARS.size, 0x0A)], axis=1).reshape(-1))
    newline = int(np.flatnonzero(SCALARS == 0x0A)[0])
    answers = normalizer.normalize_str(text).split("\n")
    answers[newline : newline + 2] = [answers[newline] + "\n"]
    assert len(answers) == SCALARS.size + 1
    return answers[:-1]


def interesting(step=1):
    """Return the scalars that a form may change or that order matters for, Hangul thinned out."""
    some = (column("flags") != 0) | (column("combining") != 0)
    hangul = np.arange(0x110000)[0xAC00:0xD7A4]
    some[hangul[hangul % step != 0]] = False
    return np.flatnonzero(some).tolist()


@pytest.mark.parametrize("form", FORMS)
def test_every_scalar_alone(form):
    answers = each_alone(getattr(tokenizers.normalizers, form)())
    may_change = (column("flags") & CHANGES[form])[SCALARS] != 0
    changed = 0
    for code, answer, flag in zip(SCALARS.tolist(), answers, may_change.tolist(), strict=True):
        expected = by_tables(form, chr(code)) if flag else chr(code)
        assert answer == expected, hex(code)
        changed += answer != chr(code)
        assert flag or answer == chr(code)
        assert not flag or answer != chr(code) or COMBINES[code], hex(code)
    assert changed == CHANGED[form]
    print(f"{form}: {SCALARS.size:,} scalars compared, {changed:,} change")


COMBINES = column("flags") & tables.COMBINES_BACKWARD != 0


def contexts_differ(form, codes, contexts):
    """Return the texts that the tables do not normalize as the library does."""
    texts = [context.format(chr(code)) for code in codes for context in contexts]
    return [text for text in texts if by_tables(form, text) != normalize(form, text)]


@pytest.mark.parametrize("form", FORMS)
def test_characters_in_contexts(form):
    codes = interesting(step=97)

    assert contexts_differ(form, codes, CONTEXTS) == []
    assert len(codes) * len(CONTEXTS) > 90_000
    print(f"{form}: {len(codes) * len(CONTEXTS):,} texts compared")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_scalar_in_contexts(form):
    codes = SCALARS.tolist()

    assert contexts_differ(form, codes, ["a{}\u0301", "\u1100{}\u11a8"]) == []
    assert contexts_differ(form, interesting(), CONTEXTS) == []


def random_texts(codes, count, seed):
    source = random.Random(seed)
    return ["".join(map(chr, source.choices(codes, k=source.randint(2, 8)))) for _ in range(count)]


@pytest.mark.parametrize("form", FORMS)
def test_random_texts(form):
    marks = np.flatnonzero(column("combining")).tolist()
    texts = random_texts(interesting() + marks * 20, 10_000, 20)
    texts += random_texts(marks, 2_000, 21)

    assert [text for text in texts if by_tables(form, text) != normalize(form, text)] == []


@pytest.mark.parametrize("form", FORMS)
def test_text_that_the_quick_check_passes_does_not_change(form):
    flags, classes = column("flags"), column("combining")
    passing = np.flatnonzero((flags & CHANGES[form] == 0) & (classes > 0)).tolist()
    passing += np.flatnonzero((flags & CHANGES[form] == 0) & (flags != 0)).tolist()
    passing += [code for code in SCALARS[::211].tolist() if flags[code] & CHANGES[form] == 0]
    texts = [
        "".join(map(chr, ordered(map(ord, text)))) for text in random_texts(passing, 20_000, 3)
    ]

    assert [text for text in texts if normalize(form, text) != text] == []


def test_a_planted_fault_is_found(monkeypatch):
    real = normalization_tables()
    classes = real.combining.copy()
    classes[tables.place(real, 0x0301)] = 1
    wrong = real._replace(combining=classes)
    monkeypatch.setattr(tables, "normalization_tables", lambda: wrong)

    assert contexts_differ("NFD", [0x0316, 0x0301], ["a\u0323{}", "a{}\u0301"]) != []


def test_pairs_compose_and_are_all_there():
    arrays = normalization_tables()
    firsts, seconds = arrays.pair_keys >> np.uint64(32), arrays.pair_keys & np.uint64(0xFFFFFFFF)
    for first, second, whole in zip(firsts, seconds, arrays.pair_composites, strict=True):
        text = chr(first) + chr(second)
        assert composition(int(first), int(second)) == whole
        assert normalize("NFC", text) == chr(whole)
    jamo = [0x1100 + i for i in range(19)], [*range(0x1161, 0x1176), *range(0x11A7, 0x11C3)]
    combining = {*seconds.tolist(), *jamo[1]} - {0x11A7}

    assert (np.diff(arrays.pair_keys.astype(np.int64)) > 0).all()
    assert arrays.pair_keys.size == 940
    assert composition(0x61, 0x62) is None
    assert set(np.flatnonzero(COMBINES)) == combining


def test_data_is_of_unicode_9():
    unicodedata2 = pytest.importorskip("unicodedata2")
    for code in (0x11938, 0x105C9, 0x10D24, 0x32FF, 0x16121):  # assigned after 9.0
        later = unicodedata2.normalize("NFKD", chr(code)), unicodedata2.combining(chr(code))
        assert later != (chr(code), 0)
        assert normalize("NFKD", chr(code)) == by_tables("NFKD", chr(code)) == chr(code)
        assert combining_class(code) == 0


def test_growth_is_bounded():
    grown = {"canonical": 0.0, "compatibility": 0.0, "lowercase": 0.0}
    for name in grown:
        numbers = column(name)
        for code in np.flatnonzero(numbers).tolist():
            codes = tables.sequence(normalization_tables(), int(numbers[code]))
            size = sum(len(chr(part).encode()) for part in codes)
            grown[name] = max(grown[name], size / len(chr(code).encode()))

    assert grown == {"canonical": 3.0, "compatibility": 11.0, "lowercase": 1.5}


def test_lowercase_of_every_scalar():
    lower = tokenizers.normalizers.Lowercase()
    changed = 0
    for before in ("", "\u0391"):  # a capital before it: no final sigma
        for code, answer in zip(SCALARS.tolist(), each_alone(lower, before), strict=True):
            expected = tables.lowercase(code)
            text = "".join(map(chr, expected or (code,)))
            assert answer == (before and "\u03b1") + text, hex(code)
            changed += bool(expected)
    assert changed == 2 * 1_488
    assert tables.lowercase(0x130) == (0x69, 0x307)


def test_accents_of_every_scalar():
    answers = each_alone(tokenizers.normalizers.StripAccents(), "a")
    accents = column("flags") & tables.IS_ACCENT != 0
    for code, answer in zip(SCALARS.tolist(), answers, strict=True):
        assert answer == ("a" if accents[code] else f"a{chr(code)}"), hex(code)
    assert accents.sum() == 2_097
    assert tables.is_accent(0x0301) and not tables.is_accent(0xE9)


def test_columns_have_the_documented_shapes():
    arrays = normalization_tables()
    places = (int(arrays.pages.max()) + 1) * 256
    by_place = ["flags", "combining", "canonical", "compatibility", "lowercase"]

    assert arrays.pages.shape == (0x1100,)
    assert {getattr(arrays, name).shape for name in by_place} == {(places,)}
    assert arrays.sequence_offsets[0] == arrays.sequence_offsets[1] == 0
    assert arrays.sequence_offsets[-1] == arrays.sequences.size
    assert max(int(getattr(arrays, name).max()) for name in by_place[2:]) == (
        arrays.sequence_offsets.size - 2
    )
    assert not any(array.flags.writeable for array in arrays)
    assert [str(array.dtype) for array in arrays] == (
        ["uint8"] * 3 + ["uint16"] * 4 + ["uint32", "uint64", "uint32"]
    )
