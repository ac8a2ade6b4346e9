"""Write numbatok/data/unicode-*.bin from published Unicode data.

    pip install unicodedata2==16.0.0; python data/build_unicode.py [--sources FOLDER] [--check]

The general categories of two independent packages are compared, and so are the normalization data
of Unicode 9.0 and of 16.0 over what 9.0 assigns. `--check` compares the result with the files in
the tree instead of writing them, and exits with 1 if anything differs. The format of the files is
that of `numbatok/unicode/store.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import unicodedata2
from numpy.typing import NDArray
from unicode_normalization_tables import normalization_file
from unicode_sources import CODE_POINTS, fetch, members, read_aliases, read_version

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from numbatok.unicode.names import CATEGORY_NAMES, SCRIPT_NAMES  # noqa: E402

COUNTS = {"L": 141_028, "M": 2_501, "N": 1_911, "P": 855, "S": 8_514}
WHITE_SPACE = [
    *range(0x09, 0x0E),
    *(0x20, 0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
]
HAN_COUNT = 99_030
# Not properties that `\p{...}` of Oniguruma knows (or, for InCB, not the same set).
NOT_IN_PATTERNS = re.compile(
    r"Expands_On_\w+|NFKC_\w+|Changes_When_NFKC_Casefolded|\w*Composition_Exclusion"
    r"|Bidi_Mirrored|InCB"
)

Mask = NDArray[np.bool_]
File = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def value_runs(values: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return the value and the length of every run of equal values."""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    return values[starts], np.diff(starts, append=values.size).astype(np.uint32)


def member_runs(mask: Mask) -> NDArray[np.uint32]:
    """Return the lengths of the runs outside and inside a set by turns, outside first."""
    changes = np.flatnonzero(np.diff(mask, prepend=False))
    return np.diff(changes, prepend=0, append=mask.size).astype(np.uint32)


def expect(fact: bool, what: str) -> None:
    """End with an error unless `fact` holds."""
    if not fact:
        raise SystemExit(f"the sources do not agree: {what}")


def number_values(values: dict[str, list[int]], names: tuple[str, ...]) -> NDArray[np.uint8]:
    """Return uint8[CODE_POINTS]: the place in `names` of each code point's value."""
    result = np.full(CODE_POINTS, 255, np.uint8)
    for number, name in enumerate(names):
        inside = members(values[name])
        expect(bool((result[inside] == 255).all()), f"{name} overlaps another value")
        result[inside] = number
    expect(bool((result != 255).all()), "a code point has no value")
    return result


def general_categories(npm: dict[str, list[int]], aliases: list[tuple[str, str]]) -> Any:
    """Return the numbered categories; both packages must agree on all 1,114,112 code points."""
    long_names = {short: long for short, long in aliases if short in CATEGORY_NAMES}
    expect(len(long_names) == 30, "the aliases do not name 30 categories")
    numbers = {name: number for number, name in enumerate(CATEGORY_NAMES)}
    first = [numbers[unicodedata2.category(chr(code))] for code in range(CODE_POINTS)]
    second = number_values(npm, tuple(long_names[name] for name in CATEGORY_NAMES))
    expect(np.array_equal(np.array(first, np.uint8), second), "general categories")
    return second


def categories_file(npm: dict[str, Any], aliases: dict[str, Any]) -> File:
    """Return what every pattern needs: categories, white space, Han."""
    expect(unicodedata2.unidata_version == "16.0.0", "unicodedata2 is not 16.0.0")
    categories = general_categories(npm["General_Category"], aliases["General_Category"])
    for group, count in COUNTS.items():
        numbers = [i for i, name in enumerate(CATEGORY_NAMES) if name.startswith(group)]
        expect(int(np.isin(categories, numbers).sum()) == count, f"number of {group}")
    white_space = members(npm["Binary_Property"]["White_Space"])
    expect(np.flatnonzero(white_space).tolist() == WHITE_SPACE, "white space")
    han = members(npm["Script"]["Han"])
    expect(int(han.sum()) == HAN_COUNT, "number of Han")
    values, lengths = value_runs(categories)
    return {"unicode": "16.0.0"}, {
        "category.values": values,
        "category.lengths": lengths,
        "white_space": member_runs(white_space),
        "han": member_runs(han),
    }


def loose(name: str) -> str:
    """Return a property name as Oniguruma compares it: case, space, `_` and `-` do not count."""
    return re.sub(r"[ _-]", "", name).lower()


def case_groups(folding: dict[str, list[list[Any]]]) -> list[list[int]]:
    """Return the sets of two or more code points that simple case folding makes equal."""
    groups: dict[int, set[int]] = {}
    for source, target in [*folding["C"], *folding["S"]]:
        groups.setdefault(target, {target}).add(source)
    return sorted(sorted(group) for group in groups.values())


def case_arrays(folding: dict[str, list[list[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the case groups and the full case foldings."""
    groups = case_groups(folding)
    numbered = sorted((code, number) for number, group in enumerate(groups) for code in group)
    expansions = sorted((code, [*target, 0, 0][:3]) for code, target in folding["F"])
    return {
        "case.code_points": np.array([code for code, _ in numbered], np.uint32),
        "case.groups": np.array([number for _, number in numbered], np.uint16),
        "expansion.code_points": np.array([code for code, _ in expansions], np.uint32),
        "expansion.targets": np.array([t for _, target in expansions for t in target], np.uint32),
    }


def component_arrays(sources: Path) -> dict[str, NDArray[Any]]:
    """Return the sets of Hugging Face's Rust components, each of its own Unicode version."""
    numeric = read_version(sources, 17, "General_Category")["General_Category"]["Number"]
    punctuation = members(
        read_version(sources, 8, "General_Category")["General_Category"]["Punctuation"]
    )
    punctuation[[code for code in range(0x21, 0x7F) if not chr(code).isalnum()]] = True
    old = read_version(sources, 9, "Script")["Script"]
    scripts = np.full(CODE_POINTS, SCRIPT_NAMES.index("Unknown"), np.uint8)
    for name, ranges in old.items():
        kana = name in ("Hiragana", "Katakana")
        scripts[members(ranges)] = SCRIPT_NAMES.index("Han" if kana else name)
    scripts[0x30FC] = SCRIPT_NAMES.index("Han")
    scripts[0x20] = SCRIPT_NAMES.index("Unknown")
    values, lengths = value_runs(scripts)
    return {
        "numeric": member_runs(members(numeric)),
        "punctuation": member_runs(punctuation),
        "cutting_script.values": values,
        "cutting_script.lengths": lengths,
    }


def alias_table(npm: dict[str, Any], pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return loose name -> long name of the values that the data has."""
    known = [(name, name) for name in npm] + [pair for pair in pairs if pair[1] in npm]
    return dict(sorted({loose(alias): long for alias, long in known}.items()))


def properties_file(npm: dict[str, Any], aliases: dict[str, Any], sources: Path) -> File:
    """Return scripts, binary properties, case, and the sets of the components."""
    expect(sorted(npm["Script"]) == sorted(SCRIPT_NAMES), "names of scripts")
    values, lengths = value_runs(number_values(npm["Script"], SCRIPT_NAMES))
    names = [name for name in npm["Binary_Property"] if not NOT_IN_PATTERNS.fullmatch(name)]
    runs = [member_runs(members(npm["Binary_Property"][name])) for name in sorted(names)]
    short = {long: alias for alias, long in aliases["General_Category"] if len(alias) <= 2}
    long_categories = alias_table(npm["General_Category"], aliases["General_Category"])
    header = {
        "unicode": "16.0.0",
        "binary": sorted(names),
        "category_aliases": {alias: short[long] for alias, long in long_categories.items()},
        "script_aliases": alias_table(npm["Script"], aliases["Script"]),
        "binary_aliases": alias_table(dict.fromkeys(names), aliases["Binary_Property"]),
    }
    return header, {
        "script.values": values,
        "script.lengths": lengths,
        "binary.runs": np.concatenate(runs),
        "binary.offsets": np.cumsum([0, *map(len, runs)]).astype(np.uint32),
        **case_arrays(npm["Case_Folding"]),
        **component_arrays(sources),
    }


def lay_out(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    """Return a file's content before compression: a line of JSON, then the arrays."""
    little = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    kinds = {name: [array.dtype.str, array.size] for name, array in little.items()}
    text = json.dumps({**header, "arrays": kinds}, separators=(",", ":")).encode() + b"\n"
    parts = [text, *(array.tobytes() for array in little.values())]
    return b"".join(part.ljust(-(-len(part) // 8) * 8, b"\0") for part in parts)


def build(sources: Path) -> dict[str, File]:
    """Return file name -> header and arrays of every file."""
    fetch(sources)
    properties = ("General_Category", "Script", "Binary_Property", "Case_Folding")
    npm = read_version(sources, 16, *properties)
    aliases = read_aliases(sources)
    return {
        "unicode-categories.bin": categories_file(npm, aliases),
        "unicode-properties.bin": properties_file(npm, aliases, sources),
        "unicode-normalization.bin": normalization_file(sources),
    }


def main() -> None:
    """Write the files, or compare them with those in the tree."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sources", type=Path, default=ROOT / ".cache" / "unicode")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    differing = []
    for name, (header, arrays) in build(arguments.sources).items():
        path = ROOT / "numbatok" / "data" / name
        content = lay_out(header, arrays)
        packed = zlib.compress(content, 9)
        if not arguments.check:
            path.write_bytes(packed)
        elif zlib.decompress(path.read_bytes()) != content:
            differing.append(name)
        print(f"{name}: {len(packed):,} bytes")
    if differing:
        raise SystemExit(f"not what the sources give: {', '.join(differing)}")


if __name__ == "__main__":
    main()
