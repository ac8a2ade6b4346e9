"""Added tokens: strings that are found before the model sees the text.

The search runs twice: for tokens with normalized=False in the text as it came, then for the others
in the normalized text of each gap that is left, gap by gap.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Union

from numbatok.errors import InvalidType, InvalidValue, SpecialTokenError, UnsupportedTokenizer
from numbatok.reference.atoms import Atom, characters
from numbatok.reference.keeping import kept_for_last
from numbatok.reference.normalizers import normalize
from numbatok.reference.properties import is_crate_word
from numbatok.reference.rules import white
from numbatok.spec import AddedToken, TokenizerSpec

Special = Union[Literal["raise", "recognize", "plain"], Collection[str]]
Decision = Literal["take", "pass", "raise"]


@dataclass(frozen=True)
class Segment:
    """A part of a text: an added token, or a gap between two of them."""

    atoms: tuple[Atom, ...]
    token: AddedToken | None = None


@dataclass(frozen=True)
class Needle:
    """An added token as it is searched for."""

    characters: tuple[Atom, ...]
    token: AddedToken


def split_added(spec: TokenizerSpec, atoms: Sequence[Atom], special: Special) -> list[Segment]:
    """Return the added tokens of a text and, normalized, the gaps between them.

    Args:
        spec: the tokenizer.
        atoms: the text.
        special: what to do with special tokens in it: "raise" an error, "recognize" them, take
            them as "plain" text, or recognize those of a collection and raise for all others.
            Added tokens that are not special are always recognized.

    Raises:
        SpecialTokenError: the text contains a special token that is not to be recognized.
        InvalidType, InvalidValue: `special` is none of these, or names what is no special token.
        UnsupportedTokenizer: Hugging Face's library would panic or loop on this token or text.
    """
    decisions = decide(spec, special)
    raw, normalized = needles(spec)
    segments: list[Segment] = []
    for segment in find(atoms, raw, decisions):
        if segment.token is not None:
            segments.append(segment)
        else:
            gap = normalize(spec.normalizers, segment.atoms)
            segments += find(gap, normalized, decisions)
    return segments


def decide(spec: TokenizerSpec, special: Special) -> dict[str, Decision]:
    """Return what is to be done with each added token, by its content."""
    names = [token.content for token in spec.added_tokens if token.special]
    chosen: dict[str, Decision] = {}
    if isinstance(special, str):
        actions: dict[str, Decision] = {"raise": "raise", "recognize": "take", "plain": "pass"}
        if special not in actions:
            raise InvalidValue(
                f"special={special!r} is no choice; choose 'raise', 'recognize', 'plain', or a set "
                "of special tokens"
            )
        chosen = dict.fromkeys(names, actions[special])
    elif isinstance(special, Collection):
        unknown = [name for name in special if name not in names]
        if unknown:
            raise InvalidValue(f"special names {unknown[0]!r}, which is no special token")
        chosen = {name: "take" if name in special else "raise" for name in names}
    else:
        raise InvalidType(f"special is {type(special).__name__}, expected str or a set of str")
    return {token.content: chosen.get(token.content, "take") for token in spec.added_tokens}


@kept_for_last
def needles(spec: TokenizerSpec) -> tuple[list[Needle], list[Needle]]:
    """Return what is searched for in the raw and in the normalized text."""
    raw: list[Needle] = []
    normalized: list[Needle] = []
    for token in spec.added_tokens:
        content = characters(token.content)
        if not token.normalized:
            raw.append(Needle(tuple(content), token))
            continue
        spelled = normalize(spec.normalizers, content)
        if not spelled:
            raise UnsupportedTokenizer(
                f"added token {token.content!r}: nothing is left of it after normalization, and "
                "Hugging Face's library then finds it everywhere or panics"
            )
        twin = next((n.token for n in normalized if n.characters == tuple(spelled)), None)
        if twin is not None:
            raise UnsupportedTokenizer(
                f"added tokens {twin.content!r} and {token.content!r} are the same after "
                "normalization; Hugging Face's library finds a random one of them"
            )
        normalized.append(Needle(tuple(spelled), token))
    return raw, normalized


def find(
    atoms: Sequence[Atom], searched: Sequence[Needle], decisions: dict[str, Decision]
) -> list[Segment]:
    """Return the tokens found and the gaps between them.

    The search goes on behind the token itself, not behind the white space that it takes on its
    right; so one in that white space is found too, and comes without a gap before it. If it takes
    white space on its left, nothing is left for itself, and it vanishes.
    """
    segments: list[Segment] = []
    position = gap_start = 0
    while position < len(atoms):
        needle = longest_at(atoms, position, searched)
        if needle is None:
            position += 1
            continue
        start, end = position, position + len(needle.characters)
        position = end
        if not _counts(atoms, start, end, needle.token, decisions):
            continue
        start, end = _with_white(atoms, start, end, gap_start, needle.token)
        if gap_start < start:
            segments.append(Segment(tuple(atoms[gap_start:start])))
        if start < end:
            segments.append(Segment(tuple(atoms[start:end]), needle.token))
        gap_start = end
    if gap_start < len(atoms):
        segments.append(Segment(tuple(atoms[gap_start:])))
    return segments


def longest_at(atoms: Sequence[Atom], start: int, searched: Sequence[Needle]) -> Needle | None:
    """Return the longest token that stands at a position, None if there is none."""
    found = [
        needle
        for needle in searched
        if same_characters(atoms[start : start + len(needle.characters)], needle.characters)
    ]
    return max(found, key=lambda needle: len(needle.characters), default=None)


def same_characters(found: Sequence[Atom], wanted: Sequence[Atom]) -> bool:
    """Return whether two texts have the same characters and no stray bytes."""
    return len(found) == len(wanted) and all(
        f.is_character and f.code == w.code for f, w in zip(found, wanted, strict=True)
    )


def _counts(
    atoms: Sequence[Atom],
    start: int,
    end: int,
    token: AddedToken,
    decisions: dict[str, Decision],
) -> bool:
    """Return whether what was found is taken as a token."""
    if token.single_word:
        before, after = atoms[start - 1 : start] if start else [], atoms[end : end + 1]
        if any(is_crate_word(atom.code) for atom in (*before, *after)):
            return False
    if decisions[token.content] == "raise":
        raise SpecialTokenError(
            f"the text contains the special token {token.content!r}; pass special='recognize' to "
            "encode it as one id, or special='plain' to encode its characters"
        )
    return decisions[token.content] == "take"


def _with_white(
    atoms: Sequence[Atom], start: int, end: int, gap_start: int, token: AddedToken
) -> tuple[int, int]:
    """Return start and end with the white space that the token takes."""
    if token.lstrip:
        while start > 0 and white(atoms[start - 1]):
            start -= 1
        start = max(start, gap_start)
    if token.rstrip:
        while end < len(atoms) and white(atoms[end]):
            end += 1
    if start > end:
        raise UnsupportedTokenizer(
            f"added token {token.content!r} takes the white space on its left and stands in white "
            "space that the token before it takes; Hugging Face's library panics on such a text"
        )
    return start, end
