"""Random small tokenizer.json documents of every component, all options open."""

from __future__ import annotations

import random
from typing import Any

from tests.formats.documents import ALPHABET, BYTE_LEVEL, added, document
from tests.reference.random_regexes import RandomRegexes

Document = dict[str, Any]

BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SUFFIX}|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SUFFIX}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")
REGEXES = [
    *(GPT2, LLAMA3, O200K, QWEN2, O200K.replace(SUFFIX, ""), LLAMA3.replace(r"|\s+(?!\S)", "")),
    *(r"\s+|\p{N}", r"\p{N}{1,3}", "[\r\n]", r"\s?\p{L}+", r"\s?[!-/:-~]+", r"[一-龥ࠀ-一]+"),
    *(r"\s+$", "[0-9][0-9][0-9]", r"(?:\r?\n)+(?!\r?\n)", r" ?[^(\s|[.,!?…。，、।۔،])]+", r"\d"),
    *(r"[^\s]+", r"a", r"(?i)AB|b", r"\b", r"\w+|[^\w\s]+", r"a*", r" ", r"b++|\n"),
]
NORMALIZERS: list[Document] = [
    *({"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")),
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "bb"},
    {"type": "Replace", "pattern": {"String": "ab"}, "content": ""},
    {"type": "Replace", "pattern": {"String": " "}, "content": "é"},
    {"type": "Replace", "pattern": {"Regex": "[0-9]+"}, "content": "#"},
    {"type": "Replace", "pattern": {"Regex": r" {2,}"}, "content": " "},
    {"type": "Replace", "pattern": {"Regex": r"(?<!\n)^"}, "content": "x"},
    {"type": "Prepend", "prepend": "ab"},
    {"type": "Prepend", "prepend": " "},
]
DECODERS: list[Document] = [
    BYTE_LEVEL,
    {"type": "Fuse"},
    {"type": "ByteFallback"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    {"type": "Strip", "content": "a", "start": 2, "stop": 1},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "b", "prepend_scheme": "first", "split": False},
    {"type": "WordPiece", "prefix": "a", "cleanup": True},
    {"type": "WordPiece", "prefix": "##", "cleanup": False},
    {"type": "BPEDecoder", "suffix": "c"},
    {"type": "Replace", "pattern": {"Regex": "[ab]"}, "content": "x"},
    {"type": "Replace", "pattern": {"String": "Ġ"}, "content": " "},
]
ADDED = [
    *("<s>", "</s>", "<s", "<s>b", "<x>", "ab", "é", " z", "  ", "\n", "a b", "B", "Ab", "中"),
    *("e\u0301", "1", "'s", "< s>", "õ", "\u00a0", "Ġ", "ſ", "abc<s>"),
]
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
TEXT = [
    *(
        "a",
        "b",
        "c",
        "ab",
        "abc",
        "A",
        "B",
        "é",
        "e\u0301",
        "ſ",
        "'",
        "'s",
        "1",
        "23",
        "٣",
        " ",
        "  ",
    ),
    *(
        "\t",
        "\n",
        "\r\n",
        "\u00a0",
        "\u0301",
        "中",
        "文",
        "カ",
        "!",
        "/",
        "👍",
        "_",
        "ǅ",
        "ʰ",
        "the",
    ),
    *("0x", "==", "İ", "ﬁ", "한", "\x00", "\u3000", "..", "½"),
]


class RandomDocuments:
    """Makes one tokenizer after the other, and texts for it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.regexes = RandomRegexes(seed)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def document(self) -> Document:
        """Return a tokenizer.json."""
        rng = self.rng
        normalizers = rng.choices(NORMALIZERS, k=rng.choice([0, 0, 0, 1, 1, 2, 3]))
        decoders = [BYTE_LEVEL] if self.chance(0.7) else rng.choices(DECODERS, k=rng.randrange(4))
        model = self.model()
        return document(
            model=model,
            normalizer=self.chain(normalizers, "normalizers"),
            pre_tokenizer=self.chain(self.pre_tokenizers(), "pretokenizers"),
            post_processor=self.post_processor(),
            decoder=self.chain(decoders, "decoders"),
            added_tokens=self.added_tokens(model["vocab"]),
        )

    def texts(self, value: Document, count: int) -> list[str]:
        """Return texts that the document's tokens and rules see something in."""
        pool = TEXT * 2 + [token["content"] for token in value["added_tokens"]] * 2
        texts = ["".join(self.rng.choices(pool, k=self.rng.randint(0, 12))) for _ in range(count)]
        return [*texts, self.rng.choice(TEXT) * self.rng.randint(2, 40)]

    def chain(self, steps: list[Document], members: str) -> Document | None:
        """None, one step, or a Sequence, sometimes in a Sequence or beside an empty one."""
        if len(steps) < 2 and self.chance(0.7):
            return steps[0] if steps else None
        if steps and self.chance(0.1):
            steps = [*steps, {"type": "Sequence", members: []}]
        whole = {"type": "Sequence", members: steps}
        return {"type": "Sequence", members: [whole]} if self.chance(0.2) else whole

    def pre_tokenizers(self) -> list[Document]:
        """Return a chain that has one ByteLevel step, mostly the last."""
        steps = [self.pre_tokenizer() for _ in range(self.rng.choice([0, 0, 1, 1, 1, 2, 3]))]
        byte_level = {
            **BYTE_LEVEL,
            "add_prefix_space": self.chance(0.25),
            "use_regex": self.chance(0.5 if not steps else 0.3),
        }
        at = len(steps) if self.chance(0.75) else self.rng.randrange(len(steps) + 1)
        return [*steps[:at], byte_level, *steps[at:]]

    def pre_tokenizer(self) -> Document:
        """Return any step but ByteLevel, most often a Split."""
        rng = self.rng
        others: list[Document] = [
            {"type": "Digits", "individual_digits": self.chance(0.5)},
            {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)},
            {"type": "Whitespace"},
            {"type": "WhitespaceSplit"},
            {"type": "CharDelimiterSplit", "delimiter": rng.choice("1a 中Ġ")},
            {"type": "FixedLength", "length": rng.randrange(1, 5)},
            {"type": "UnicodeScripts"},
        ]
        if self.chance(0.45):
            return rng.choice(others)
        return {
            "type": "Split",
            "pattern": self.pattern(),
            "behavior": rng.choice(BEHAVIORS) if self.chance(0.6) else "Isolated",
            "invert": self.chance(0.25),
        }

    def pattern(self) -> Document:
        if self.chance(0.15):
            return {"String": self.rng.choice([" ", "a", "ab", ".", "\n", "中"])}
        if self.chance(0.3):
            return {"Regex": self.regexes.regex()}
        return {"Regex": self.rng.choice(REGEXES)}

    def model(self) -> Document:
        """Return a model: merges in or out of order, twice, with parts made later, of any bytes."""
        rng = self.rng
        kept = 1.0 if self.chance(0.5) else 0.97
        tokens = dict.fromkeys(char for char in ALPHABET if rng.random() < kept)
        merges = self.merges(tokens)
        tokens |= dict.fromkeys(rng.sample(["<unk>", "<s>", "x y", "｜", "<0x41>", "ab"], k=2))
        ids = list(range(len(tokens)))
        if self.chance(0.3):
            rng.shuffle(ids)
        if self.chance(0.2):
            ids = rng.sample(range(2 * len(tokens)), len(tokens))
        written = all(" " not in part for pair in merges for part in pair) and self.chance(0.4)
        return {
            "type": "BPE",
            "dropout": rng.choice([None, 0.0]),
            "unk_token": rng.choice([None, "<unk>", "a"]) if "<unk>" in tokens else None,
            "continuing_subword_prefix": rng.choice([None, ""]),
            "end_of_word_suffix": rng.choice([None, ""]),
            "fuse_unk": self.chance(0.5),
            "byte_fallback": self.chance(0.05),
            "ignore_merges": self.chance(0.4),
            "vocab": dict(zip(tokens, ids, strict=True)),
            "merges": [" ".join(pair) for pair in merges] if written else merges,
        }

    def merges(self, tokens: dict[str, None]) -> list[list[str]]:
        """Return merges of tokens, adding their products to them."""
        rng, merges = self.rng, []
        common = [char for char in "abcthe'sĠĊ1ABÃ©äŃ!" if char in tokens]
        for _ in range(rng.choice([0, 3, 10, 30])):
            left = rng.choice(common if self.chance(0.5) else list(tokens)[-40:])
            right = rng.choice(common if self.chance(0.7) else list(tokens)[-40:])
            if len(left + right) <= 12:
                merges.append([left, right])
                tokens[left + right] = None
        for product in list(tokens)[-10:]:
            if len(product) > 2 and self.chance(0.3):  # another way to the same token
                at = rng.randrange(1, len(product))
                parts = [product[:at], product[at:]]
                tokens |= dict.fromkeys(parts)
                merges.append(parts)
        if merges and self.chance(0.2):
            merges.append(rng.choice(merges))
        if self.chance(0.25):
            rng.shuffle(merges)
        return merges

    def added_tokens(self, vocab: dict[str, int]) -> list[Document]:
        """Return added tokens, some of which are in the vocabulary."""
        contents = self.rng.sample(ADDED, self.rng.choice([0, 0, 1, 2, 4, 8]))
        made = []
        for content in contents:
            new = len(vocab) + sum(token["content"] not in vocab for token in made)
            flags = {flag: self.chance(0.25) for flag in FLAGS}
            made.append(added(content, vocab.get(content, new), **flags))
        return made

    def post_processor(self) -> Document | None:
        """Return a chain of at most one that adds tokens and one that trims offsets."""
        rng = self.rng
        ends = {"cls": ["<s>", 3], "sep": ["</s>", 4]}
        roberta = {"trim_offsets": self.chance(0.5), "add_prefix_space": self.chance(0.5)}
        adding = rng.choice(
            [
                [],
                [],
                [self.template()],
                [{"type": "BertProcessing", **ends}],
                [{"type": "RobertaProcessing", **ends, **roberta}],
            ]
        )
        trimming = [{**BYTE_LEVEL, "trim_offsets": self.chance(0.5)}] if self.chance(0.3) else []
        return self.chain(adding + trimming, "processors")

    def template(self) -> Document:
        """Return a template with special tokens anywhere."""

        def texts(*names: str) -> list[Document]:
            parts: list[Document] = []
            for name in names:
                parts += [self.piece("SpecialToken", s) for s in self.specials()]
                parts.append(self.piece("Sequence", name))
            return parts + [self.piece("SpecialToken", s) for s in self.specials()]

        special = {"<s>": [3], "</s>": [4], "both": [5, 6]}
        return {
            "type": "TemplateProcessing",
            "single": texts(*("A" if self.chance(0.95) else self.rng.choice(["", "AA"]))),
            "pair": texts(*("AB" if self.chance(0.8) else self.rng.choice(["", "A", "BA", "ABA"]))),
            "special_tokens": {
                name: {"id": name, "ids": ids, "tokens": [name] * len(ids)}
                for name, ids in special.items()
            },
        }

    def specials(self) -> list[str]:
        return self.rng.choices(["<s>", "</s>", "both"], k=self.rng.choice([0, 0, 1, 2]))

    def piece(self, kind: str, name: str) -> Document:
        return {kind: {"id": name, "type_id": self.rng.randrange(3)}}
