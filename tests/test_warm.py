import os
import subprocess
import sys

from numbatok import warmup
from numbatok.groups import GROUPS
from numbatok.warm import draw_bar


def test_warmup_reports_each_step_and_finds_nothing_to_do_twice(gpt2):
    seen = []
    warmup(lambda *step: seen.append(step))
    again = warmup(progress=False)

    n_steps = len(GROUPS) + 2
    assert [done for done, _, _ in seen] == list(range(n_steps + 1))
    assert {steps for _, steps, _ in seen} == {n_steps}
    assert {name for _, _, name in seen[1:]} == {
        "gpt2 tables",
        "parallel driver",
        *(f"{group} kernels" for group in GROUPS),
    }
    assert (again.compiled, again.steps) == (0, n_steps)
    assert str(again).startswith("everything was ready")


def test_bar_fills_and_ends_its_line(capsys):
    draw_bar(1, 4, "core kernels", width=8)
    draw_bar(4, 4, "gpt2 tables", width=8)

    assert capsys.readouterr().err == (
        "\x1b[K██░░░░░░ 1/4 core kernels\r\x1b[K████████ 4/4 gpt2 tables\n"
    )


def test_no_bar_when_standard_error_is_no_terminal(gpt2):
    warmup(progress=False)
    code = "import numbatok; print(numbatok.warmup().compiled)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True
    )

    assert done.stdout == "0\n"
    assert done.stderr == ""
