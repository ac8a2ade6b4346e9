"""Put the portable code of the kernels into the wheel, so that a first run compiles in a second.

Made from the sources beside this file by Numba, which the build therefore requires. Editable
installs go without: their sources change.
"""

from __future__ import annotations

import lzma
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelBuildHook(BuildHookInterface):
    """Compile every group of kernels and include the results in the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel is built."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from numbatok.groups import GROUPS
        from numbatok.native import sources_digest

        self._folder = tempfile.TemporaryDirectory()

        def compile_group(group: str) -> None:
            code = Path(self._folder.name) / f"{group}.ll"
            command = [sys.executable, "-m", "numbatok.lowering", group, str(code)]
            subprocess.run(command, cwd=self.root, check=True)
            packed = code.with_suffix(".ll.xz")
            header = f"; {sources_digest(group)}\n".encode()
            packed.write_bytes(lzma.compress(header + code.read_bytes()))
            build_data["force_include"][str(packed)] = f"numbatok/compiled/{group}.ll.xz"

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(compile_group, GROUPS))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called when the wheel is written."""
        if version != "editable":
            self._folder.cleanup()
