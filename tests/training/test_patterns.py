"""Any pattern: training cuts as the reference does, and the tokenizer as training did."""

from __future__ import annotations

from collections import Counter

import pytest

import numbatok
from numbatok.pattern_names import PATTERNS
from numbatok.reference import pretokenize
from numbatok.reference.train import train as reference_train
from numbatok.training.patterns import spec_of_pattern

TEXTS = [
    "Hello, world! I'm 12345 years OLD; you'RE 1,234.5 -- don't\tgo\r\n\r\n  Then: aBCdE fooBar\n",
    "日本語、テスト。 ｶﾀｶﾅ 한국어 été naïve ÅÄÖ ½ Ⅷ ٣٤٥ 👍🏽 a\u0301b\u200d  !!??...///\n\n\n",
    "def f(x):\n    return x**2  # comment\n\n\nclass A:\n\tpass\n" * 2,
    " \u00a0 \u3000x  y   z    ",
]
REGEXES = (
    r"\w+|[^\w\s]+|\s+",
    r"\p{L}+",
    r"[a-z]{1,3}|.",
    r"\S+(?=\s)|\s+|\S+",
    r"(?i:the)|\d|\D+",
)


@pytest.mark.parametrize("pattern", [*PATTERNS, *REGEXES])
def test_training_and_encoding_cut_alike(pattern, tmp_path):
    spec = spec_of_pattern(pattern)
    wanted = Counter(word for text in TEXTS for word in pretokenize(spec, text))
    counts = numbatok.count_pretokens(TEXTS, pattern, progress=False)
    assert dict(counts) == dict(wanted)
    tokenizer = numbatok.train(TEXTS, 300, pattern=pattern, progress=False)
    assert tokenizer.merges == reference_train(wanted, 44)
    assert numbatok.train(counts, 300, progress=False).merges == tokenizer.merges
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = numbatok.load(tmp_path / "tokenizer.json")
    for text in TEXTS:
        cut = [word.encode() for word in tokenizer.pretokenize(text)]
        assert cut == pretokenize(spec, text)
        assert loaded.encode(text).tolist() == tokenizer.encode(text).tolist()


@pytest.mark.parametrize("pattern", ["o200k", "bloom", r"\p{L}+"])
def test_a_long_document_in_blocks(pattern, tmp_path, monkeypatch):
    from numbatok.training import opening

    monkeypatch.setattr(opening, "BLOCK_BYTES", 997)
    text = "".join(TEXTS) * 60 + "x" * 20_000 + "1" * 9000 + "".join(TEXTS)
    (tmp_path / "a.txt").write_text(text, newline="")
    wanted = numbatok.count_pretokens([text], pattern, progress=False)
    assert numbatok.count_pretokens(tmp_path / "a.txt", pattern, progress=False) == wanted
    words = pretokenize(spec_of_pattern(pattern), text)
    assert dict(wanted) == dict(Counter(words)) and len(words) > 1000
