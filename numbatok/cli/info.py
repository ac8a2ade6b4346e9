"""Say what a tokenizer file is, and whether numbatok loads it.

Shown are its model, how it cuts and rewrites text, its tokens, and, if it does not load, what is
refused (exit code 1).

  numbatok info tokenizer.json
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from numbatok.cli import choices
from numbatok.cli.outputs import print_line
from numbatok.errors import NumbatokError
from numbatok.spec import AddedToken, BpeModel, TokenizerSpec

FLAGS = ("normalized", "lstrip", "rstrip", "single_word")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    choices.add_tokenizer(parser, positional=True)
    parser.add_argument("--json", action="store_true", help="a JSON object instead of text")


def run(options: argparse.Namespace) -> int:
    """Describe; return the exit code."""
    facts = {"source": options.tokenizer, **_facts(options)}
    refused = facts["refused"]
    if options.json:
        print_line(json.dumps(facts, ensure_ascii=False))
    else:
        facts["refused"] = refused or "no: it loads"
        for name, value in facts.items():
            lines = value if isinstance(value, list) else [value]
            for number, line in enumerate(lines or ["none"]):
                print_line(f"{'' if number else name.replace('_', ' '):<16}{_shown(line)}")
    return 1 if refused else 0


def _facts(options: argparse.Namespace) -> dict[str, Any]:
    """Return what can be said of a file; what reading or building refuses is under "refused"."""
    from numbatok import formats

    try:
        located = formats.locate(
            options.tokenizer,
            pattern=options.pattern,
            special_tokens=choices.special_tokens(options.special_token),
            download=options.download,
        )
        spec = located.read()
    except NumbatokError as error:
        return {"refused": str(error)}
    facts = {"files": [str(path) for _, path in located.files], **describe(spec)}
    try:
        tokenizer = choices.load_tokenizer(options)
    except NumbatokError as error:
        return {**facts, "refused": str(error)}
    return {
        **facts,
        "vocab_size": tokenizer.vocab_size,
        "fingerprint": tokenizer.fingerprint,
        "refused": None,
    }


def describe(spec: TokenizerSpec) -> dict[str, Any]:
    """Return what a specification says, in words and counts."""
    return {
        "name": spec.name or "unnamed",
        "model": _model(spec.model),
        "pattern": _family(spec),
        "normalizers": [brief(step) for step in spec.normalizers],
        "pre_tokenizers": [brief(step) for step in spec.pre_tokenizers],
        "regex_engine": spec.engine,
        "added_tokens": _added(spec.added_tokens),
        "template": _template(spec),
        "decoders": [brief(step) for step in spec.decoders],
        "not_applied": [name for name in ("truncation", "padding") if getattr(spec, name)],
    }


def _model(model: BpeModel) -> list[str]:
    merges = "merges by rank" if model.merges is None else f"{len(model.merges):,} merges"
    lines = [f"byte-level BPE, {len(model.tokens):,} tokens, {merges}"]
    if model.opaque:
        lines.append(f"{len(model.opaque):,} strings that no text produces")
    numbers = {*model.tokens.values(), *model.opaque.values()}
    holes = max(numbers, default=-1) + 1 - len(numbers)
    if holes:
        lines.append(f"{holes:,} ids without a token")
    lines += [
        name for name in ("ignore_merges", "fuse_unk", "byte_fallback") if getattr(model, name)
    ]
    return lines + ([f"unk {model.unk!r}"] if model.unk is not None else [])


def _family(spec: TokenizerSpec) -> str:
    """Return the pattern family that kernels know, or that there is none."""
    from numbatok.pattern import recognize

    try:
        return f"{recognize(spec).name} family"
    except NumbatokError:
        return "no known family"


def _added(tokens: tuple[AddedToken, ...]) -> list[str]:
    special = sum(token.special for token in tokens)
    lines = [f"{len(tokens):,}, {special:,} of them special"] if tokens else []
    for token in tokens[:12]:
        flags = ["special"] if token.special else []
        flags += [flag for flag in FLAGS if getattr(token, flag)]
        lines.append(f"{token.id:>7} {token.content!r} {' '.join(flags)}".rstrip())
    return lines + (["..."] if len(tokens) > 12 else [])


def _template(spec: TokenizerSpec) -> str:
    if spec.template is None:
        return "none"
    parts = (
        f"text {part.text}" if part.text else " ".join(map(str, part.ids))
        for part in spec.template.single
    )
    return " + ".join(parts)


def brief(step: Any) -> str:
    """Return a step with the fields that are not at their default."""
    fields = [
        f"{field.name}={getattr(step, field.name)!r}"
        for field in dataclasses.fields(step)
        if getattr(step, field.name) != field.default
    ]
    return f"{type(step).__name__}({', '.join(fields)})"


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
