import base64
import json

import pytest

from numbatok.errors import InvalidTokenizerFile
from numbatok.formats import load_spec
from numbatok.formats.byte_alphabet import to_spelling
from numbatok.formats.strict_json import parse_json
from numbatok.formats.tekken import is_tekken, read_tekken
from tests.formats.merging import Merger


def tekken(extra=("ab",), **changes):
    tokens = [bytes([byte]) for byte in range(256)] + [token.encode() for token in extra]
    config = {
        "pattern": r"\p{L}+|\s+|.",
        "num_vocab_tokens": len(tokens),
        "default_vocab_size": len(tokens) + 2,
        "default_num_special_tokens": 2,
        "version": "v3",
    }
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    whole = {"config": config, "vocab": vocab}
    for key, value in changes.items():
        (config if key in config else whole)[key] = value
    return whole


def read(value):
    return read_tekken(parse_json(json.dumps(value).encode(), "t.json"), "t.json")


def test_ids_are_ranks_after_the_special_tokens():
    spec = read(tekken())
    assert spec.model.tokens[b"\0"] == 2
    assert spec.model.tokens[b"ab"] == 258
    assert spec.model.merges is None
    assert [(t.content, t.id) for t in spec.added_tokens] == [("<unk>", 0), ("<s>", 1)]
    assert spec.engine == "tiktoken"


def test_only_the_first_entries_count():
    spec = read(tekken(extra=("ab", "abc", "abcd"), default_vocab_size=259))
    assert b"ab" in spec.model.tokens
    assert b"abc" not in spec.model.tokens


def test_special_tokens_of_the_file_and_their_filler():
    given = [{"rank": 0, "token_str": "<a>", "is_control": True}]
    spec = read(
        tekken(
            special_tokens=given,
            default_num_special_tokens=3,
            default_vocab_size=260,
            version="v13",
        )
    )
    assert [(t.content, t.id) for t in spec.added_tokens] == [
        ("<a>", 0),
        ("<SPECIAL_1>", 1),
        ("<SPECIAL_2>", 2),
    ]


def broken_entry(**change):
    whole = tekken()
    whole["vocab"][256].update(change)
    return whole


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (broken_entry(rank=300), r"vocab\[256\].rank is 300, expected 256..256"),
        (broken_entry(token_bytes="YQ=="), r"vocab\[256\].token_bytes is b'a' a second time"),
        (broken_entry(token_bytes="Y"), r"vocab\[256\].token_bytes is no base64"),
        (broken_entry(token_bytes=None), r"vocab\[256\].token_bytes is None"),
        (tekken(default_vocab_size=1000), "vocab has 257 entries, config asks for 998"),
        (tekken(default_vocab_size=1), "config.default_vocab_size is 1, expected 2"),
        (tekken(default_vocab_size=200), "has no token for 47 of the 256 bytes"),
        (tekken(default_vocab_size=2**40), "config.default_vocab_size is 10995"),
        (tekken(pattern=3), "config.pattern is 3"),
        (tekken(version="v11"), "config.version is 'v11', which must name its special_tokens"),
        (tekken(special_tokens=[{"rank": 1, "token_str": "a"}]), r"special_tokens\[0\].rank is 1"),
        (tekken(special_tokens=[{"rank": 0, "token_str": ""}]), "empty or there twice"),
    ],
)
def test_invalid(value, reason):
    assert is_tekken(value)
    with pytest.raises(InvalidTokenizerFile, match=reason):
        read(value)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_published_files_equal_mistral_nemo(name, vocab_file):
    """The Hub's tokenizer.json was made from this vocabulary; its ids are 1000 special ones on."""
    spec = load_spec(vocab_file("mistral-tekken", name)).spec
    nemo = json.loads(vocab_file("mistral-nemo", "tokenizer.json").read_bytes())["model"]["vocab"]
    ours = {to_spelling(token): id for token, id in spec.model.tokens.items()}
    assert ours == {string: id for string, id in nemo.items() if id >= 1000}
    assert len(spec.added_tokens) == 1000
    assert (spec.added_tokens[5].content, spec.added_tokens[999].content) == (
        "[AVAILABLE_TOOLS]",
        "<SPECIAL_999>",
    )
    print(f"{len(ours)} ids equal")


def test_ids_equal_mistral_common(vocab_file, corpus):
    tekkenizer = pytest.importorskip("mistral_common.tokens.tokenizers.tekken").Tekkenizer
    path = vocab_file("mistral-tekken", "tekken_240911.json")
    theirs, merger = tekkenizer.from_file(path), Merger(load_spec(path).spec.model)
    words = sorted(set(corpus("multilingual")[:60_000].decode(errors="ignore").split()))
    compared = 0
    for word in words:
        if word.isalpha() and word.islower():  # one pretoken
            assert theirs.encode(word, bos=False, eos=False) == merger.encode(word.encode()), word
            compared += 1
    print(f"{compared} words equal")
    assert compared > 500
