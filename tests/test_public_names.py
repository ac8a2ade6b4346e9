"""The names that users may rely on, and that each of them says what it does."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import numbatok
from numbatok.tokenizer import Tokenizer

ROOT = Path(__file__).resolve().parents[1]

TOKENIZER = {
    "as_hf", "as_tiktoken", "count", "count_batch", "decode", "decode_batch", "decode_bytes",
    "decode_stream", "encode", "encode_arrow", "encode_batch", "encode_with_offsets",
    "fingerprint", "fits", "forget", "id_to_token", "merges", "pretoken_ends", "pretokenize",
    "save", "show", "special_tokens", "token_bytes", "token_to_id", "truncate", "verify",
    "vocab_size",
}  # fmt: skip


def test_all_is_sorted_and_everything_in_it_can_be_had():
    assert numbatok.__all__ == sorted(numbatok.__all__)
    for name in numbatok.__all__:
        assert getattr(numbatok, name) is not None
        assert name in dir(numbatok)
    with pytest.raises(AttributeError, match="module 'numbatok' has no attribute 'nothing'"):
        _ = numbatok.nothing


def test_every_error_is_exported_and_is_a_numbatok_error():
    from numbatok import errors

    defined = {
        name: value
        for name, value in vars(errors).items()
        if inspect.isclass(value) and value.__module__ == errors.__name__
    }
    assert set(defined) <= set(numbatok.__all__)
    assert all(issubclass(value, numbatok.NumbatokError) for value in defined.values())
    assert all(name in errors.__doc__ for name in defined)


def test_a_tokenizer_has_the_promised_methods():
    public = {name for name in vars(Tokenizer) if not name.startswith("_")}

    assert public >= TOKENIZER


def public_objects():
    for name in numbatok.__all__:
        value = getattr(numbatok, name)
        if inspect.isroutine(value) or inspect.isclass(value):
            yield name, value
    for name, value in vars(Tokenizer).items():
        if not name.startswith("_"):
            yield f"Tokenizer.{name}", value


@pytest.mark.parametrize("name, value", list(public_objects()))
def test_public_things_have_docstrings_and_types(name, value):
    function = value.fget if isinstance(value, property) else getattr(value, "func", value)
    assert inspect.getdoc(function), name
    if inspect.isfunction(function):
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, name
        for parameter in list(signature.parameters.values())[name.startswith("Tokenizer.") :]:
            assert parameter.annotation is not inspect.Parameter.empty, (name, parameter)


def test_every_module_says_what_it_is():
    names = [module.name for module in pkgutil.walk_packages(numbatok.__path__, "numbatok.")]
    optional = ("numbatok.arrow", "numbatok.files")

    assert len(names) > 60
    for name in names:
        if name.startswith(optional):
            pytest.importorskip("pyarrow")
        assert importlib.import_module(name).__doc__, name


def test_version_is_the_newest_of_the_changelog():
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)

    assert newest[1] == numbatok.__version__
