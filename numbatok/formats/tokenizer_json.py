"""Hugging Face's tokenizer.json.

What `tokenizers` 0.23.3 makes of a file decides, measured by experiment where its behavior is not
obvious: ids of added tokens, defaults of missing fields, shapes of post-processors. What it cannot
load, or would run into a panic with, is refused here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from numbatok.formats.fields import Field
from numbatok.formats.json_added import read_added_tokens
from numbatok.formats.json_model import read_bpe, refuse_other_models
from numbatok.formats.json_output import read_decoders, read_post_processor
from numbatok.formats.json_pipeline import read_normalizers, read_pre_tokenizers
from numbatok.formats.strict_json import paused_collection
from numbatok.spec import BpeModel, TokenizerSpec

FIELDS = (
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
)


def read_tokenizer_json(root: object, file: str) -> TokenizerSpec:
    """Return what a parsed tokenizer.json means.

    Args:
        root: the value of the file.
        file: its name, for messages.

    Raises:
        InvalidTokenizerFile: a field is missing, has a wrong type or contradicts another one.
        UnsupportedTokenizer: a field asks for something that numbatok does not reproduce.
    """
    whole = Field(root, "", file)
    _check_fields(whole)
    model = whole.get("model")
    refuse_other_models(model)
    template, trimming = read_post_processor(whole.optional("post_processor"))
    spec = TokenizerSpec(
        model=BpeModel(tokens={}, merges=()),
        normalizers=read_normalizers(whole.optional("normalizer")),
        pre_tokenizers=read_pre_tokenizers(whole.optional("pre_tokenizer"), file),
        template=template,
        decoders=read_decoders(whole.optional("decoder")),
        offset_trimming=trimming,
        truncation=_recorded(whole, "truncation"),
        padding=_recorded(whole, "padding"),
    )
    with paused_collection():  # the small parts are sound: now the large ones
        bpe, strings = read_bpe(model)
        added = whole.get("added_tokens") if "added_tokens" in whole.mapping() else None
        tokens = read_added_tokens(added, strings) if added else ()
    return replace(spec, model=bpe, added_tokens=tokens)


def _check_fields(whole: Field) -> None:
    """Refuse unknown fields and versions, as Hugging Face does."""
    for key in whole.mapping():
        if key not in FIELDS:
            raise whole.get(key).invalid("is no field of a tokenizer.json")
    if "version" in whole.mapping():
        whole.get("version").choice(("1.0",))


def _recorded(whole: Field, key: str) -> Mapping[str, object] | None:
    field = whole.optional(key)
    return None if field is None else field.mapping()
