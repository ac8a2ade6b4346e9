"""What the README shows is what happens."""

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import numbatok
from numbatok.cli.parser import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/bytes.md"]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_python_examples_give_what_they_show(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    examples = "\n".join(blocks("pycon"))
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(
        optionflags=doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
    )  # fmt: skip
    test = parser.get_doctest(examples, {}, "README.md", str(ROOT / "README.md"), 0)

    failed, tried = runner.run(test)

    assert tried >= 10
    assert failed == 0


def test_set_up_is_two_commands_at_the_top():
    setup = README.split("## ")[0]

    shown = re.findall(r"```sh\n(.*?)```", setup, flags=re.DOTALL)
    assert shown == blocks("sh")[:2]
    assert 'pip install ".[files]" &&' in blocks("sh")[0]
    assert 'pip install -e ".[test]" && python -m pytest' in blocks("sh")[1]


def run_in_shell(commands, folder):
    functions = "".join(
        f'{name}() {{ "{sys.executable}" {options} "$@"; }}\n'
        for name, options in (("python", ""), ("numbatok", "-m numbatok"))
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", "set -e\n" + functions + commands], cwd=folder, env=environment,
        capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="the command is of a Unix shell")
def test_the_first_command_encodes_a_parquet_file_and_a_text(tmp_path, gpt2):
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    _, command = blocks("sh")[0].split('pip install ".[files]" &&')

    done = run_in_shell(command, tmp_path)

    assert done.returncode == 0, done.stderr
    assert "15496 11 995" in done.stdout.splitlines()
    rows = pq.read_table(tmp_path / "ids.parquet").to_pylist()
    assert [row["text"] for row in rows] == ["Hello, world", None, "A dataset of any size"]
    assert [row["ids"] for row in rows] == [
        None if row["text"] is None else gpt2.encode(row["text"]).tolist() for row in rows
    ]


@pytest.mark.skipif(os.name == "nt", reason="the examples are of a Unix shell")
def test_shell_examples_run(tmp_path, gpt2):
    (example,) = blocks("sh")[2:]
    done = run_in_shell(example, tmp_path)

    assert done.returncode == 0, done.stderr
    assert "Hello, world\n" in done.stdout
    assert "no: it loads" in done.stdout and "equal" in done.stdout
    commands = set(re.findall(r"^numbatok (\w+)", example, flags=re.MULTILINE))
    assert commands == set(COMMANDS)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    for link in links:
        if not link.startswith(("http", "#")):
            assert ((ROOT / page).parent / link).exists(), f"{page}: {link}"


def test_the_tables_have_one_place_each():
    for name in ("benchmark", "columns", "training", "loads"):
        assert README.count(f"<!-- {name}:begin -->") == README.count(f"<!-- {name}:end -->") == 1


def test_public_names_in_the_text_exist(gpt2):
    methods = set(re.findall(r"`tok\.(\w+)", README))
    functions = set(re.findall(r"`numbatok\.(\w+)", README))

    assert len(methods) >= 3
    assert all(hasattr(gpt2, name) for name in methods)
    assert all(hasattr(numbatok, name) for name in functions)


@pytest.mark.slow
def test_the_table_of_what_loads_is_true():
    path = ROOT / "data" / "build_support_table.py"
    specification = importlib.util.spec_from_file_location("build_support_table", path)
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    if not script.VOCABS.is_dir():
        pytest.skip(f"{script.VOCABS} is absent (NUMBATOK_SHARED names the folder with vocabs/)")

    assert script.with_table(README, script.table()) == README, f"run python {path.name}"
