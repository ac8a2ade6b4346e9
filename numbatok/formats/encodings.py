"""The published rank files: how each one is recognized, its pattern, and its special tokens.

A rank file holds neither a pattern nor special tokens. One whose SHA-256 is in this table gets
them; of any other nothing is guessed. Qwen's own class normalizes text to NFC before it looks up
ranks; that is no property of its rank file, so it is not here (its tokenizer.json has it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numbatok.formats import special_tokens as special

OPENAI = "https://openaipublic.blob.core.windows.net/encodings"


@dataclass(frozen=True)
class Encoding:
    """A rank file together with the pattern and the special tokens that its library gives it."""

    name: str
    pattern: str  # a name of numbatok.pattern_names
    ranks: int  # number of lines
    special_tokens: Callable[[], dict[str, int]]
    sha256: str | None  # None: the file is published only behind a licence; told by name
    file: str | None = None  # its name under OPENAI

    @property
    def url(self) -> str | None:
        """The address that tiktoken fetches it from, and names its cached file by."""
        return None if self.file is None else f"{OPENAI}/{self.file}"


R50K = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
P50K = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
CL100K = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
O200K = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
LLAMA3 = "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55"
LLAMA4 = "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed"
KIMI_K2 = "b6c497a7469b33ced9c38afb1ad6e47f03f5e5dc05f15930799210ec050c5103"
QWEN = "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186"
QWEN3_5 = "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd"
WHISPER = "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126"


def _after_ranks(**ids: int) -> Callable[[], dict[str, int]]:
    return lambda: special.openai(**ids)


END = 50256
FIM = {"fim_prefix": 100258, "fim_middle": 100259, "fim_suffix": 100260}
EDIT = {"fim_prefix": 50281, "fim_middle": 50282, "fim_suffix": 50283}

ENCODINGS: dict[str, Encoding] = {
    entry.name: entry
    for entry in (
        Encoding(
            "r50k_base", "r50k", 50256, _after_ranks(endoftext=END), R50K, "r50k_base.tiktoken"
        ),
        Encoding(
            "p50k_base", "r50k", 50280, _after_ranks(endoftext=END), P50K, "p50k_base.tiktoken"
        ),
        Encoding(
            "p50k_edit",
            "r50k",
            50280,
            _after_ranks(endoftext=END, **EDIT),
            P50K,
            "p50k_base.tiktoken",
        ),
        Encoding(
            "cl100k_base",
            "cl100k",
            100256,
            _after_ranks(endoftext=100257, **FIM, endofprompt=100276),
            CL100K,
            "cl100k_base.tiktoken",
        ),
        Encoding(
            "o200k_base",
            "o200k",
            199998,
            _after_ranks(endoftext=199999, endofprompt=200018),
            O200K,
            "o200k_base.tiktoken",
        ),
        Encoding("o200k_harmony", "o200k", 199998, special.harmony, O200K, "o200k_base.tiktoken"),
        Encoding("llama3", "llama3", 128000, special.llama3, LLAMA3),
        Encoding("llama4", "o200k", 200000, special.llama4, LLAMA4),
        Encoding("kimi_k2", "kimi", 163584, special.kimi_k2, KIMI_K2),
        Encoding("qwen", "qwen2", 151643, special.qwen, QWEN),
        Encoding(
            "qwen3.5", "qwen3.5", 248044, lambda: special.in_order(special.QWEN3_5, 248044), QWEN3_5
        ),
        Encoding("glm4", "llama3", 151329, lambda: special.in_order(special.GLM4, 151329), None),
        Encoding("whisper", "gpt2", 50257, lambda: special.whisper(50257, 99), WHISPER),
        Encoding("whisper_v3", "gpt2", 50257, lambda: special.whisper(50257, 100), WHISPER),
        Encoding("whisper_english", "gpt2", 50256, lambda: special.whisper(50256, 99), R50K),
    )
}


def encoding_of(sha256: str) -> Encoding | None:
    """Return the encoding of a rank file; of several with one file, the first in the table."""
    return next((entry for entry in ENCODINGS.values() if entry.sha256 == sha256), None)
