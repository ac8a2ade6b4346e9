"""What cuts the text that is trained on: the spec without a vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numbatok.errors import InvalidType, InvalidValue
from numbatok.pattern import recognize
from numbatok.pattern_names import PATTERNS, named_pattern
from numbatok.spec import BpeModel, ByteLevel, TokenizerSpec
from numbatok.training.counts import PretokenCounts
from numbatok.training.options import DefaultPattern

if TYPE_CHECKING:
    from numbatok.tokenizer import Tokenizer


def spec_of_pattern(pattern: str) -> TokenizerSpec:
    """Return a tokenizer of bytes that cuts text by a pattern: a name or a regex.

    A regex is read as tokenizers reads that of an isolating Split: text between its matches stays.

    Errors: InvalidType, InvalidValue for what is neither.
    """
    if not isinstance(pattern, str):
        raise InvalidType(
            f"pattern is {pattern!r:.60} ({type(pattern).__name__}); a name or a regex is needed"
        )
    model = BpeModel({bytes([byte]): byte for byte in range(256)}, merges=())
    named = named_pattern(pattern)
    if pattern == "gpt2":  # as GPT-2's own tokenizer.json says it
        return TokenizerSpec(model, pre_tokenizers=(ByteLevel(False, use_regex=True),))
    engine = named.engine if pattern in PATTERNS else "tokenizers"
    return TokenizerSpec(model, pre_tokenizers=named.steps, engine=engine)


def spec_to_train(
    pattern: str, start_from: Tokenizer | None, counts: PretokenCounts | None
) -> TokenizerSpec:
    """Return what cuts the text, and for `start_from` its vocabulary.

    Errors: InvalidType, InvalidValue if pattern, counts and start_from do not go together: encode
    would cut otherwise than training did.
    """
    asked = None if isinstance(pattern, DefaultPattern) else pattern
    known = None if counts is None else counts.pattern
    if counts is not None and known is None and asked is None and start_from is None:
        raise InvalidValue("the counts do not know their pattern; pass pattern=")
    if start_from is None:
        spec = spec_of_pattern(asked or known or str(pattern))
        others = {"the counts' pattern": known}
    else:
        spec = _spec_of_tokenizer(start_from)
        others = {"pattern": asked, "the counts' pattern": known}
    for name, other in others.items():
        if other is not None and not _cuts_alike(spec, spec_of_pattern(other)):
            raise InvalidValue(
                f"{name} {other!r:.100} is not how the tokenizer to be would encode: it has "
                f"{spec.pre_tokenizers!r:.200}; use one pattern for both"
            )
    return spec


def _spec_of_tokenizer(tokenizer: object) -> TokenizerSpec:
    from numbatok.tokenizer import Tokenizer

    if not isinstance(tokenizer, Tokenizer):
        raise InvalidType(
            f"start_from is {tokenizer!r:.60} ({type(tokenizer).__name__}); a Tokenizer is needed: "
            "numbatok.load(...)"
        )
    return tokenizer._vocabulary.full_spec()


def _cuts_alike(first: TokenizerSpec, second: TokenizerSpec) -> bool:
    same = first.pre_tokenizers == second.pre_tokenizers and first.engine == second.engine
    return same or recognize(first) == recognize(second)
