"""The `post_processor` and the `decoder` of a tokenizer.json.

A post-processor does two things: it puts ids around those of a text (the template), and its
ByteLevel or Roberta step says how white space is left out of reported offsets. Bert's and Roberta's
steps are told apart by their fields, as in tokenizers 0.23.3, whatever their type says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, cast

from numbatok.formats.fields import Field
from numbatok.formats.json_pipeline import (
    flatten,
    read_byte_level,
    read_replace,
    step_kind,
)
from numbatok.spec import (
    ByteLevel,
    DecodeBpe,
    DecodeByteFallback,
    DecodeByteLevel,
    DecodeFuse,
    DecodeMetaspace,
    Decoder,
    DecodeStrip,
    DecodeWordPiece,
    Scheme,
    Template,
    TemplatePart,
)

MAX_U32 = (1 << 32) - 1
MAX_COUNT = (1 << 31) - 1
MAX_TEMPLATE = 10_000  # parts, and ids that they add; the longest published one has 8
POST_PROCESSORS = (
    "ByteLevel",
    "TemplateProcessing",
    "BertProcessing",
    "RobertaProcessing",
)
SCHEMES: tuple[Scheme, ...] = ("always", "never", "first")


def read_post_processor(field: Field | None) -> tuple[Template | None, ByteLevel | None]:
    """Return the template, and the step that trims offsets.

    Raises:
        UnsupportedTokenizer: two steps of a Sequence add ids, or two trim offsets.
    """
    template: Template | None = None
    trimming: ByteLevel | None = None
    for step in flatten(field, "processors"):
        kind = _kind_of_post_processor(step)
        roberta = {"trim_offsets", "add_prefix_space"} <= step.mapping().keys()
        if kind == "ByteLevel" or (kind != "TemplateProcessing" and roberta):
            trimming = _trimming(step, trimming)
        if kind == "ByteLevel":
            continue
        if template is not None:
            raise step.unsupported("is the second step that adds ids")
        if kind == "TemplateProcessing":
            template = _template(step)
        else:
            make = roberta_template if roberta else bert_template
            template = make(_token(step.get("cls")), _token(step.get("sep")))
    return template, trimming


def _kind_of_post_processor(step: Field) -> str:
    """Return the type of a step; one without is what its fields say, but never ByteLevel."""
    fields = step.mapping().keys()
    if "type" not in fields and {"cls", "sep"} <= fields:
        return "BertProcessing"  # or Roberta's: its other fields decide, as for one with a type
    if "type" not in fields and {"single", "pair", "special_tokens"} <= fields:
        return "TemplateProcessing"
    return step_kind(step, POST_PROCESSORS.__contains__, ())


def _trimming(step: Field, earlier: ByteLevel | None) -> ByteLevel:
    """Return the step that trims offsets; one that does not changes nothing."""
    found = read_byte_level(step)
    if earlier is None or not earlier.trim_offsets:
        return found
    if found.trim_offsets:
        raise step.unsupported("is the second step that trims offsets")
    return earlier


def read_decoders(field: Field | None) -> tuple[Decoder, ...]:
    """Return the steps of a decoder in order.

    Without a decoder Hugging Face joins tokens with spaces, which is (); with an empty Sequence it
    joins them without, as Fuse does.
    """
    if field is None:
        return ()
    steps = [
        DECODERS[step_kind(step, DECODERS.__contains__, ("CTC",))](step)
        for step in flatten(field, "decoders")
    ]
    return tuple(steps) or (DecodeFuse(),)


def bert_template(cls: int, sep: int) -> Template:
    """CLS A SEP, and CLS A SEP B SEP with type 1 from B on."""
    single = (TemplatePart((cls,)), TemplatePart(text="A"), TemplatePart((sep,)))
    second = (TemplatePart(text="B", type_id=1), TemplatePart((sep,), type_id=1))
    return Template(single, single + second)


def roberta_template(cls: int, sep: int) -> Template:
    """CLS A SEP, and CLS A SEP SEP B SEP, all of type 0."""
    single = (TemplatePart((cls,)), TemplatePart(text="A"), TemplatePart((sep,)))
    second = (TemplatePart((sep,)), TemplatePart(text="B"), TemplatePart((sep,)))
    return Template(single, single + second)


def _token(field: Field) -> int:
    """Return the id of a pair of string and id."""
    if len(field.list()) != 2:
        raise field.invalid(f"has {len(field.list())} elements, expected a string and an id")
    string, number = field.items()
    string.string()
    return number.integer(0, MAX_U32)


def _template(step: Field) -> Template:
    special = step.get("special_tokens")
    ids = {name: _special_ids(special.get(name)) for name in special.mapping()}
    single = tuple(_parts(step.get("single"), ids))
    if any(part.text == "B" for part in single):
        raise step.get("single").invalid("uses sequence B, which a single text does not have")
    pair = tuple(_parts(step.get("pair"), ids))
    for name, parts in (("single", single), ("pair", pair)):
        n_ids = sum(len(part.ids) for part in parts)
        if n_ids > MAX_TEMPLATE:
            raise step.get(name).unsupported(f"adds {n_ids} ids, supported are {MAX_TEMPLATE}")
    return Template(single, pair)


def _special_ids(entry: Field) -> tuple[int, ...]:
    entry.get("id").string()
    for token in entry.get("tokens").items():
        token.string()
    return tuple(id.integer(0, MAX_U32) for id in entry.get("ids").items())


def _parts(field: Field, ids: dict[str, tuple[int, ...]]) -> Iterator[TemplatePart]:
    if len(field.list()) > MAX_TEMPLATE:
        raise field.unsupported(f"has {len(field.list())} parts, supported are {MAX_TEMPLATE}")
    for piece in field.items():
        if len(piece.mapping()) != 1:
            raise piece.invalid("must have exactly one key, 'Sequence' or 'SpecialToken'")
        kind = Field(next(iter(piece.mapping())), piece.path, piece.file)
        kind.choice(("Sequence", "SpecialToken"))
        content = piece.get(kind.string())
        type_id = content.get("type_id").integer(0, MAX_U32)
        name = content.get("id")
        if kind.string() == "Sequence":
            text = cast('Literal["A", "B"]', name.choice(("A", "B")))
            yield TemplatePart(text=text, type_id=type_id)
        elif name.string() in ids:
            yield TemplatePart(ids[name.string()], type_id=type_id)
        else:
            raise name.invalid(f"is {name.string()[:60]!r}, which special_tokens does not have")


def _metaspace(step: Field) -> DecodeMetaspace:
    scheme = "always"
    if "prepend_scheme" in step.mapping():
        scheme = step.get("prepend_scheme").choice(SCHEMES)
    if split := step.optional("split"):
        split.boolean()
    prefix = step.optional("add_prefix_space")
    if prefix and not prefix.boolean() and scheme != "never":
        raise prefix.invalid(f"is false while prepend_scheme is {scheme!r}")
    return DecodeMetaspace(step.get("replacement").character(), cast("Scheme", scheme))


def _strip(step: Field) -> DecodeStrip:
    return DecodeStrip(
        step.get("content").character(),
        step.get("start").integer(0, MAX_COUNT),
        step.get("stop").integer(0, MAX_COUNT),
    )


def _byte_level(step: Field) -> DecodeByteLevel:
    read_byte_level(step)
    return DecodeByteLevel()


def _word_piece(step: Field) -> DecodeWordPiece:
    return DecodeWordPiece(step.get("prefix").string(), step.get("cleanup").boolean())


DECODERS: dict[str, Callable[[Field], Decoder]] = {
    "ByteLevel": _byte_level,
    "Fuse": lambda _: DecodeFuse(),
    "ByteFallback": lambda _: DecodeByteFallback(),
    "Replace": read_replace,
    "Strip": _strip,
    "Metaspace": _metaspace,
    "WordPiece": _word_piece,
    "BPEDecoder": lambda step: DecodeBpe(step.get("suffix").string()),
}
