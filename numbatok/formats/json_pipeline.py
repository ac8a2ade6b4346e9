"""The `normalizer` and the `pre_tokenizer` of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from numbatok.formats.fields import Field
from numbatok.spec import (
    Behavior,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Lowercase,
    Normalizer,
    Prepend,
    PreTokenizer,
    Punctuation,
    Replace,
    Split,
    Strip,
    StripAccents,
    UnicodeForm,
    UnicodeScripts,
    WhitespaceSplit,
    WhitespaceWords,
)

BEHAVIORS: dict[str, Behavior] = {
    "Removed": "removed",
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}

OTHER_NORMALIZERS = ("BertNormalizer", "Nmt", "Precompiled", "ByteLevel")
OTHER_PRE_TOKENIZERS = ("BertPreTokenizer", "Metaspace")

# How Hugging Face tells normalizers apart that have no type: the first whose fields are all there.
BARE_NORMALIZERS = {
    "BertNormalizer": {"clean_text", "handle_chinese_chars", "lowercase"},
    "Strip": {"strip_left", "strip_right"},
    "Replace": {"pattern", "content"},
    "Prepend": {"prepend"},
}

MAX_LENGTH = (1 << 31) - 1
MAX_STEPS = 1000
"""Steps of a Sequence after flattening; the longest published one has 7."""


def read_normalizers(field: Field | None) -> tuple[Normalizer, ...]:
    """Return the steps of a normalizer in the order in which they run."""
    return tuple(_normalizer(step) for step in flatten(field, "normalizers"))


def read_pre_tokenizers(field: Field | None, file: str) -> tuple[PreTokenizer, ...]:
    """Return the steps of a pre-tokenizer in the order in which they run.

    Exactly one of them is ByteLevel: without it the model sees characters and not bytes, as in
    SentencePiece, and with two of them it sees bytes of the byte alphabet.
    """
    steps = list(flatten(field, "pretokenizers"))
    found = tuple(_pre_tokenizer(step) for step in steps)
    byte_levels = sum(isinstance(step, ByteLevel) for step in found)
    if byte_levels == 0:
        whole = field or Field(None, "pre_tokenizer", file)
        raise whole.unsupported("has no ByteLevel step, so the model is no byte-level BPE")
    if byte_levels > 1:
        raise steps[0].unsupported(f"and its neighbors hold {byte_levels} ByteLevel steps")
    return found


def flatten(field: Field | None, members: str) -> Iterator[Field]:
    """Yield the steps of a component, those of a Sequence and of Sequences in it one by one."""
    pending = [] if field is None else [field]
    count = 0
    while pending:
        step = pending.pop()
        count += 1
        if count > MAX_STEPS:
            raise step.unsupported(f"is one of more than {MAX_STEPS} steps")
        if _is_sequence(step, members):
            pending.extend(reversed(list(step.get(members).items())))
        else:
            yield step


def _is_sequence(step: Field, members: str) -> bool:
    """Tell whether a component holds others; Hugging Face knows those of normalizers by it."""
    fields = step.mapping().keys()
    if "type" in fields or members != "normalizers":
        return step.mapping().get("type") == "Sequence"
    return members in fields and not BARE_NORMALIZERS["Strip"] <= fields


def read_pattern(step: Field) -> tuple[str, bool]:
    """Return a step's `pattern` and whether it is a regex."""
    pattern = step.get("pattern")
    if len(pattern.mapping()) != 1:
        raise pattern.invalid("must have exactly one key, 'String' or 'Regex'")
    kind = Field(next(iter(pattern.mapping())), pattern.path, pattern.file)
    is_regex = kind.choice(("String", "Regex")) == "Regex"
    return pattern.get(kind.string()).string(), is_regex


def step_kind(step: Field, known: Callable[[str], bool], others: tuple[str, ...]) -> str:
    """Return the type of a step; a type of Hugging Face's that is not known here is refused."""
    kind = step.get("type")
    if kind.string() in others:
        raise kind.unsupported(f"is {kind.string()}")
    if not known(kind.string()):
        raise kind.unsupported(f"is {kind.string()[:60]!r}, an unknown type")
    return kind.string()


def _normalizer(step: Field) -> Normalizer:
    return NORMALIZERS[_kind_of_normalizer(step)](step)


def _kind_of_normalizer(step: Field) -> str:
    """Return the type of a step; one without is the first whose fields it has."""
    fields = step.mapping().keys()
    if "type" not in fields:
        for kind, wanted in BARE_NORMALIZERS.items():
            if wanted <= fields:
                if kind not in NORMALIZERS:
                    raise step.unsupported(f"is {kind}")
                return kind
    return step_kind(step, NORMALIZERS.__contains__, OTHER_NORMALIZERS)


def _pre_tokenizer(step: Field) -> PreTokenizer:
    kind = step_kind(step, PRE_TOKENIZERS.__contains__, OTHER_PRE_TOKENIZERS)
    return PRE_TOKENIZERS[kind](step)


def _strip(step: Field) -> Strip:
    return Strip(step.get("strip_left").boolean(), step.get("strip_right").boolean())


def read_replace(step: Field) -> Replace:
    """Return a Replace step, which normalizers and decoders write alike."""
    pattern, is_regex = read_pattern(step)
    return Replace(pattern, is_regex, step.get("content").string())


def _split(step: Field) -> Split:
    pattern, is_regex = read_pattern(step)
    return Split(pattern, is_regex, _behavior(step), step.get("invert").boolean())


def _behavior(step: Field) -> Behavior:
    return BEHAVIORS[step.get("behavior").choice(BEHAVIORS)]


def _punctuation(step: Field) -> Punctuation:
    return Punctuation(_behavior(step)) if "behavior" in step.mapping() else Punctuation()


def _fixed_length(step: Field) -> FixedLength:
    if "length" not in step.mapping():
        return FixedLength(5)
    return FixedLength(step.get("length").integer(1, MAX_LENGTH))


def read_byte_level(step: Field) -> ByteLevel:
    """Return a ByteLevel step, which pre-tokenizers, post-processors and decoders write alike."""
    return ByteLevel(
        add_prefix_space=step.get("add_prefix_space").boolean(),
        use_regex=step.get("use_regex").boolean() if "use_regex" in step.mapping() else True,
        trim_offsets=step.get("trim_offsets").boolean(),
    )


NORMALIZERS: dict[str, Callable[[Field], Normalizer]] = {
    "NFC": lambda _: UnicodeForm("NFC"),
    "NFD": lambda _: UnicodeForm("NFD"),
    "NFKC": lambda _: UnicodeForm("NFKC"),
    "NFKD": lambda _: UnicodeForm("NFKD"),
    "Lowercase": lambda _: Lowercase(),
    "Strip": _strip,
    "StripAccents": lambda _: StripAccents(),
    "Replace": read_replace,
    "Prepend": lambda step: Prepend(step.get("prepend").string()),
}

PRE_TOKENIZERS: dict[str, Callable[[Field], PreTokenizer]] = {
    "Split": _split,
    "Digits": lambda step: Digits(step.get("individual_digits").boolean()),
    "Punctuation": _punctuation,
    "Whitespace": lambda _: WhitespaceWords(),
    "WhitespaceSplit": lambda _: WhitespaceSplit(),
    "CharDelimiterSplit": lambda step: CharDelimiterSplit(step.get("delimiter").character()),
    "FixedLength": _fixed_length,
    "UnicodeScripts": lambda _: UnicodeScripts(),
    "ByteLevel": read_byte_level,
}
