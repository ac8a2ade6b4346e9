import dataclasses

import pytest

import numbatok
from numbatok.formats.gpt2 import read_gpt2
from numbatok.verification import Report
from numbatok.verification.compare import Comparison
from numbatok.verification.texts import ILL_FORMED, sample_texts


class Echo:
    """A reference that gives numbatok's own answers but for one planted fault."""

    name, takes_bytes, slow_to_start, rounds = "echo", True, False, 1

    def __init__(self, tokenizer, fault=None):
        self.tokenizer, self.fault = tokenizer, fault

    def encode(self, text, recognize):
        if self.fault == "panic":
            raise BaseException("a panic")
        if self.fault == "special" and recognize:
            return self.tokenizer.encode(text, "plain").tolist()
        ids = self.tokenizer.encode(text, "recognize" if recognize else "plain").tolist()
        return [*ids[:-1], ids[-1] + 1] if self.fault == "id" and len(ids) > 3 else ids

    def decode(self, ids):
        text = self.tokenizer.decode(ids)
        return text.rstrip(" ") if self.fault == "decode" else text


def compare(tokenizer, texts, fault=None):
    comparison = Comparison(tokenizer, Echo(tokenizer, fault))
    comparison.compare(texts, list(tokenizer.special_tokens))
    return comparison.report


TEXTS = ["short", "a longer text, with a space ", "b<|endoftext|>c", b"\xff bytes", ""]


def test_equal_results_are_counted(gpt2):
    report = compare(gpt2, TEXTS)

    assert report.ok and bool(report) and report.first is None
    # one text has a special token and is compared twice; each text's ids are decoded once
    assert (report.texts, report.comparisons, report.differences) == (5, 11, 0)
    assert report.bytes == sum(len(t.encode() if isinstance(t, str) else t) for t in TEXTS)
    assert "equal\n11 comparisons, 0 differences; 5 texts," in str(report)


@pytest.mark.parametrize(
    "fault, call",
    [("id", "encode"), ("special", "encode, special tokens recognized"), ("decode", "decode")],
)
def test_a_planted_fault_is_found_and_shown(gpt2, fault, call):
    report = compare(gpt2, TEXTS, fault)

    assert not report.ok
    assert report.differences >= 1
    assert report.first.call == call
    assert report.first.expected != report.first.found
    assert "NOT EQUAL" in str(report) and f"first difference ({call})" in str(report)


def test_the_first_difference_shows_text_pretokens_and_ids(gpt2):
    first = compare(gpt2, ["one two three four five"], "id").first

    assert first.pretokens == ("one", " two", " three", " four", " five")
    assert first.position == 4
    assert str(first).splitlines() == [
        "first difference (encode), at position 4 of the result:",
        "  text       'one two three four five'",
        "  pretokens  ['one', ' two', ' three', ' four', ' five']",
        "  reference  [505, 734, 1115, 1440, 1937]",
        "  numbatok   [505, 734, 1115, 1440, 1936]",
    ]


def test_what_a_reference_refuses_is_not_equal(gpt2):
    report = compare(gpt2, ["a", "b"], "panic")

    assert report.refused == 2 and report.comparisons == 2  # the two decodings
    report = Report("a", "b")
    assert not report.ok and "NOTHING COMPARED" in str(report)


def test_plain_python_pipeline_agrees_and_finds_a_planted_rank(gpt2):
    report = gpt2.verify()

    print(report)
    assert report.ok, report
    assert report.comparisons > 9_000

    spec = read_gpt2()
    first, *others = spec.model.merges
    model = dataclasses.replace(spec.model, merges=(*others, first))
    assert not compare_with_plain(gpt2, dataclasses.replace(spec, model=model)).ok


def compare_with_plain(tokenizer, spec):
    from numbatok.verification.references import PlainReference

    comparison = Comparison(tokenizer, PlainReference(spec))
    for group in sample_texts([b"the"], [], with_bytes=False, rounds=1):
        comparison.compare(group[:300], [])
    return comparison.report


@pytest.mark.oracle
def test_tokenizers_agrees_and_keeps_its_settings(gpt2, vocab_file):
    tokenizers = pytest.importorskip("tokenizers")
    path = vocab_file("gpt2", "tokenizer.json")
    reference = tokenizers.Tokenizer.from_file(str(path))
    reference.enable_truncation(3)
    reference.encode_special_tokens = True

    report = gpt2.verify(reference)

    print(report)
    assert report.ok, report
    assert report.comparisons > 60_000
    assert len(reference.encode("one two three four").ids) == 3
    assert reference.encode_special_tokens
    assert gpt2.verify(path, texts=["by path"]).reference == report.reference


@pytest.mark.oracle
def test_tiktoken_agrees(vocab_file):
    pytest.importorskip("tiktoken")
    path = vocab_file("gpt2", "r50k_base.tiktoken")

    report = numbatok.load(path).verify(path)

    print(report)
    assert report.reference.startswith("tiktoken")
    assert report.ok, report
    assert report.comparisons > 60_000


def test_other_objects_are_refused_as_references(gpt2, tmp_path):
    with pytest.raises(numbatok.InvalidType, match=r"reference is 3 \(int\); pass None, a path"):
        gpt2.verify(3)
    with pytest.raises(numbatok.UnknownTokenizerName):
        gpt2.verify(tmp_path / "none.json")


def test_texts_are_seeded_and_of_all_kinds():
    first, again = (
        [text for group in sample_texts([b"a", b"\xff"], ["<s>"], True, 2) for text in group]
        for _ in range(2)
    )

    assert first == again
    assert {type(text) for text in first} == {str, bytes}
    assert set(ILL_FORMED) < set(first)
    assert any("<s>" in text for text in first if isinstance(text, str))
    for text in first:
        if isinstance(text, str):
            text.encode()  # no surrogates
