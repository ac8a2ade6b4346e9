"""The rules of the kernels and the size budgets; budgets are printed and argued, not enforced."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from numbatok import native
from numbatok.groups import GROUPS

PACKAGE = Path(native.__file__).parent
KERNELS = sorted(PACKAGE.glob("kernels/**/*.py"))
ENTRIES = [(group, name) for group, entries in GROUPS.items() for name in entries]
DECORATORS = {"kernel", "part", "entry", "primitive"}
FORBIDDEN = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.JoinedStr)

MODULE_LINES, KERNEL_LINES, FUNCTION_LINES = 300, 60, 25


def functions_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            yield node


def decorators_of(node):
    for decorator in node.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        yield named.id if isinstance(named, ast.Name) else getattr(named, "attr", "")


def body_lines(node):
    """Lines of a function without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return 0 if not body else body[-1].end_lineno - body[0].lineno + 1


def compiled_functions():
    for path in KERNELS:
        for node in functions_of(path):
            if DECORATORS & set(decorators_of(node)):
                yield path, node


@pytest.mark.parametrize("group, name", ENTRIES)
def test_an_entry_takes_as_many_arguments_as_its_group_says(group, name):
    entry = GROUPS[group][name]
    function = getattr(importlib.import_module(entry.module), name)
    source = getattr(function, "py_func", function)

    parameters = inspect.signature(source).parameters
    assert len(parameters) == entry.n_arguments
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())


def test_an_entry_is_in_one_group_only_and_every_entry_is_in_one():
    names = [name for _, name in ENTRIES]
    assert len(names) == len(set(names))

    written = {
        node.name for path, node in compiled_functions() if "entry" in set(decorators_of(node))
    }
    assert written == set(names)


@pytest.mark.parametrize("group", GROUPS)
def test_every_entry_compiles_and_is_found(group):
    if native.interpreted():
        pytest.skip("kernels are interpreted")
    for name in GROUPS[group]:
        assert native.address(name) != 0


@pytest.mark.parametrize("group", GROUPS)
def test_the_code_counts_no_references(group):
    """Numba's runtime (NRT) halved the scan; its functions would show as symbols."""
    if native.interpreted():
        pytest.skip("kernels are interpreted")
    code = native._object(group)

    assert all(name.encode() in code for name in GROUPS[group])
    assert not any(name in code for name in (b"NRT_", b"PyErr_", b"PyObject"))


def test_a_function_that_is_nowhere_is_found_when_compiling_and_not_when_running():
    """`object_code` refuses it, so every object that loads needs nothing from outside."""
    from numbatok.lowering import object_code

    code = "declare i64 @nowhere(i64)\ndeclare ptr @memcpy(ptr, ptr, i64)\n"
    calls = "define i64 @some(i64 %x) {\n  %y = call i64 @nowhere(i64 %x)\n  ret i64 %y\n}\n"
    with pytest.raises(RuntimeError, match="nowhere"):
        object_code(code + calls)
    assert object_code("define i64 @some(i64 %x) {\n  ret i64 %x\n}\n")


def test_the_two_parts_of_portable_code_become_one_object():
    from numbatok.lowering import BOUNDARY, object_code

    tuned = "define i64 @tuned(i64 %x) {\n  ret i64 %x\n}\n"
    rest = (
        "declare i64 @tuned(i64)\n"
        "define i64 @rest(i64 %x) {\n  %y = call i64 @tuned(i64 %x)\n  ret i64 %y\n}\n"
    )
    assert object_code(tuned + BOUNDARY + rest)
    with pytest.raises(RuntimeError, match="tuned"):
        object_code(BOUNDARY + rest)


PORTABLE = """
import sys
from numbatok.groups import TUNED
from numbatok.lowering import portable_code
TUNED["giant"] = (sys.argv[1],)
print(portable_code("giant"))
"""


def test_a_kernel_to_be_tuned_is_one_that_its_group_calls():
    if native.interpreted():
        pytest.skip("kernels are interpreted")
    from numbatok.lowering import BOUNDARY

    def portable(name):  # in another process, because Numba's functions are of no other use then
        command = [sys.executable, "-c", PORTABLE, name]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    tuned, _, rest = portable("find_common").stdout.partition(BOUNDARY)
    assert tuned.count("\ndefine") == 1 and "find_common" in tuned and "@merge_giant" in rest

    refused = portable("nowhere")
    assert refused.returncode == 1 and "nowhere" in refused.stderr.splitlines()[-1]


def test_kernels_neither_raise_nor_print_nor_build_objects():
    checked = 0
    for path, node in compiled_functions():
        checked += 1
        for inside in ast.walk(node):
            place = f"{path.name}:{getattr(inside, 'lineno', 0)} in {node.name}"
            assert not isinstance(inside, (ast.Raise, ast.Try, ast.With, ast.Yield)), place
            assert not isinstance(inside, FORBIDDEN), place
            if isinstance(inside, ast.Call) and isinstance(inside.func, ast.Name):
                assert inside.func.id not in ("print", "str", "list", "dict", "set", "open"), place
    print(f"{checked} kernels checked")
    assert checked > 50


def test_every_kernel_has_a_docstring():
    for path, node in compiled_functions():
        assert ast.get_docstring(node), f"{path.name}:{node.lineno} {node.name}"


def test_budgets_are_printed():
    """Argued in review: a module of more lines may still be one subject."""
    over = []
    for path in sorted(PACKAGE.rglob("*.py")):
        n_lines = len(path.read_text().splitlines())
        if n_lines > MODULE_LINES:
            over.append(f"{path.relative_to(PACKAGE)}: {n_lines} lines")
        for node in functions_of(path):
            is_kernel = bool(DECORATORS & set(decorators_of(node)))
            limit = KERNEL_LINES if is_kernel else FUNCTION_LINES
            if body_lines(node) > limit:
                over.append(f"{path.relative_to(PACKAGE)}: {node.name} {body_lines(node)} lines")
    print("\n".join([f"{len(over)} over budget", *over]))
    assert len(over) < 60
