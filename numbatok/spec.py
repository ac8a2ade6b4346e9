"""TokenizerSpec: everything in a tokenizer file that decides an id or a decoded byte.

Frozen dataclasses of plain Python values: no NumPy, no Numba. A reader (`formats`) makes one, the
table builder (`compile`) and the plain Python pipeline (`reference`) read it. What it cannot hold,
a reader refuses by name.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Any, Literal, Union

Behavior = Literal["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
Scheme = Literal["always", "never", "first"]


# --- normalizers, in the order in which they run -------------------------------------------------


@dataclass(frozen=True)
class UnicodeForm:
    """Unicode normalization."""

    form: Literal["NFC", "NFD", "NFKC", "NFKD"]


@dataclass(frozen=True)
class Lowercase:
    """Lower-case every character."""


@dataclass(frozen=True)
class Strip:
    """Remove white space at the start (left) and at the end (right)."""

    left: bool
    right: bool


@dataclass(frozen=True)
class StripAccents:
    """Remove nonspacing marks."""


@dataclass(frozen=True)
class Replace:
    """Replace every match of a literal string or a regex. Also a decoder step."""

    pattern: str
    is_regex: bool
    content: str


@dataclass(frozen=True)
class Prepend:
    """Put a string before a text that is not empty."""

    content: str


Normalizer = Union[UnicodeForm, Lowercase, Strip, StripAccents, Replace, Prepend]


# --- pre-tokenizers, in the order in which they run ----------------------------------------------


@dataclass(frozen=True)
class Split:
    """Cut at the matches of a regex or a literal string."""

    pattern: str
    is_regex: bool
    behavior: Behavior = "isolated"
    invert: bool = False


@dataclass(frozen=True)
class Digits:
    """Cut around digits, one by one (individual) or run by run."""

    individual: bool


@dataclass(frozen=True)
class Punctuation:
    """Cut around punctuation."""

    behavior: Behavior = "isolated"


@dataclass(frozen=True)
class WhitespaceWords:
    r"""Hugging Face's `Whitespace`: keep the matches of `\w+|[^\w\s]+`."""


@dataclass(frozen=True)
class WhitespaceSplit:
    """Drop white space and cut there."""


@dataclass(frozen=True)
class CharDelimiterSplit:
    """Drop one character and cut there."""

    delimiter: str


@dataclass(frozen=True)
class FixedLength:
    """Cut after every `length` characters."""

    length: int


@dataclass(frozen=True)
class UnicodeScripts:
    """Cut where the script changes."""


@dataclass(frozen=True)
class ByteLevel:
    """Map to the byte alphabet; first cut by GPT-2's pattern (use_regex)."""

    add_prefix_space: bool
    use_regex: bool
    trim_offsets: bool = True


PreTokenizer = Union[
    Split,
    Digits,
    Punctuation,
    WhitespaceWords,
    WhitespaceSplit,
    CharDelimiterSplit,
    FixedLength,
    UnicodeScripts,
    ByteLevel,
]


# --- the model -----------------------------------------------------------------------------------


class Merges(Sequence[tuple[bytes, bytes]]):
    """A long list of merges, whose pairs are made when first asked for.

    text     left 0, right 0, left 1, right 1, ... one after the other
    lengths  array("I") [2 n]: bytes of each part
    ids      array("I") [3 n]: ids of left, right and of what they make
    """

    def __init__(self, text: bytes, lengths: array[int], ids: array[int]) -> None:
        self.text, self.lengths, self.ids = text, lengths, ids

    @cached_property
    def pairs(self) -> tuple[tuple[bytes, bytes], ...]:
        """All of them, as a tuple."""
        places = pairwise(chain((0,), accumulate(self.lengths)))
        parts = [self.text[start:end] for start, end in places]
        return tuple(zip(parts[0::2], parts[1::2], strict=True))

    def __len__(self) -> int:
        return len(self.lengths) // 2

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(self.pairs)

    def __getitem__(self, place: Any) -> Any:
        return self.pairs[place]

    def __eq__(self, other: object) -> bool:
        return self.pairs == (other.pairs if isinstance(other, Merges) else other)

    def __hash__(self) -> int:
        return hash(self.pairs)


@dataclass(frozen=True)
class BpeModel:
    """Byte-level BPE.

    tokens   id by bytes: the vocabulary strings that are spelled in the byte alphabet
    opaque   id by string: vocabulary strings outside the byte alphabet, which no text can produce
             through merges; they decode to their own UTF-8
    merges   pairs in rank order, each pair once (of duplicates the last rank counts); None in a
             rank file, where two tokens merge if their concatenation is a token and the rank of
             the merge is that token's id
    """

    tokens: Mapping[bytes, int]
    merges: Sequence[tuple[bytes, bytes]] | None
    opaque: Mapping[str, int] = field(default_factory=dict)
    ignore_merges: bool = False  # a pretoken that is a token is that token
    unk: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False


# --- added tokens, templates, decoders -----------------------------------------------------------


@dataclass(frozen=True)
class AddedToken:
    """A string that is found before the model sees the text."""

    content: str
    id: int
    special: bool = True  # hidden from plain text unless a call recognizes it
    normalized: bool = False  # searched in the normalized text
    lstrip: bool = False  # takes the white space before it
    rstrip: bool = False  # takes the white space after it
    single_word: bool = False  # only where no word character touches it


@dataclass(frozen=True)
class TemplatePart:
    """One part of a template: fixed ids, or the ids of text A or B."""

    ids: tuple[int, ...] = ()
    text: Literal["A", "B"] | None = None
    type_id: int = 0


@dataclass(frozen=True)
class Template:
    """What the post-processor puts around one text, and around a pair."""

    single: tuple[TemplatePart, ...]
    pair: tuple[TemplatePart, ...]


@dataclass(frozen=True)
class DecodeByteLevel:
    """Map the byte alphabet back to bytes."""


@dataclass(frozen=True)
class DecodeFuse:
    """Join all tokens into one."""


@dataclass(frozen=True)
class DecodeByteFallback:
    """Turn runs of `<0xHH>` into bytes."""


@dataclass(frozen=True)
class DecodeStrip:
    """Remove up to `start` leading and `stop` trailing copies of a character from each token."""

    content: str
    start: int
    stop: int


@dataclass(frozen=True)
class DecodeMetaspace:
    """Turn the replacement character into spaces."""

    replacement: str
    prepend: Scheme


@dataclass(frozen=True)
class DecodeWordPiece:
    """Join tokens with spaces, except those with the continuation prefix."""

    prefix: str
    cleanup: bool


@dataclass(frozen=True)
class DecodeBpe:
    """Join tokens, an end-of-word suffix becoming a space."""

    suffix: str


Decoder = Union[
    DecodeByteLevel,
    DecodeFuse,
    DecodeByteFallback,
    DecodeStrip,
    DecodeMetaspace,
    DecodeWordPiece,
    DecodeBpe,
    Replace,
]


@dataclass(frozen=True)
class TokenizerSpec:
    """A tokenizer, as its file means it.

    `engine` says whose regex semantics the pattern has: "tokenizers" (Oniguruma) or "tiktoken"
    (fancy-regex); where a pattern leaves text unmatched, "tiktoken" drops it.
    """

    model: BpeModel
    normalizers: tuple[Normalizer, ...] = ()
    pre_tokenizers: tuple[PreTokenizer, ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    template: Template | None = None
    decoders: tuple[Decoder, ...] = (DecodeByteLevel(),)  # (): tokens joined with spaces
    offset_trimming: ByteLevel | None = None  # the post-processor's step that trims offsets
    engine: Literal["tokenizers", "tiktoken"] = "tokenizers"
    name: str | None = None  # a built-in name or the name a rank file was recognized by
    truncation: Mapping[str, object] | None = None  # recorded, never applied
    padding: Mapping[str, object] | None = None  # recorded, never applied
