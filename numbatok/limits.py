"""What is refused before tables are built.

That is what they cannot hold, and what has no right ids because Hugging Face's library fails on it.
"""

from __future__ import annotations

from numbatok.errors import UnsupportedTokenizer
from numbatok.normalization import Normalization
from numbatok.regex.parser import parse
from numbatok.regex.sets import SetTable
from numbatok.regex.tree import can_be_empty
from numbatok.spec import Decoder, Normalizer, Prepend, Replace, TokenizerSpec
from numbatok.tables import MAX_ID

MAX_ADDED_BYTES = 2_500_000  # of all added tokens: 200,000 of 10 bytes take 3 s and 260 MB
MAX_GROWTH = 1000  # times the length of a text; published files have at most 3
MAX_PREPENDED = 1_000_000  # bytes


def check_limits(spec: TokenizerSpec) -> None:
    """Refuse a tokenizer by the name of what is not possible. Errors: UnsupportedTokenizer."""
    check_ids(spec)
    check_template(spec)
    check_sizes(spec)
    check_replacements(spec)
    check_added_tokens(spec)


def check_ids(spec: TokenizerSpec) -> None:
    """Refuse ids that do not fit the tables."""
    for token in spec.added_tokens:
        if not 0 <= token.id <= MAX_ID:
            raise UnsupportedTokenizer(
                f"added token {token.content!r}: id {token.id} above {MAX_ID}"
            )
    largest = max(spec.model.tokens.values(), default=0)
    if largest > MAX_ID:
        raise UnsupportedTokenizer(f"vocabulary: id {largest} above {MAX_ID}")


def check_template(spec: TokenizerSpec) -> None:
    """Refuse a template for one text that has it twice, or not at all.

    tokenizers 0.23.3 then repeats or drops the ids of every text, even where no special tokens are
    asked for.
    """
    parts = spec.template.single if spec.template is not None else ()
    count = sum(part.text is not None for part in parts)
    if spec.template is not None and count != 1:
        raise UnsupportedTokenizer(
            f"post_processor: its template for one text has the text {count} times, supported is "
            "once; Hugging Face's library gives its ids as often, without special tokens too"
        )


def check_sizes(spec: TokenizerSpec) -> None:
    """Refuse what would take gigabytes: to build, or for a short text."""
    size = sum(len(token.content.encode()) for token in spec.added_tokens)
    if size > MAX_ADDED_BYTES:
        raise UnsupportedTokenizer(
            f"added_tokens: {size} bytes in all, supported are {MAX_ADDED_BYTES}"
        )
    for name, steps in (("normalizer", spec.normalizers), ("decoder", spec.decoders)):
        factor, prepended = growth(steps)
        if factor > MAX_GROWTH:
            raise UnsupportedTokenizer(
                f"{name}: its Replace steps can make a text {factor:.0f} times as long, supported "
                f"is {MAX_GROWTH}"
            )
        if prepended > MAX_PREPENDED:
            raise UnsupportedTokenizer(
                f"{name}: its steps put {prepended:.0f} bytes before a text, supported are "
                f"{MAX_PREPENDED}"
            )


def growth(steps: tuple[Normalizer, ...] | tuple[Decoder, ...]) -> tuple[float, float]:
    """Return how many times as long steps can make a text, and how many bytes they put before it.

    Beyond MAX_GROWTH the steps that are left do not count.
    """
    factor, prepended = 1.0, 0.0
    for step in steps:
        if isinstance(step, Prepend):
            prepended += len(step.content.encode())
        elif isinstance(step, Replace) and factor <= MAX_GROWTH:
            matched = 1 if step.is_regex else max(1, len(step.pattern.encode()))
            times = max(1.0, len(step.content.encode()) / matched)
            factor, prepended = factor * times, prepended * times
    return factor, prepended


def check_replacements(spec: TokenizerSpec) -> None:
    """Refuse a Replace that puts something in front of a text: its places get confused there.

    tokenizers 0.23.3 panics on "ab" with `^` replaced by "x", or puts "x" twice.
    """
    for step in spec.normalizers:
        if not isinstance(step, Replace) or not step.content:
            continue
        if not step.pattern or (
            step.is_regex and can_be_empty(parse(step.pattern, "tokenizers", SetTable()))
        ):
            raise UnsupportedTokenizer(
                f"normalizer Replace: {step.pattern!r} can match nothing, and Hugging Face's "
                f"library panics or repeats {step.content!r} where it does"
            )


def check_added_tokens(spec: TokenizerSpec) -> None:
    """Refuse added tokens of which normalization leaves nothing, or the same."""
    normalization, contents = Normalization(spec.normalizers), dict[bytes, str]()
    for token in spec.added_tokens if normalization else ():
        if not token.normalized:
            continue
        searched = normalization.apply(token.content.encode())
        if not searched:
            raise UnsupportedTokenizer(
                f"added token {token.content!r}: nothing is left of it after normalization, and "
                "Hugging Face's library then finds it everywhere or panics"
            )
        twin = contents.setdefault(searched, token.content)
        if twin != token.content:
            raise UnsupportedTokenizer(
                f"added tokens {twin!r} and {token.content!r} are the same after normalization; "
                "Hugging Face's library finds a random one of them"
            )
