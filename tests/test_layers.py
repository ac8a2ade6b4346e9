import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def lint(config):
    pytest.importorskip("importlinter")
    code = "import sys; from importlinter.cli import lint_imports_command as c; c(sys.argv[1:])"
    command = [sys.executable, "-c", code, "--config", str(config), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_imports_point_down():
    done = lint(ROOT / "pyproject.toml")

    assert done.returncode == 0, done.stdout
    assert ", 0 broken" in done.stdout


def test_the_check_sees_an_import_that_points_up(tmp_path):
    text = (ROOT / "pyproject.toml").read_text()
    assert '"tokenizer : training"' in text
    upside_down = text.replace('    "cli",\n', "").replace(
        '    "errors | version",\n', '    "errors | version",\n    "cli",\n'
    )
    (tmp_path / "pyproject.toml").write_text(upside_down)

    done = lint(tmp_path / "pyproject.toml")

    assert done.returncode == 1
    assert "Imports point down BROKEN" in done.stdout


def run_python(code):
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split(), done.stderr


HEAVY = ("numpy", "numba", "llvmlite", "pyarrow", "tokenizers", "tiktoken", "transformers")


def test_import_is_light():
    """Under 50 ms on an idle machine; the fastest of five, because others share this one."""
    code = f"import sys, numbatok; print(*[m for m in {HEAVY} if m in sys.modules])"
    loaded, _ = run_python(code)
    assert loaded == []

    times = []
    for _ in range(5):
        _, report = run_python("import numbatok")
        line = next(line for line in report.splitlines() if line.endswith(" numbatok"))
        times.append(int(line.split("|")[1]))
    print(f"import numbatok: {min(times) / 1000:.1f} ms")
    assert min(times) < 50_000


def test_encoding_with_a_full_cache_imports_neither_numba_nor_optional_packages(gpt2):
    heavy = [name for name in HEAVY if name not in ("numpy", "llvmlite")]
    code = (
        "import sys, numbatok; numbatok.load('gpt2').encode_batch(['a'] * 10);"
        f"print(*[m for m in {heavy} if m in sys.modules])"
    )
    loaded, _ = run_python(code)

    assert loaded == []


def test_the_command_line_starts_without_numpy():
    loaded, _ = run_python(
        "import sys\n"
        "from numbatok.cli.parser import make_parser\n"
        "make_parser()\n"
        f"print(*[m for m in {HEAVY} if m in sys.modules])"
    )

    assert loaded == []
