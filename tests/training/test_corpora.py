"""Real texts: the merges of tokenizers, rustbpe, bpeasy and minbpe's rule."""

from __future__ import annotations

import pytest

import numbatok
from numbatok.reference.train import train as reference_train
from tests.training.other_trainers import bpeasy, huggingface, minbpe, rustbpe
from tests.training.small_corpora import pretokens

CORPORA = ("bible", "cjk", "code", "en", "multilingual", "web")
SEPARATOR = "\n\n\n"

pytestmark = [pytest.mark.oracle, pytest.mark.slow]


def documents(corpus, name, n_bytes):
    """Return the documents at the start of a text."""
    return corpus(name)[:n_bytes].decode(errors="ignore").split(SEPARATOR)


@pytest.mark.parametrize("name", CORPORA)
def test_merges_of_other_libraries(corpus, name):
    texts = documents(corpus, name, 1_500_000)
    found = numbatok.train(texts, 3256, progress=False).merges
    assert found == huggingface(texts, 3000)
    products = [a + b for a, b in numbatok.train(texts, 3256, ties="bytes", progress=False).merges]
    assert products == rustbpe(texts, 3000) == bpeasy(texts, 3000)
    print(
        f"{name}: {len(found)} merges equal to tokenizers', {len(products)} to rustbpe's, bpeasy's"
    )
    assert len(found) == len(products) == 3000


@pytest.mark.parametrize("name", CORPORA)
def test_merges_of_minbpe_and_the_reference(corpus, name):
    texts = documents(corpus, name, 30_000)
    words = [word for text in texts for word in pretokens(text)]
    counts: dict[bytes, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    found = numbatok.train(texts, 406, ties="minbpe", progress=False).merges
    assert found == minbpe(words, 150) == reference_train(counts, 150, ties="minbpe")
    for ties in ("huggingface", "bytes"):
        found = numbatok.train(texts, 406, ties=ties, progress=False).merges
        assert found == reference_train(counts, 150, ties=ties)
    print(f"{name}: 450 merges compared")
