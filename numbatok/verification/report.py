"""What a verification found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

Result = Union[list[int], str]

SHOWN = 12  # ids on each side of the first difference


@dataclass(frozen=True)
class Difference:
    """A text of which two implementations make different things.

    call        what was compared: "encode", "encode, special tokens recognized" or "decode"
    text        the text, or the ids that were decoded, as text
    pretokens   the pretokens of the text, as numbatok cuts it
    expected    ids or decoded text of the reference
    found       ids or decoded text of numbatok
    """

    call: str
    text: str | bytes
    pretokens: tuple[str | bytes, ...]
    expected: Result
    found: Result

    @property
    def position(self) -> int:
        """The first position at which the results differ."""
        pairs = zip(self.expected, self.found, strict=False)
        different = (at for at, (theirs, ours) in enumerate(pairs) if theirs != ours)
        return next(different, min(len(self.expected), len(self.found)))

    def __str__(self) -> str:
        start = max(0, self.position - SHOWN)
        stop = self.position + SHOWN
        return "\n".join(
            [
                f"first difference ({self.call}), at position {self.position} of the result:",
                f"  text       {self.text!r:.500}",
                f"  pretokens  {list(self.pretokens)!r:.500}",
                f"  reference  {_ends(self.expected, start, stop)}",
                f"  numbatok   {_ends(self.found, start, stop)}",
            ]
        )


def _ends(result: Result, start: int, stop: int) -> str:
    before, after = "... " if start else "", " ..." if stop < len(result) else ""
    return f"{before}{result[start:stop]!r}{after}"


@dataclass
class Report:
    """The counts of a verification, and the first difference.

    comparisons   results that were compared, of which `differences` were not equal
    refused       results that the reference did not give (it raised an error); not compared
    texts, bytes, ids   what was encoded, each text once
    """

    tokenizer: str
    reference: str
    texts: int = 0
    bytes: int = 0
    ids: int = 0
    comparisons: int = 0
    differences: int = 0
    refused: int = 0
    seconds: float = 0.0
    first: Difference | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether something was compared and everything was equal."""
        return self.comparisons > 0 and self.differences == 0

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        refused = f", {self.refused:,} refused by the reference" if self.refused else ""
        lines = [
            f"{self.tokenizer} against {self.reference}: "
            f"{'equal' if self.ok else 'NOT EQUAL' if self.comparisons else 'NOTHING COMPARED'}",
            f"{self.comparisons:,} comparisons, {self.differences:,} differences{refused}; "
            f"{self.texts:,} texts, {self.bytes:,} bytes, {self.ids:,} ids, {self.seconds:.1f} s",
        ]
        return "\n".join([*lines, str(self.first)] if self.first else lines)
