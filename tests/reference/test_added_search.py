"""The search for added tokens against Hugging Face's, on random tokens of every kind."""

from __future__ import annotations

import json
import random

import pytest
from tokenizers import AddedToken as LibraryToken
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from numbatok import reference
from numbatok.errors import (
    InvalidType,
    InvalidValue,
    NumbatokError,
    SpecialTokenError,
    UnsupportedTokenizer,
)
from numbatok.formats.tokenizer_json import read_tokenizer_json
from numbatok.reference import added
from numbatok.reference.added import needles
from numbatok.spec import (
    AddedToken,
    BpeModel,
    ByteLevel,
    Lowercase,
    Normalizer,
    Replace,
    Strip,
    TokenizerSpec,
)
from tests.reference.comparing import assert_equal, differences
from tests.reference.library_oracles import spelled

CONTENTS = ["<a>", "<a", "a>", "<m>", "ab", "b", " ", "  ", "\t", "X", "x", "HELLO", "é", "e\u0301"]
CONTENTS += ["\u0301", "<a>b", "_", "a b", " a", "A", "ｈ", "中", "\u00a0"]
PARTS = [*CONTENTS, "hello", "\n", "!", ">", "<", "\u200b", "1"]
NORMALIZERS = [
    None,
    normalizers.Lowercase(),
    normalizers.NFC(),
    normalizers.NFKC(),
    normalizers.Strip(),
    normalizers.Prepend("x"),
    normalizers.Replace("a", "bb"),
    normalizers.Replace(Regex("[<é]"), "< "),
    normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]),
]
BYTES = {bytes([byte]): byte for byte in range(256)}
PANIC = "panic"


def random_tokenizer(chance: random.Random) -> Tokenizer:
    """Return a tokenizer of single bytes with a few added tokens, reloaded from its file."""
    made = Tokenizer(models.BPE(vocab={spelled(b): i for b, i in BYTES.items()}, merges=[]))
    normalizer = chance.choice(NORMALIZERS)
    if normalizer is not None:
        made.normalizer = normalizer
    prefix, regex = chance.random() < 0.3, chance.random() < 0.8
    made.pre_tokenizer = pre_tokenizers.ByteLevel(prefix, use_regex=regex)
    made.decoder = decoders.ByteLevel()
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    for content in chance.sample(CONTENTS, chance.randint(1, 6)):
        odds = dict(zip(flags, (0.25, 0.25, 0.25, 0.5, 0.4), strict=True))
        chosen = {flag: chance.random() < odds[flag] for flag in flags}
        made.add_tokens([LibraryToken(content, **chosen)])
    return Tokenizer.from_str(made.to_str())


def random_cases(seed: int, count: int):
    """Return (tokenizer, spec, special, text) of tokenizers that are not refused."""
    chance = random.Random(seed)
    cases = []
    for _ in range(count):
        library = random_tokenizer(chance)
        spec = read_tokenizer_json(json.loads(library.to_str()), "random")
        try:
            needles(spec)
        except UnsupportedTokenizer:
            continue
        for _ in range(12):
            text = "".join(chance.choices(PARTS, k=chance.randint(0, 8)))
            cases.append((library, spec, chance.choice(["recognize", "plain"]), text))
    return cases


def by_library(case):
    library, _, special, text = case
    library.encode_special_tokens = special == "plain"
    try:
        ids = library.encode(text, add_special_tokens=False).ids
    except BaseException:  # a Rust panic is no Exception
        return PANIC
    return ids, library.decode(ids, skip_special_tokens=len(text) % 2 == 0)


def by_reference(case):
    _, spec, special, text = case
    try:
        ids = reference.encode(spec, text, special=special)
    except UnsupportedTokenizer:
        return PANIC
    return ids, reference.decode(spec, ids, skip_special=len(text) % 2 == 0)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("seed", "count"), [(1, 250), pytest.param(2, 3_000, marks=pytest.mark.slow)]
)
def test_random_added_tokens_equal_hugging_face(seed, count):
    assert_equal("added tokens", random_cases(seed, count), by_library, by_reference)


@pytest.mark.oracle
def test_comparison_sees_the_shortest_match(monkeypatch):
    def shortest(atoms, start, searched):
        found = [
            needle
            for needle in searched
            if added.same_characters(
                atoms[start : start + len(needle.characters)], needle.characters
            )
        ]
        return min(found, key=lambda needle: len(needle.characters), default=None)

    monkeypatch.setattr(added, "longest_at", shortest)
    _, lines = differences(random_cases(1, 100), by_library, by_reference)
    assert lines


# --- single cases ---


def spec_of(*tokens: AddedToken, normalizer: Normalizer | None = None) -> TokenizerSpec:
    return TokenizerSpec(
        model=BpeModel(BYTES, ()),
        normalizers=() if normalizer is None else (normalizer,),
        pre_tokenizers=(ByteLevel(False, use_regex=True),),
        added_tokens=tokens,
    )


def found(text: str, *tokens: AddedToken, normalizer: Normalizer | None = None) -> list[str]:
    """Return the text of each segment, added tokens in brackets."""
    spec = spec_of(*tokens, normalizer=normalizer)
    segments = added.split_added(spec, reference.split_atoms(text), "recognize")
    texts = ["".join(atom.data.decode() for atom in segment.atoms) for segment in segments]
    return [f"[{t}]" if s.token else t for t, s in zip(texts, segments, strict=True)]


@pytest.mark.parametrize("order", [1, -1])
def test_the_longest_wins_in_either_order(order):
    tokens = [AddedToken(f"my_token_{n}", 300 + n) for n in (1, 12, 123)][::order]
    assert found("my_token_1 my_token_12 my_token_123", *tokens) == [
        "[my_token_1]",
        " ",
        "[my_token_12]",
        " ",
        "[my_token_123]",
    ]


def test_overlaps():
    one, two = "\U00030001", "\U00030002"
    tokens = [AddedToken(t, 300 + n) for n, t in enumerate((one, two, two + one))]
    assert found(one + two + one, *tokens) == [f"[{one}]", f"[{two}{one}]"]
    tokens = [AddedToken(t, 300 + n) for n, t in enumerate(("<ab", "b><c", "<ab>"))]
    assert found("<ab><cd", *tokens) == ["[<ab>]", "<cd"]
    assert found("ab><cd", *tokens) == ["a", "[b><c]", "d"]


@pytest.mark.parametrize(
    ("flags", "text", "expected"),
    [
        ("l", "a  <m>  b", ["a", "[  <m>]", "  b"]),
        ("r", "a  <m>  b", ["a  ", "[<m>  ]", "b"]),
        ("l", "a\n\t<m>", ["a", "[\n\t<m>]"]),
        ("l", "a\u00a0<m>", ["a", "[\u00a0<m>]"]),
        ("l", "a\u200b<m>", ["a\u200b", "[<m>]"]),
        ("lr", "<m> <m>", ["[<m> ]", "[<m>]"]),
        ("s", "<m>, a<m> <m>b <m>\u0301 <m>", ["[<m>]", ", a<m> <m>b <m>\u0301 ", "[<m>]"]),
    ],
)
def test_white_space_and_words(flags, text, expected):
    token = AddedToken(
        "<m>", 300, lstrip="l" in flags, rstrip="r" in flags, single_word="s" in flags
    )
    assert found(text, token) == expected


def test_normalized_and_not():
    tokens = (AddedToken("HELLO", 300, normalized=True), AddedToken("World", 301))
    for text, expected in {
        "hello World": ["[hello]", " ", "[World]"],
        "HELLO world": ["[hello]", " world"],
        "Hello WORLD": ["[hello]", " world"],
    }.items():
        assert found(text, *tokens, normalizer=Lowercase()) == expected


def test_stray_bytes_belong_to_no_token():
    spec = spec_of(AddedToken("é", 300), AddedToken("b", 301, lstrip=True, single_word=True))
    assert reference.encode(spec, b"\xe9\xc3\xa9", special="recognize") == [0xE9, 300]
    assert reference.encode(spec, b"\x85b", special="recognize") == [0x85, 98]  # stands for Ħ
    assert reference.encode(spec, b"\x85b", special="recognize", invalid="punct") == [0x85, 301]


# --- what a call says about special tokens ---

END, PAD, WORD = (
    AddedToken("<e>", 300),
    AddedToken("<p>", 301),
    AddedToken("wd", 302, special=False),
)


def encoded(text, special):
    return reference.encode(spec_of(END, PAD, WORD), text, special=special)


def test_special_tokens_are_an_error_unless_the_call_says_otherwise():
    for special in ("raise", {"<p>"}, []):
        with pytest.raises(SpecialTokenError, match=r"'<e>'; pass special='recognize'.*'plain'"):
            encoded("a<e>wd", special)
    assert encoded("a<e>wd", "recognize") == [97, 300, 302]
    assert encoded("a<e>wd", {"<e>"}) == encoded("a<e>wd", ["<e>", "<p>"]) == [97, 300, 302]
    assert encoded("a<e>wd", "plain") == [97, *b"<e>", 302]
    assert encoded("awd", "raise") == [97, 302]


def test_a_plain_token_is_not_searched_inside():
    inner = AddedToken("a", 303, special=False)
    spec = spec_of(AddedToken("<a>", 300), inner)
    assert reference.encode(spec, "a<a>a", special="plain") == [303, *b"<a>", 303]


def test_other_choices_are_refused():
    with pytest.raises(InvalidValue, match="choose 'raise', 'recognize', 'plain'"):
        encoded("a", "all")
    with pytest.raises(InvalidValue, match="'wd', which is no special token"):
        encoded("a", {"wd"})
    with pytest.raises(InvalidType, match="special is int"):
        encoded("a", 1)


def test_tokens_that_the_library_finds_at_random_or_everywhere_are_refused():
    twins = (AddedToken("X", 300, normalized=True), AddedToken("x", 301, normalized=True))
    with pytest.raises(UnsupportedTokenizer, match="random one"):
        found("x", *twins, normalizer=Lowercase())
    nothing = AddedToken(" ", 300, normalized=True)
    with pytest.raises(UnsupportedTokenizer, match="nothing is left of it"):
        found("x", nothing, normalizer=Strip(True, True))
    with pytest.raises(UnsupportedTokenizer, match="nothing is left of it"):
        found("x", nothing, normalizer=Replace(" ", False, ""))


def test_a_text_on_which_the_library_panics_is_refused():
    with pytest.raises(NumbatokError, match="panics"):
        found("<a>   b", AddedToken("<a>", 300, rstrip=True), AddedToken(" ", 301, lstrip=True))
