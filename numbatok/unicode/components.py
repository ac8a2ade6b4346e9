"""Sets that belong to one component of the libraries, each of its own age."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from numbatok.unicode.properties import binary_property, content, posix_bracket
from numbatok.unicode.store import set_of_runs, table_of_runs


@cache
def word_characters() -> NDArray[np.bool_]:
    r"""Return bool[CODE_POINTS]: `\w` of the Rust crate regex (144,667).

    Used by tiktoken's patterns, the Whitespace step, and single_word of added tokens. Oniguruma's
    `\w` is `oniguruma_word_characters`.
    """
    table = posix_bracket("word") | binary_property("Join_Control")
    table.flags.writeable = False
    return table


@cache
def numeric_characters() -> NDArray[np.bool_]:
    """Return bool[CODE_POINTS]: what the Digits step cuts around (1,924: N of Unicode 17.0)."""
    return set_of_runs(content().arrays["numeric"])


@cache
def punctuation_characters() -> NDArray[np.bool_]:
    """Return bool[CODE_POINTS]: what the Punctuation step and Bert's steps cut around (726).

    P of Unicode 8.0, and the ASCII symbols.
    """
    return set_of_runs(content().arrays["punctuation"])


@cache
def cutting_scripts() -> NDArray[np.uint8]:
    """Return uint8[CODE_POINTS]: the script by which the UnicodeScripts step cuts.

    Places in SCRIPT_NAMES, of Unicode 9.0; Hiragana, Katakana and U+30FC count as Han. "Unknown" is
    what never cuts: the space and everything that Unicode 9.0 does not assign.
    """
    arrays = content().arrays
    return table_of_runs(arrays["cutting_script.values"], arrays["cutting_script.lengths"])
