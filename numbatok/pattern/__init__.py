"""Which kernels cut the text: those of a family, recognized by its exact strings, or the automaton.

Pre-tokenizers that are no family are compiled (`numbatok.regex`) when tables are built of them.
"""

from numbatok.pattern.families import PATTERNS, Pattern
from numbatok.pattern.recognize import recognize

__all__ = ["PATTERNS", "Pattern", "recognize"]
