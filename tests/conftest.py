"""What all tests share: a cache directory of the run, the embedded tokenizer, published files."""

from __future__ import annotations

import lzma
import os
import sys
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("NUMBATOK_SHARED", ROOT.parent / "shared")).resolve()
ON_CI = os.environ.get("NUMBATOK_CI", "") not in ("", "0")

# Objects are named by a digest of the kernels' sources, so a cache that stays is never stale.
os.environ.setdefault("NUMBATOK_CACHE_DIR", str(ROOT / ".cache" / "tests"))
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed with the package

for name, examples in {"small": 25, "dev": 50, "ci": 300, "soak": 20_000}.items():
    # no deadline: the first call compiles
    hypothesis.settings.register_profile(name, max_examples=examples, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def unpacked(relative: str) -> Path:
    """Return a file of the shared folder, decompressed; skip the test where it is absent."""
    packed = SHARED / f"{relative}.xz"
    if not packed.exists():
        pytest.skip(f"{packed} is absent (NUMBATOK_SHARED names the folder that has vocabs/)")
    target = ROOT / ".cache" / "unpacked" / relative
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{target.name}.{os.getpid()}")
        partial.write_bytes(lzma.decompress(packed.read_bytes()))
        partial.replace(target)
    return target


@pytest.fixture(scope="session")
def vocab_file():
    """Return a function (name, file) -> path of a published tokenizer file."""
    return lambda name, file: unpacked(f"vocabs/{name}/{file}")


@pytest.fixture(scope="session")
def corpus():
    """Return a function name -> the bytes of a real text."""
    return lambda name: unpacked(f"corpora/{name}.txt").read_bytes()


@pytest.fixture(scope="session")
def gpt2():
    """Return the embedded tokenizer."""
    import numbatok

    return numbatok.load("gpt2")


@pytest.fixture
def cli(capfdbinary):
    """Return a function that runs a command line here: exit code, output, errors."""
    from numbatok.cli import main

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return code, out, err.decode()

    return run


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """On CI a comparison with a library may not be skipped while its data is there."""
    outcome = yield
    report = outcome.get_result()
    must_run = ON_CI and SHARED.is_dir() and item.get_closest_marker("oracle")
    if must_run and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but {SHARED} is here: {call.excinfo.value}"
