r"""Unicode tables: which characters a class of a pattern, or a step of a tokenizer, means.

Every table covers all 0x110000 code points (index = code point; surrogates included), is built on
first use from a small data file, kept, and read-only. Nothing here asks the running Python, whose
`unicodedata` has another version: 15.0 disagrees on 4,924 letters.

What the components of the libraries mean, each proved on every scalar by the tests:

| component | set | table |
|---|---|---|
| `\p{..}` in patterns | Unicode 16.0 | `category`, `script`, `oniguruma_property` |
| `\s` in patterns; white space everywhere else | 25 characters | `white_space` |
| `\d` in patterns | Nd | `category("Nd")` |
| `\h` in patterns | 0-9 A-F a-f | `oniguruma_property("xdigit")` |
| `\w`, `\b`, `\p{word}` of Oniguruma | 144,671 | `oniguruma_word_characters` |
| `[\w]`, `[[:word:]]` of Oniguruma | 144,665 | `posix_bracket("word")` |
| `\w` of tiktoken, of the Whitespace step, of single_word | 144,667 | `word_characters` |
| `[[:name:]]` of Oniguruma | | `posix_bracket` |
| `(?i:..)`, both engines | Unicode 16.0 | `case_variants`, `case_expansion`, `close_under_case` |
| Digits step | N of Unicode 17.0 | `numeric_characters` |
| Punctuation step, Bert's steps | P of Unicode 8.0, ASCII symbols | `punctuation_characters` |
| UnicodeScripts step | scripts of Unicode 9.0 | `cutting_scripts` |

Normalization, lowercase and accents are in `numbatok.unicode.normalization`, which is not loaded
from here.
"""

from numbatok.unicode.case import (
    case_expansion,
    case_variants,
    close_under_case,
    expanding_characters,
)
from numbatok.unicode.categories import category, general_categories, han, white_space
from numbatok.unicode.components import (
    cutting_scripts,
    numeric_characters,
    punctuation_characters,
    word_characters,
)
from numbatok.unicode.names import CATEGORY_NAMES, CODE_POINTS, SCRIPT_NAMES, UNICODE_VERSION
from numbatok.unicode.properties import (
    binary_property,
    oniguruma_property,
    oniguruma_word_characters,
    posix_bracket,
    script,
)

__all__ = [
    "CATEGORY_NAMES",
    "CODE_POINTS",
    "SCRIPT_NAMES",
    "UNICODE_VERSION",
    "binary_property",
    "case_expansion",
    "case_variants",
    "category",
    "close_under_case",
    "cutting_scripts",
    "expanding_characters",
    "general_categories",
    "han",
    "numeric_characters",
    "oniguruma_property",
    "oniguruma_word_characters",
    "posix_bracket",
    "punctuation_characters",
    "script",
    "white_space",
    "word_characters",
]
