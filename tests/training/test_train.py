"""numbatok.train: ids, files, extension, vetoes, reports."""

from __future__ import annotations

import random
import re

import pytest

import numbatok
from numbatok.errors import InvalidType, InvalidValue, UnsupportedTokenizer
from numbatok.reference.train import train as reference_train
from numbatok.training import PretokenCounts, TrainingProgress, train_with_report
from numbatok.training.progress import Reporter
from tests.training.other_trainers import huggingface
from tests.training.small_corpora import count, small_corpus

TIES = ("huggingface", "bytes", "minbpe")
TEXTS = [
    "the cat sat on the mat, the cat's hat",
    "that cat's fat bat sat flat",
    "there is another theatre, they say; whether that matters is another matter",
] * 2


def train(source=TEXTS, vocab_size=290, **options):
    return numbatok.train(source, vocab_size, progress=False, **options)


@pytest.mark.parametrize("ties", TIES)
def test_merges_are_the_reference_trainers(ties):
    for seed in range(0, 60, 4):
        texts = small_corpus(seed)
        wanted = reference_train(count(texts), 50, ties=ties)
        assert train(texts, 306, ties=ties).merges == wanted, f"seed {seed}"


@pytest.mark.oracle
def test_merges_and_ids_are_those_of_tokenizers(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    texts = ["hello world hello there", "held the world, hello!"] * 5
    specials = ["<|endoftext|>", "<pad>"]
    tokenizer = train(texts, 290, special_tokens=specials)
    assert tokenizer.merges == huggingface(texts, 32, specials)
    tokenizer.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.get_vocab() == {tokenizer.id_to_token(i): i for i in range(tokenizer.vocab_size)}
    for text in [*texts, "héllo <|endoftext|> wörld\n", ""]:
        found = tokenizer.encode(text, special="recognize").tolist()
        assert found == theirs.encode(text, add_special_tokens=False).ids
    again = numbatok.load(tmp_path / "tokenizer.json")
    assert again.merges == tokenizer.merges
    assert again.special_tokens == {"<|endoftext|>": 0, "<pad>": 1}


@pytest.mark.oracle
def test_ranks_are_read_by_tiktoken_with_the_same_ids(tmp_path):
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    tokenizer = train(ties="bytes", special_tokens={"<|endoftext|>": 289})
    tokenizer.save(tmp_path / "trained.tiktoken")
    theirs = tiktoken.Encoding(
        "trained",
        pat_str=r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        mergeable_ranks=load_tiktoken_bpe(str(tmp_path / "trained.tiktoken")),
        special_tokens={"<|endoftext|>": 289},
    )
    for text in [*TEXTS, "the <|endoftext|> cat", "日本語 \n\n x"]:
        found = tokenizer.encode(text, special="recognize").tolist()
        assert found == theirs.encode(text, allowed_special="all")


def test_special_tokens_get_the_ids_that_were_asked_for(tmp_path):
    asked = {"<|b|>": 300, "<|a|>": 3, "<|c|>": 258}
    tokenizer = train(vocab_size=301, special_tokens=asked)
    assert tokenizer.special_tokens == asked
    tokenizer.save(tmp_path / "tokenizer.json")
    assert numbatok.load(tmp_path / "tokenizer.json").fingerprint == tokenizer.fingerprint
    ids = [tokenizer.token_to_id(bytes([byte])) for byte in range(256)]
    assert sorted(ids) == [*range(3), *range(4, 257)]
    merged = [tokenizer.token_to_id(left + right) for left, right in tokenizer.merges]
    assert merged == sorted(merged) and not {3, 258, 300} & {*merged, *ids}
    assert train(special_tokens=["<|x|>"]).special_tokens == {"<|x|>": 0}
    n = 256 + len(train(ties="bytes").merges)
    assert train(ties="bytes", vocab_size=n + 1, special_tokens=["<|x|>"]).special_tokens == {
        "<|x|>": n
    }


def test_no_merge_makes_a_special_token():
    plain = train(["abab abab abab"], 300)
    assert (b"a", b"b") in plain.merges
    for special in ("ab", "Ġab"):  # the second is how a file spells " ab"
        tokenizer = train(["abab abab abab"], 300, special_tokens=[special])
        products = {left + right for left, right in tokenizer.merges}
        assert b"ab" not in products if special == "ab" else b" ab" not in products
        assert products
        assert tokenizer.encode("abab", special="plain").min() > 0


def test_fewer_merges_than_asked_for_leave_no_hole_and_are_reported():
    tokenizer, report = train_with_report(["ab ab"], 1000, progress=False)
    assert tokenizer.vocab_size == 258 and tokenizer.merges == [(b"a", b"b"), (b" ", b"ab")]
    assert report.n_merges == 2 and report.stopped == "no pair occurs 1 times or more"
    assert report.last_count == 1


def test_empty_sources_give_the_bytes():
    for source in ([], [""], iter(()), ["", b""]):
        tokenizer, report = train_with_report(source, 300, progress=False)
        assert tokenizer.vocab_size == 256 and report.n_tokens == 0
        assert tokenizer.decode_bytes(tokenizer.encode(b"any\xff")) == b"any\xff"


def test_every_byte_has_a_token():
    tokenizer = train(["abc"], 300)
    assert tokenizer.decode_bytes(tokenizer.encode(bytes(range(256)))) == bytes(range(256))


def test_order_of_documents_and_chunks_changes_nothing():
    texts = [text for seed in range(5) for text in small_corpus(seed)]
    wanted = train(texts, 330).merges
    for seed in range(4):
        random.Random(seed).shuffle(texts)
        assert train(iter(texts), 330).merges == wanted
    parts = [numbatok.count_pretokens(texts[k::3]) for k in range(3)]
    assert train(PretokenCounts.merged(parts), 330).merges == wanted


def test_counts_first_seen_give_minbpe():
    texts = small_corpus(8)
    counts = numbatok.count_pretokens(texts, first_seen=True)
    assert train(counts, 300, ties="minbpe").merges == train(texts, 300, ties="minbpe").merges
    halves = [
        numbatok.count_pretokens(texts[:1], first_seen=True),
        numbatok.count_pretokens(texts[1:], first_seen=True, first=len(texts[0].encode())),
    ]
    assert PretokenCounts.merged(halves) == counts
    with pytest.raises(InvalidValue, match="count with first_seen=True"):
        train(numbatok.count_pretokens(texts), 300, ties="minbpe")


def test_counts_above_32_bits():
    counts = PretokenCounts.from_mapping(
        {"ab": 1 << 33, "bc": (1 << 33) + 1, "cd": 1 << 50}, pattern="gpt2"
    )
    assert train(counts, 259).merges == [(b"c", b"d"), (b"b", b"c"), (b"a", b"b")]


def test_an_arrow_table_of_counts_trains():
    pytest.importorskip("pyarrow")
    table = numbatok.count_pretokens(TEXTS).to_arrow()
    assert train(table).merges == train().merges


def test_the_alphabet_in_another_order():
    order = bytes(reversed(range(256)))
    tokenizer = train(initial_alphabet=order)
    assert [tokenizer.token_to_id(bytes([byte])) for byte in order] == list(range(256))
    with pytest.raises(InvalidValue, match="'bytes' or a bytes object with all 256"):
        train(initial_alphabet=["a"])
    with pytest.raises(InvalidValue, match="255 different bytes of 256"):
        train(initial_alphabet=bytes([0, *range(255)]))


def test_limits():
    assert all(len(left + right) <= 3 for left, right in train(max_token_bytes=3).merges)
    assert train(max_token_bytes=1).vocab_size == 256
    counts = reference_train(count(TEXTS), 100, min_frequency=9)
    assert train(vocab_size=356, min_frequency=9).merges == counts


def test_vetoes():
    wanted = reference_train(count(TEXTS), 34, veto=lambda left, right: right.endswith(b"t"))
    assert train(veto=lambda left, right: right.endswith(b"t")).merges == wanted
    for veto in (r"t$", re.compile(r"t$"), rb"t$"):
        products = [left + right for left, right in train(veto=veto).merges]
        assert products and not any(product.endswith(b"t") for product in products)
    with pytest.raises(InvalidValue, match=r"veto is '\(', no regex"):
        train(veto="(")
    with pytest.raises(InvalidType, match=r"veto is 7 \(int\)"):
        train(veto=7)


# --- start_from -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", TIES)
def test_going_on_from_a_tokenizer_is_training_at_once(ties):
    for seed in range(0, 40, 4):
        texts = small_corpus(seed)
        whole = train(texts, 300, ties=ties)
        first = train(texts, 270, ties=ties)
        both = train(texts, 300, ties=ties, start_from=first)
        assert both.merges == whole.merges, f"seed {seed}"
        assert both.fingerprint == whole.fingerprint


def test_going_on_with_other_text_is_the_references():
    for seed in range(0, 40, 4):
        first = train(small_corpus(seed), 290)
        texts = small_corpus(seed + 1)
        both = train(texts, 320, start_from=first)
        wanted = reference_train(count(texts), 30 + 290 - first.vocab_size, start_from=first.merges)
        assert both.merges == [*first.merges, *wanted], f"seed {seed}"


def test_published_ids_are_kept(gpt2):
    texts = ["zqzqx wwwvvv zqzqx wwwvvv 日本語の語"] * 4
    longer = train(texts, gpt2.vocab_size + 12, start_from=gpt2, special_tokens=["<|new|>"])
    assert longer.vocab_size == gpt2.vocab_size + 12
    assert longer.merges[:50_000] == gpt2.merges and len(longer.merges) == 50_011
    assert longer.special_tokens == {"<|endoftext|>": 50256, "<|new|>": 50268}
    text = "The quick brown fox jumps over the lazy dog."
    assert longer.encode(text).tolist() == gpt2.encode(text).tolist()
    assert len(longer.encode(texts[0])) < len(gpt2.encode(texts[0]))


def test_a_rank_file_is_extended(tmp_path):
    train(TEXTS, 280, ties="bytes").save(tmp_path / "ranks.tiktoken")
    ranks = numbatok.load(tmp_path / "ranks.tiktoken", pattern="gpt2", special_tokens={})
    longer = train(TEXTS, 300, start_from=ranks)
    whole = train(TEXTS, 300, ties="bytes")
    assert [longer.token_bytes(i) for i in range(300)] == [whole.token_bytes(i) for i in range(300)]
    for text in TEXTS:
        assert longer.encode(text).tolist() == whole.encode(text).tolist()


def test_start_from_what_does_not_fit(gpt2):
    with pytest.raises(InvalidValue, match="start_from has 50257 ids"):
        train(start_from=gpt2)
    with pytest.raises(InvalidType, match=r"start_from is 'gpt2' \(str\)"):
        train(start_from="gpt2")
    with pytest.raises(InvalidValue, match=r"start_from has '<\|endoftext\|>' already"):
        train(vocab_size=60_000, start_from=gpt2, special_tokens=["<|endoftext|>"])
    with pytest.raises(InvalidValue, match=r"id 7 of '<\|x\|>' is taken"):
        train(vocab_size=60_000, start_from=gpt2, special_tokens={"<|x|>": 7})
    with pytest.raises(InvalidValue, match="use one pattern for both"):
        train(vocab_size=60_000, start_from=gpt2, pattern=r"\w+|\W+")


# --- patterns -------------------------------------------------------------------------------------


def test_the_tokenizer_carries_its_pattern(tmp_path):
    tokenizer = train(["one two"], 258, pattern="gpt2")
    tokenizer.save(tmp_path / "tokenizer.json")
    assert numbatok.load(tmp_path / "tokenizer.json").pretokenize("a b1") == ["a", " b", "1"]


def test_patterns_that_encode_would_not_use():
    with pytest.raises(InvalidValue, match=r"is no known name\. Did you mean 'gpt2'"):
        train(pattern="gpt-2")
    with pytest.raises(UnsupportedTokenizer):
        train(pattern=r"(?<=a)(b)\1")
    with pytest.raises(InvalidType, match=r"pattern is 7 \(int\)"):
        train(pattern=7)
    counts = PretokenCounts.from_mapping({"ab": 2})
    with pytest.raises(InvalidValue, match="do not know their pattern; pass pattern="):
        train(counts, 257)
    assert train(counts, 257, pattern="gpt2").merges == [(b"a", b"b")]


# --- progress and report --------------------------------------------------------------------------


def test_progress_tells_of_both_phases():
    told = []
    numbatok.train(TEXTS, 290, progress=told.append)
    assert {progress.phase for progress in told} == {"counting", "merging"}
    assert isinstance(told[-1], TrainingProgress)
    assert told[-1].done == 34 and told[-1].total == 34 and told[-1].last_count > 0
    assert told[-1].to_dict()["phase"] == "merging"


def test_rate_and_time_left_leave_out_what_a_checkpoint_had(monkeypatch):
    clock, told = iter([100.0, 102.0]), []
    with monkeypatch.context() as patch, Reporter(told.append) as reporter:
        patch.setattr("numbatok.training.progress.time.monotonic", lambda: next(clock))
        reporter.tell("merging", 4000, 5000, 7)
        reporter.tell("merging", 4200, 5000, 7)
    assert (told[0].rate, told[0].seconds_left) == (0.0, None)
    assert (told[1].rate, told[1].seconds_left) == (100.0, 8.0)
    with pytest.raises(InvalidType, match="progress is 'yes'; True, False, None or a function"):
        numbatok.train(TEXTS, 290, progress="yes")


def test_a_bar_is_shown_when_asked_for(capsys):
    pytest.importorskip("tqdm")
    numbatok.train(TEXTS, 290, progress=True)
    shown = capsys.readouterr().err
    assert "counting" in shown and "merging" in shown and "distinct" in shown
    numbatok.train(TEXTS, 290)
    assert capsys.readouterr().err == ""  # it is no terminal


def test_report():
    texts = [text.encode() for text in TEXTS]
    tokenizer, report = train_with_report(TEXTS, 290, progress=False, held_out=["the flat cat"])
    n_tokens = sum(len(tokenizer.encode(text)) for text in texts)
    assert report.n_tokens == n_tokens
    assert report.text_bytes == sum(map(len, texts)) and report.n_documents == 6
    assert report.bytes_per_token == report.text_bytes / n_tokens
    assert report.held_out_bytes_per_token == 12 / len(tokenizer.encode("the flat cat"))
    assert report.n_pretokens == sum(len(tokenizer.pretokenize(text)) for text in TEXTS)
    assert report.n_distinct == len(numbatok.count_pretokens(TEXTS))
    assert set(report.to_dict()) >= {"seconds_counting", "peak_memory", "n_resumed"}
    assert "bytes per token" in str(report) and "held-out" in str(report)


def test_bad_sizes_and_options():
    for options, error, message in (
        ({"vocab_size": 100}, InvalidValue, "256 bytes and 0 special tokens need at least 256"),
        ({"vocab_size": 257, "special_tokens": ["<|a|>", "<|b|>"]}, InvalidValue, "least 258"),
        ({"vocab_size": -1}, InvalidValue, "vocab_size is -1"),
        ({"vocab_size": 300.0}, InvalidType, "vocab_size is 300.0 .float.; an integer is needed"),
        ({"vocab_size": True}, InvalidType, "vocab_size is True"),
        ({"vocab_size": 1 << 21}, InvalidValue, "at most 1,047,552 is possible"),
        ({"min_frequency": -1}, InvalidValue, "min_frequency is -1; at least 0"),
        ({"max_token_bytes": 0}, InvalidValue, "max_token_bytes is 0; at least 1"),
        ({"ties": "random"}, InvalidValue, "ties is 'random'; use one of 'huggingface'"),
        ({"memory_limit": 1000}, InvalidValue, "memory_limit is 1000; at least 64000000"),
        ({"special_tokens": "<|a|>"}, InvalidType, "a list of str or a dict of ids"),
        ({"special_tokens": ["<|a|>", "<|a|>"]}, InvalidValue, "comes twice"),
        ({"special_tokens": {"<|a|>": 5, "<|b|>": 5}}, InvalidValue, "comes twice"),
        ({"special_tokens": {"<|a|>": 290}}, InvalidValue, "ids go from 0 to 289"),
        ({"special_tokens": {"<|a|>": None}}, InvalidValue, "the id of '<|a|>' is None"),
        ({"special_tokens": {"<|a|>": True}}, InvalidValue, "the id of '<|a|>' is True"),
        ({"checkpoint": ""}, InvalidValue, "checkpoint is empty; '.' is the folder"),
        ({"special_tokens": [7]}, InvalidType, "7 .int. is no str"),
        ({"special_tokens": ["a"]}, InvalidValue, "at least 2 are needed"),
        ({"special_tokens": ["\ud800x"]}, InvalidValue, "lone surrogate"),
    ):
        with pytest.raises(error) as raised:
            train(**options)
        assert re.search(message.replace("|", r"\|"), str(raised.value)), raised.value
