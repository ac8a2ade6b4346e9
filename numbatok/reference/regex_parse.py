r"""Parser of regexes, in the dialects of the libraries that tokenizer files are written for.

"tokenizers" is Oniguruma's dialect, "tiktoken" that of the Rust crates regex and fancy-regex. They
differ in a few places, all of them here: what `x{2,3}+` and `x{2}?` mean, where `^` and `$` match,
what `\w` holds, and some escapes. What is missing is refused by name: backreferences, recursion,
lookbehind, and whatever the two libraries might read in another way.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Literal

from numbatok.reference.properties import case_variants, first_of_expansions
from numbatok.reference.regex_class import (
    Counts,
    Cursor,
    character_set,
    fold,
    parse_class,
    parse_escape,
)
from numbatok.reference.regex_match import Regex
from numbatok.reference.regex_tree import (
    At,
    Atomic,
    Choice,
    CodeRange,
    Concat,
    Look,
    Mode,
    Node,
    NoneOf,
    One,
    Place,
    Repeat,
    can_be_empty,
)

Engine = Literal["tokenizers", "tiktoken"]

MOST_GROUPS = 100
"""Depth of nested groups."""

GROUPS = {
    "(?<=": "a lookbehind",
    "(?<!": "a lookbehind",
    "(?P=": "a backreference",
    "(?P>": "recursion",
    "(?R": "recursion",
    "(?&": "recursion",
    "(?(": "a conditional",
    "(?~": "an absent operator",
    "(?#": "a comment",
    "(?{": "a callout",
    "(*": "a callout",
}
PLACES: dict[str, Place] = {
    "b": "word_boundary",
    "B": "no_word_boundary",
    "A": "start",
    "z": "end",
    "Z": "end_or_newline",
}


@lru_cache(maxsize=256)
def parse_regex(pattern: str, engine: Engine) -> Regex:
    """Return the pattern, ready to be searched for.

    Raises:
        UnsupportedTokenizer: the pattern has a construct that is not reproduced; the message names
            it and its place.
        InvalidTokenizerFile: the pattern is no regex.
    """
    node = parse(pattern, engine)
    if engine == "tiktoken" and can_be_empty(node):
        raise Cursor(pattern, engine).unsupported("a match of nothing, on which tiktoken panics,")
    return Regex(node)


def literal_regex(text: str) -> Regex:
    """Return the pattern that matches one string; the empty string is everywhere."""
    return Regex(Concat(tuple(One(CodeRange(ord(char), ord(char))) for char in text)))


def parse(pattern: str, engine: Engine) -> Node:
    """Return the tree of a pattern; errors as in `parse_regex`."""
    cursor = Cursor(pattern, engine)
    ignore_case = cursor.take("(?i)")
    node = _choice(cursor, ignore_case, 0)
    if not cursor.at_end():
        raise cursor.damaged("an unmatched )")
    return node


def _choice(cursor: Cursor, ignore_case: bool, depth: int) -> Node:
    if depth > MOST_GROUPS:
        raise cursor.unsupported(f"more than {MOST_GROUPS} nested groups")
    parts = [_concat(cursor, ignore_case, depth)]
    while cursor.take("|"):
        parts.append(_concat(cursor, ignore_case, depth))
    return parts[0] if len(parts) == 1 else Choice(tuple(parts))


def _concat(cursor: Cursor, ignore_case: bool, depth: int) -> Node:
    parts: list[Node] = []
    while not cursor.at_end() and cursor.peek() not in "|)":
        node = _repeat(cursor, _term(cursor, ignore_case, depth))
        if parts and cursor.engine == "tokenizers":
            _check_folds(cursor, parts[-1], node)
        parts.append(node)
    return parts[0] if len(parts) == 1 else Concat(tuple(parts))


def _check_folds(cursor: Cursor, left: Node, right: Node) -> None:
    """Refuse letters that, cases ignored, Oniguruma also finds in one character: ss in U+00DF."""
    for first, second in product(edge_codes(left, -1), edge_codes(right, 0)):
        if any(
            case_variants(first, first)(x) and case_variants(second, second)(y)
            for x, y in first_of_expansions()
        ):
            text = chr(first) + chr(second)
            raise cursor.unsupported(f"case-insensitive {text!r}, which is also one character")


def edge_codes(node: Node, side: Literal[0, -1]) -> set[int]:
    """Return the case-insensitive characters that a node can begin (0) or end (-1) with."""
    if isinstance(node, One):
        return set() if node.folded is None else {node.folded}
    if isinstance(node, Concat):
        return edge_codes(node.parts[side], side) if node.parts else set()
    if isinstance(node, Choice):
        return set().union(*(edge_codes(part, side) for part in node.parts))
    if isinstance(node, Repeat | Atomic):
        return edge_codes(node.body, side)
    return set()


# --- one term and its quantifier ---


def _term(cursor: Cursor, ignore_case: bool, depth: int) -> Node:
    char = cursor.peek()
    if char == "(":
        return _group(cursor, ignore_case, depth)
    if char in "*+?":
        raise cursor.damaged(f"nothing before {char} to repeat")
    cursor.position += 1
    if char == "[":
        return One(parse_class(cursor, ignore_case, 0))
    if char == ".":
        return One(NoneOf(CodeRange(10, 10)))
    if char == "^":
        return At("line_start" if cursor.engine == "tokenizers" else "start")
    if char == "$":
        return At("line_end" if cursor.engine == "tokenizers" else "end")
    if char == "\\":
        return _escape(cursor, ignore_case)
    if char in "{}]" and cursor.engine == "tiktoken":
        raise cursor.unsupported(f"an unescaped {char}")
    return _literal(cursor, ord(char), ignore_case)


def _literal(cursor: Cursor, code: int, ignore_case: bool) -> Node:
    if not ignore_case:
        return One(CodeRange(code, code))
    return One(fold(cursor, code, code), folded=code)


def _escape(cursor: Cursor, ignore_case: bool) -> Node:
    char = cursor.peek()
    if char in PLACES and not (char == "Z" and cursor.engine == "tiktoken"):
        cursor.position += 1
        return At(PLACES[char], character_set(cursor, "w", in_brackets=False))
    if char.isdigit() and char != "0":
        raise cursor.unsupported("a backreference")
    found = parse_escape(cursor, ignore_case, in_brackets=False)
    return _literal(cursor, found, ignore_case) if isinstance(found, int) else One(found)


def _group(cursor: Cursor, ignore_case: bool, depth: int) -> Node:
    for opening, name in GROUPS.items():
        if cursor.looking_at(opening):
            raise cursor.unsupported(name)
    if cursor.take("(?="):
        return Look(_inside(cursor, ignore_case, depth), negative=False)
    if cursor.take("(?!"):
        return Look(_inside(cursor, ignore_case, depth), negative=True)
    if cursor.take("(?>"):
        return Atomic(_inside(cursor, ignore_case, depth))
    if cursor.take("(?i:"):
        return _inside(cursor, True, depth)
    if cursor.take("(?-i:"):
        return _inside(cursor, False, depth)
    if cursor.looking_at("(?<") or cursor.looking_at("(?P<"):
        raise cursor.unsupported("a named group")
    if not cursor.take("(?:"):
        if cursor.looking_at("(?"):
            raise cursor.unsupported(f"the group {cursor.rest(4)}")
        cursor.take("(")
    return _inside(cursor, ignore_case, depth)


def _inside(cursor: Cursor, ignore_case: bool, depth: int) -> Node:
    node = _choice(cursor, ignore_case, depth + 1)
    if not cursor.take(")"):
        raise cursor.damaged("a group without its )")
    return node


def _repeat(cursor: Cursor, node: Node) -> Node:
    """Return `node` with the quantifier that follows it."""
    counts = cursor.quantifier()
    if counts is None:
        return node
    if isinstance(node, At | Look):
        raise cursor.unsupported("a repeated place or lookahead")
    mode: Mode = "greedy"
    if cursor.take("?"):
        mode = "lazy"
    elif cursor.take("+"):
        mode = "possessive"
    if cursor.quantifier() is not None:
        raise cursor.unsupported("a quantifier on a quantifier")
    if counts.most is None or counts.most > 1:
        _check_can_loop(cursor, node)
    if counts.is_interval and cursor.engine == "tokenizers":
        return _oniguruma_interval(cursor, node, counts, mode)
    return Repeat(node, counts.least, counts.most, mode)


def _oniguruma_interval(cursor: Cursor, node: Node, counts: Counts, mode: Mode) -> Node:
    """Return an interval as Oniguruma reads it: x{2,3}+ is (?:x{2,3})+ and x{2}? is (?:x{2})?."""
    interval = Repeat(node, counts.least, counts.most, "greedy")
    if mode == "possessive":
        _check_can_loop(cursor, interval)
        return Repeat(interval, 1, None, "greedy")
    if mode == "lazy" and counts.least == counts.most:
        return Repeat(interval, 0, 1, "greedy")
    return Repeat(node, counts.least, counts.most, mode)


def _check_can_loop(cursor: Cursor, node: Node) -> None:
    if can_be_empty(node):
        raise cursor.unsupported("a repeat of something that can be empty")
