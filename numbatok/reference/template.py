"""Templates: the ids around one text, and around a pair of texts."""

from __future__ import annotations

from collections.abc import Sequence

from numbatok.spec import Template, TemplatePart


def apply_template(
    template: Template | None, first: Sequence[int], second: Sequence[int] | None = None
) -> list[int]:
    """Return the ids of one text or of a pair with those that the template adds.

    Without a template, the ids of a pair follow each other.
    """
    if template is None:
        return [*first, *(second or ())]
    parts = template.single if second is None else template.pair
    return [number for part in parts for number in _part_ids(part, first, second or ())]


def _part_ids(part: TemplatePart, first: Sequence[int], second: Sequence[int]) -> Sequence[int]:
    if part.text is None:
        return part.ids
    return first if part.text == "A" else second
