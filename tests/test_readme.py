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

    assert re.findall(r"```sh\n(.*?)\n```", setup) == [block.strip() for block in blocks("sh")[:2]]
    assert "pip install . && numbatok encode" in blocks("sh")[0]
    assert 'pip install -e ".[test]" && python -m pytest' in blocks("sh")[1]


@pytest.mark.skipif(os.name == "nt", reason="the examples are of a Unix shell")
def test_shell_examples_run(tmp_path, gpt2):
    (example,) = blocks("sh")[2:]
    function = f'set -e\nnumbatok() {{ "{sys.executable}" -m numbatok "$@"; }}\n'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", function + example], cwd=tmp_path, env=environment,
        capture_output=True, text=True,
    )  # fmt: skip

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
    for name in ("benchmark", "training", "loads"):
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
