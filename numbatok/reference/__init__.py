"""The whole pipeline in plain Python: the executable specification of numbatok.

text -> atoms -> added tokens (raw) -> normalizers -> added tokens (normalized) -> pre-tokenizers
     -> merge -> template -> ids -> decoders -> text

It shares no code with the kernels, and is as slow as it is plain. In reading order: `atoms`,
`rules`, `families`, `patterns`, `merge`, `added`, `normalizers`, `chain`, `decoding`. A pattern
that is no family, and every regex, runs in `regex_parse` and `regex_match`.
"""

from __future__ import annotations

from collections.abc import Sequence

from numbatok.reference.added import Special, split_added
from numbatok.reference.atoms import Atom, InvalidPolicy, byte_alphabet, join, split_atoms
from numbatok.reference.chain import run_chain
from numbatok.reference.decoding import DecodeStream, decode, decode_bytes
from numbatok.reference.families import FAMILIES
from numbatok.reference.merge import merge_pretoken
from numbatok.reference.normalizers import normalize
from numbatok.reference.patterns import pretokenize_family, pretokenize_gpt2, recognize
from numbatok.reference.template import apply_template
from numbatok.spec import TokenizerSpec

__all__ = [
    "Atom",
    "DecodeStream",
    "byte_alphabet",
    "decode",
    "decode_bytes",
    "encode",
    "encode_pair",
    "merge_pretoken",
    "pretokenize",
    "pretokenize_gpt2",
    "split_atoms",
]


def encode(
    spec: TokenizerSpec,
    text: str | bytes,
    *,
    special: Special = "raise",
    invalid: InvalidPolicy = "byte-alphabet",
    template: bool = False,
) -> list[int]:
    """Return the ids of a text.

    Args:
        spec: the tokenizer.
        text: a str, in which surrogates that form no pair count as U+FFFD, or any bytes.
        special: what to do with special tokens in it, as in `added.split_added`.
        invalid: what bytes are that are not UTF-8, as in `atoms`.
        template: put the ids around them that the tokenizer's template has.

    Raises:
        SpecialTokenError: the text contains a special token that is not to be recognized.
        InvalidUtf8: the text is not UTF-8 and `invalid` is "error".
        InvalidType, InvalidValue: an argument is none of those above.
        UnsupportedTokenizer: a pattern or a normalizer is not reproduced; the message names it.
    """
    ids: list[int] = []
    for segment in split_added(spec, split_atoms(text, invalid), special):
        if segment.token is not None:
            ids.append(segment.token.id)
            continue
        for pretoken in _cut(spec, segment.atoms):
            ids += merge_pretoken(spec.model, pretoken)
    return apply_template(spec.template, ids) if template else ids


def encode_pair(
    spec: TokenizerSpec,
    first: str | bytes,
    second: str | bytes,
    *,
    special: Special = "raise",
    invalid: InvalidPolicy = "byte-alphabet",
    template: bool = True,
) -> list[int]:
    """Return the ids of a pair of texts; arguments and errors as in `encode`."""
    pair = [encode(spec, text, special=special, invalid=invalid) for text in (first, second)]
    return apply_template(spec.template if template else None, pair[0], pair[1])


def pretokenize(
    spec: TokenizerSpec, text: str | bytes, *, invalid: InvalidPolicy = "byte-alphabet"
) -> list[bytes]:
    """Return the pretokens of a text after normalization; added tokens are plain text here."""
    return _cut(spec, normalize(spec.normalizers, split_atoms(text, invalid)))


def _cut(spec: TokenizerSpec, atoms: Sequence[Atom]) -> list[bytes]:
    """Return the pretokens of a gap: by the rules of its family, or step by step."""
    family = recognize(spec.pre_tokenizers, spec.engine)
    if family is None:
        return [join(pretoken) for pretoken in run_chain(spec.pre_tokenizers, spec.engine, atoms)]
    ends = pretokenize_family(FAMILIES[family], atoms)
    return [join(atoms[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
