"""The Unicode tables equal their sources and what the libraries do, entry by entry."""

import ast
import hashlib
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from numbatok import unicode
from numbatok.errors import InvalidValue, NumbatokError
from numbatok.unicode import properties, store
from numbatok.unicode.categories import GROUPS

ROOT = Path(__file__).parents[1]
COUNTS = {"L": 141_028, "M": 2_501, "N": 1_911, "P": 855, "S": 8_514}
WHITE_SPACE = [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]
WHITE_SPACE += [0x2028, 0x2029, 0x202F, 0x205F, 0x3000]


def all_tables():
    return {
        "general_categories": unicode.general_categories(),
        "white_space": unicode.white_space(),
        "han": unicode.han(),
        "word_characters": unicode.word_characters(),
        "oniguruma_word_characters": unicode.oniguruma_word_characters(),
        "numeric_characters": unicode.numeric_characters(),
        "punctuation_characters": unicode.punctuation_characters(),
        "cutting_scripts": unicode.cutting_scripts(),
        **{f"category {name}": unicode.category(name) for name in GROUPS},
        **{f"script {name}": unicode.script(name) for name in unicode.SCRIPT_NAMES},
        **{name: unicode.posix_bracket(name) for name in properties.POSIX_BRACKETS},
    }


def digest(tables):
    return hashlib.sha256(b"".join(tables[name].tobytes() for name in sorted(tables))).hexdigest()


def differences_from(category_of):
    expected = np.array(
        [unicode.CATEGORY_NAMES.index(category_of(chr(code))) for code in range(0x110000)]
    )
    return int((expected != unicode.general_categories()).sum())


def test_categories_equal_those_of_unicodedata2():
    unicodedata2 = pytest.importorskip("unicodedata2")
    if unicodedata2.unidata_version != unicode.UNICODE_VERSION:
        pytest.skip(f"unicodedata2 is {unicodedata2.unidata_version}")

    assert differences_from(unicodedata2.category) == 0
    print(f"{unicode.CODE_POINTS:,} categories compared")


def test_the_running_python_has_no_say():
    if unicodedata.unidata_version == unicode.UNICODE_VERSION:
        pytest.skip("this Python has the same Unicode version")

    assert differences_from(unicodedata.category) > 1_000


def test_class_counts():
    for group, count in COUNTS.items():
        assert unicode.category(group).sum() == count
    assert np.flatnonzero(unicode.white_space()).tolist() == WHITE_SPACE
    assert unicode.script("Han").sum() == unicode.han().sum() == 99_030
    assert unicode.word_characters().sum() == 144_667
    assert unicode.oniguruma_word_characters().sum() == 144_671
    assert unicode.posix_bracket("word").sum() == 144_665


def test_categories_and_scripts_are_partitions():
    assert len(unicode.CATEGORY_NAMES) == 30
    every_category = sum(unicode.category(name).astype(int) for name in unicode.CATEGORY_NAMES)
    every_script = sum(unicode.script(name).astype(int) for name in unicode.SCRIPT_NAMES)

    assert (every_category == 1).all()
    assert (every_script == 1).all()


def test_tables_are_read_only_and_cover_all_code_points():
    for name, table in all_tables().items():
        assert table.shape == (0x110000,), name
        assert table.dtype == (np.uint8 if name in NUMBERED else np.bool_), name
        assert not table.flags.writeable, name


NUMBERED = ("general_categories", "cutting_scripts")


def test_aliases_name_the_same_set():
    for one, other in [("Han", "hani"), ("Latin", "latn"), ("Inherited", "Qaai"), ("Nko", "NKOO")]:
        assert np.array_equal(unicode.script(one), unicode.script(other))
    for one, other in [("Lu", "uppercase letter"), ("P", "punct"), ("Alpha", "alphabetic")]:
        assert np.array_equal(unicode.oniguruma_property(one), unicode.oniguruma_property(other))
    assert unicode.oniguruma_property("Word", in_brackets=True).sum() == 144_665
    assert unicode.oniguruma_property("Word").sum() == 144_671


@pytest.mark.parametrize(
    ("lookup", "name"),
    [
        (unicode.category, "Letter"),
        (unicode.script, "Klingon"),
        (unicode.binary_property, "Bidi_Mirrored"),
        (unicode.posix_bracket, "Alpha"),
        (unicode.oniguruma_property, "Script=Han"),
    ],
)
def test_an_unknown_name_is_refused_by_name(lookup, name):
    with pytest.raises(InvalidValue, match=re.escape(name)):
        lookup(name)


def test_case_variants():
    assert unicode.case_variants(ord("s")) == (0x53, 0x73, 0x17F)
    assert unicode.case_variants(0x212A) == (0x4B, 0x6B, 0x212A)
    assert unicode.case_variants(ord("1")) == (0x31,)
    assert unicode.case_expansion(0xDF) == (0x73, 0x73)
    assert unicode.case_expansion(ord("s")) == ()
    for code_point in range(0x110000):
        variants = unicode.case_variants(code_point)
        assert code_point in variants
        assert all(unicode.case_variants(variant) == variants for variant in variants)


def test_close_under_case_is_the_union_of_variants():
    upper = unicode.category("Lu")
    expected = {v for code in np.flatnonzero(upper) for v in unicode.case_variants(int(code))}

    assert set(np.flatnonzero(unicode.close_under_case(upper))) == expected


@pytest.mark.parametrize("damage", ["missing", "flipped", "short"])
def test_a_damaged_file_is_reported(damage, tmp_path, monkeypatch):
    name = "unicode-categories.bin"
    content = bytearray((store.FOLDER / name).read_bytes())
    content[len(content) // 2] ^= damage == "flipped"
    if damage != "missing":
        (tmp_path / name).write_bytes(content[: len(content) - 100 * (damage == "short")])
    monkeypatch.setattr(store, "FOLDER", tmp_path)

    with pytest.raises(NumbatokError, match=r"unicode-categories\.bin.*reinstall numbatok"):
        store.read(name)


def test_the_data_files_are_those_that_the_readme_lists():
    text = (ROOT / "data" / "README.md").read_text()
    files = sorted(store.FOLDER.glob("unicode-*.bin"))

    assert len(files) == 3
    assert sum(path.stat().st_size for path in files) < 150_000
    for path in files:
        assert hashlib.sha256(path.read_bytes()).hexdigest() in text, path.name


def test_the_tables_need_no_other_unicode_database():
    code = f"""
import sys
for name in ("unicodedata2", "regex", "numba"):
    sys.modules[name] = None
import unicodedata
for name in ("category", "normalize", "combining", "decomposition"):
    setattr(unicodedata, name, None)
sys.path[:0] = {[str(ROOT), str(Path(__file__).parent)]!r}
from tests import test_unicode
print(test_unicode.digest(test_unicode.all_tables()))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.stdout.strip() == digest(all_tables()), result.stderr


def test_no_character_method_of_str_is_used():
    methods = {"isalpha", "isspace", "isdigit", "isnumeric", "isupper", "islower", "casefold"}
    paths = list((ROOT / "numbatok" / "unicode").glob("*.py"))
    trees = [ast.walk(ast.parse(path.read_text())) for path in paths]
    used = {node.attr for tree in trees for node in tree if isinstance(node, ast.Attribute)}

    assert len(paths) >= 7
    assert not used & methods
