"""Added tokens have the ids and flags that Hugging Face gives them, or are refused."""

import random
import time

import pytest

from numbatok.errors import InvalidTokenizerFile, NumbatokError, UnsupportedTokenizer
from tests.formats.documents import added, document, hugging_face, read, read_or_error

VOCAB = document()["model"]["vocab"]
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def ids(*tokens, vocab=VOCAB):
    spec = read(document(added_tokens=list(tokens), model_vocab=vocab))
    return {token.content: token.id for token in spec.added_tokens}


def test_id_of_the_file_is_ignored():
    for stated in (0, 5, 258, 259, 4_000_000_000):
        assert ids(added("<x>", stated)) == {"<x>": 258}


def test_strings_of_the_vocabulary_keep_their_id():
    assert ids(added("abc", 7), added("<x>", 8), added("ab", 9)) == {
        "abc": 257,
        "<x>": 258,
        "ab": 256,
    }


def test_new_tokens_are_numbered_on_from_the_number_of_entries():
    sparse = {**VOCAB, "<big>": 1000}
    assert ids(added("<big>", 0), added("<x>", 0), added("<y>", 0), vocab=sparse) == {
        "<big>": 1000,
        "<x>": 259,
        "<y>": 260,
    }


def test_an_id_that_another_token_has_is_refused():
    holes = {**VOCAB, "abc": 259}
    with pytest.raises(UnsupportedTokenizer, match=r"added_tokens\[1\] gets id 259.*'abc'"):
        ids(added("<x>", 257), added("<y>", 258), vocab=holes)


def test_of_one_content_the_last_entry_counts_and_special_stays():
    spec = read(
        document(
            added_tokens=[
                added("<x>", 258, special=True, lstrip=True),
                added("", 259),
                added("<y>", 260),
                added("<x>", 258, rstrip=True),
            ]
        )
    )
    assert [(t.content, t.id) for t in spec.added_tokens] == [("<x>", 258), ("<y>", 259)]
    token = spec.added_tokens[0]
    assert (token.special, token.lstrip, token.rstrip) == (True, False, True)


@pytest.mark.parametrize("missing", ["id", "content", *FLAGS])
def test_missing_field(missing):
    entry = added("<x>", 258)
    del entry[missing]
    with pytest.raises(InvalidTokenizerFile, match=rf"added_tokens\[0\] has no '{missing}'"):
        read(document(added_tokens=[entry]))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": -1}, r"added_tokens\[0\]\.id is -1"),
        ({"id": 2**32}, r"added_tokens\[0\]\.id is 4294967296"),
        ({"id": 258.0}, r"added_tokens\[0\]\.id is 258.0, expected an integer"),
        ({"id": True}, r"added_tokens\[0\]\.id is True"),
        ({"content": None}, r"added_tokens\[0\]\.content is None, expected a string"),
        ({"lstrip": 0}, r"added_tokens\[0\]\.lstrip is 0, expected true or false"),
    ],
)
def test_wrong_type(change, reason):
    with pytest.raises(InvalidTokenizerFile, match=reason):
        read(document(added_tokens=[added("<x>", 258) | change]))


@pytest.mark.oracle
def test_random_lists_equal_hugging_face():
    """Whatever is read has the ids and flags of `tokenizers`; the rest is refused for its ids."""
    rng = random.Random(20261129)
    compared = refused = 0
    for _ in range(400):
        value = random_document(rng)
        ours, theirs = read_or_error(value), hugging_face(value)
        assert theirs is not None
        if isinstance(ours, NumbatokError):
            assert "gets id" in str(ours), str(ours)
            refused += 1
            continue
        expected = {
            id: (token.content, *(getattr(token, flag) for flag in FLAGS[:-1]))
            for id, token in theirs.get_added_tokens_decoder().items()
        }
        found = {
            token.id: (token.content, *(getattr(token, flag) for flag in FLAGS[:-1]))
            for token in ours.added_tokens
        }
        assert found == expected
        for token in ours.added_tokens:
            hidden = theirs.decode([token.id], skip_special_tokens=True) == ""
            assert hidden == token.special, token
        compared += len(found)
    print(f"{compared} added tokens of {400 - refused} files equal, {refused} files refused")
    assert compared > 800
    assert 10 < refused < 300


def random_document(rng):
    contents = ["<x>", "<y>", "<z>", "ab", "abc", "a", "é", "x y", "Ġ", ""]
    vocab = dict(VOCAB)
    if rng.random() < 0.5:  # holes, and ids beyond the size
        vocab["abc"] = rng.randrange(257, 265)
        vocab["<z>"] = rng.randrange(265, 270)
    tokens = [
        added(
            rng.choice(contents),
            rng.randrange(300),
            **{flag: rng.random() < 0.3 for flag in FLAGS},
        )
        for _ in range(rng.randrange(1, 7))
    ]
    return document(added_tokens=tokens, model_vocab=vocab)


def test_comparison_sees_a_wrong_id():
    value = document(added_tokens=[added("<x>", 258)])
    wrong = {token.id + 1 for token in read(value).added_tokens}
    assert wrong != set(hugging_face(value).get_added_tokens_decoder())


def test_many_added_tokens_are_read_in_linear_time():
    """Sixteen times the tokens may take at most 64 times as long; quadratic time is 256."""
    seconds = []
    for count in (1_000, 16_000):
        value = document(added_tokens=[added(f"<{i}>", 258 + i) for i in range(count)])
        best = 99.0
        for _ in range(3):
            start = time.process_time()
            assert len(read(value).added_tokens) == count
            best = min(best, time.process_time() - start)
        seconds.append(best)
    print(f"{seconds[1] / seconds[0]:.1f} times as long")
    assert seconds[1] < 64 * seconds[0]
