"""tokenizer_config.json and its companions: what a model directory adds to slow files.

A directory without tokenizer.json has vocab.json and merges.txt, or a rank file; the class named
in its tokenizer_config.json says how text is cut and which ids go around it. What transformers'
converters make of each class is what is reproduced; a class that is not here is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from numbatok.formats.fields import Field
from numbatok.formats.json_model import MAX_ID
from numbatok.formats.json_output import roberta_template
from numbatok.pattern_names import QWEN2
from numbatok.spec import (
    AddedToken,
    BpeModel,
    ByteLevel,
    Split,
    Template,
    TemplatePart,
    TokenizerSpec,
    UnicodeForm,
)

RANK_CLASSES = {
    "TikTokenTokenizer": "kimi",
    "QWenTokenizer": "qwen2",
    "ChatGLM4Tokenizer": "llama3",
}
"""Classes over a rank file, with the name of their pattern."""

GPT2_CLASSES = ("GPT2Tokenizer", "CodeGenTokenizer")
ROBERTA_CLASSES = ("RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer")
QWEN2_CLASSES = ("Qwen2Tokenizer",)
PAIR_CLASSES = (*GPT2_CLASSES, *ROBERTA_CLASSES, *QWEN2_CLASSES)
"""Classes over vocab.json and merges.txt."""

ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
GPT2_TOKENS = dict.fromkeys(ROLES[:3], "<|endoftext|>")
ROBERTA_CONTENTS = ("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>")
ROBERTA_TOKENS = dict(zip(ROLES, ROBERTA_CONTENTS, strict=True))
FLAGS = ("normalized", "lstrip", "rstrip", "single_word")


@dataclass(frozen=True)
class ModelConfig:
    """The files beside the vocabulary; a missing one is an empty object."""

    tokenizer_config: Field
    special_tokens_map: Field
    added_tokens: Field

    @property
    def class_name(self) -> str | None:
        """The class, without the suffix of its fast twin."""
        named = self.tokenizer_config.optional("tokenizer_class")
        return None if named is None else named.string().removesuffix("Fast")

    def flag(self, key: str) -> bool:
        """Return an option that is true or false; one that is missing is false."""
        field = self.tokenizer_config.optional(key)
        return field is not None and field.boolean()

    def role(self, role: str) -> AddedToken | None:
        """Return the token of a role, with id -1: as the files state it, else of the class."""
        for source in (self.tokenizer_config, self.special_tokens_map):
            field = source.optional(role)
            if field is not None:
                return _special(field)
        if self.class_name in ROBERTA_CLASSES:
            return AddedToken(ROBERTA_TOKENS[role], -1, lstrip=role == "mask_token")
        if self.class_name in GPT2_CLASSES and role in GPT2_TOKENS:
            return AddedToken(GPT2_TOKENS[role], -1)
        return None


def read_added_tokens(config: ModelConfig, strings: Mapping[str, int]) -> tuple[AddedToken, ...]:
    """Return the added tokens by id: those of `added_tokens_decoder`, or of the older files.

    Raises:
        InvalidTokenizerFile: an id contradicts the vocabulary.
        UnsupportedTokenizer: no file states the id of a special token.
    """
    decoder = config.tokenizer_config.optional("added_tokens_decoder")
    found = _older_tokens(config, strings) if decoder is None else _decoder_tokens(decoder)
    for token in found:
        if strings.get(token.content, token.id) != token.id:
            raise config.tokenizer_config.invalid(
                f"gives {token.content[:60]!r} id {token.id}, "
                f"but the vocabulary gives it {strings[token.content]}"
            )
    return tuple(sorted(found, key=lambda token: token.id))


def special_contents(config: ModelConfig) -> dict[int, str]:
    """Return the contents of `added_tokens_decoder` by id."""
    decoder = config.tokenizer_config.optional("added_tokens_decoder")
    return {} if decoder is None else {t.id: t.content for t in _decoder_tokens(decoder)}


def _decoder_tokens(decoder: Field) -> list[AddedToken]:
    found = []
    for key in decoder.mapping():
        entry = decoder.get(key)
        if not key.isdecimal() or len(key) > 8 or int(key) > MAX_ID:
            raise entry.invalid(f"has the key {key[:60]!r}, expected an id in 0..{MAX_ID}")
        special = entry.optional("special")
        token = replace(_special(entry), special=special is not None and special.boolean())
        found.append(replace(token, id=int(key)))
    return found


def _special(entry: Field) -> AddedToken:
    """Return a special token, written as a string or as an object; missing flags are false."""
    if isinstance(entry.value, str):
        return AddedToken(entry.string(), -1)
    given = {flag: entry.optional(flag) for flag in FLAGS}
    flags = {flag: field is not None and field.boolean() for flag, field in given.items()}
    return AddedToken(entry.get("content").string(), -1, **flags)


def _older_tokens(config: ModelConfig, strings: Mapping[str, int]) -> list[AddedToken]:
    """Return added_tokens.json's tokens, and the special ones of the roles and of their map."""
    contents = config.added_tokens.mapping()
    ids = {text: config.added_tokens.get(text).integer(0, MAX_ID) for text in contents}
    found = {text: AddedToken(text, id, special=False, normalized=True) for text, id in ids.items()}
    special = [token for role in ROLES if (token := config.role(role))]
    extra = config.special_tokens_map.optional("additional_special_tokens")
    special += [_special(entry) for entry in extra.items()] if extra else []
    for token in special:
        if token.content not in strings and token.content not in ids:
            raise config.special_tokens_map.unsupported(
                f"or the class names {token.content[:60]!r}, whose id no file states"
            )
        id = strings.get(token.content, ids.get(token.content, -1))
        found[token.content] = replace(token, id=id)
    return list(found.values())


def pair_spec(model: BpeModel, strings: Mapping[str, int], config: ModelConfig) -> TokenizerSpec:
    """Return the tokenizer of vocab.json and merges.txt under a class of PAIR_CLASSES."""
    tokens = read_added_tokens(config, strings)
    if config.class_name in QWEN2_CLASSES:
        split = Split(QWEN2, is_regex=True)
        return TokenizerSpec(
            model,
            normalizers=(UnicodeForm("NFC"),),
            pre_tokenizers=(split, ByteLevel(False, False, trim_offsets=False)),
            added_tokens=tokens,
            offset_trimming=ByteLevel(False, False, trim_offsets=False),
        )
    prefix = config.flag("add_prefix_space")
    roberta = config.class_name in ROBERTA_CLASSES
    return TokenizerSpec(
        model,
        pre_tokenizers=(ByteLevel(prefix, True),),
        added_tokens=tokens,
        template=_template(config, tokens),
        offset_trimming=ByteLevel(prefix if roberta else True, True, trim_offsets=roberta),
    )


def _template(config: ModelConfig, tokens: tuple[AddedToken, ...]) -> Template | None:
    ids = {token.content: token.id for token in tokens}
    roles = {role: token for role in ROLES if (token := config.role(role))}
    if config.class_name in ROBERTA_CLASSES:
        return roberta_template(*(ids[roles[role].content] for role in ("cls_token", "sep_token")))
    if not config.flag("add_bos_token"):
        return None
    bos = TemplatePart((ids[roles["bos_token"].content],))
    single = (bos, TemplatePart(text="A"))
    return Template(single, (*single, TemplatePart(text="B", type_id=1)))
