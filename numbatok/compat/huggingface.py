"""The interface of transformers' fast tokenizers (5.x) over a Tokenizer: `tok.as_hf()`.

| call | equals | differs |
|---|---|---|
| `tokenizer(text or texts)` | `input_ids`, `attention_mask`, and on request `offset_mapping`, `special_tokens_mask`, `token_type_ids`, `length` | a plain dict with attributes, not a BatchEncoding; no pairs, strides, overflow or split words: InvalidValue |
| `padding`, `truncation`, `max_length`, `pad_to_multiple_of`, `padding_side` | the same rows | `truncation` needs `max_length`: a file does not state the model's |
| `return_tensors` | "np" and "pt", int64 | no other kinds |
| `encode`, `tokenize` | the same lists | lone surrogates become U+FFFD instead of an error |
| `decode`, `batch_decode` | the same text; `skip_special_tokens` | never cleaned up, as it is off by default there |
| `convert_tokens_to_ids`, `convert_ids_to_tokens` | the same | an unknown id is a KeyError |
| `get_vocab`, `vocab_size`, `len` | the same | |
| `bos_token` ... `mask_token`, and their ids | those named in `as_hf(bos_token=...)` | a tokenizer file names none |
| `all_special_tokens`, `all_special_ids` | | the special tokens of the file, named or not |
| `num_special_tokens_to_add`, `save_pretrained` | the same count; tokenizer.json | no other files |
"""  # noqa: E501 - a table's row is a line

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from numbatok.compat.padding import Row, Side, as_tensors, pad, padded_width
from numbatok.errors import InvalidType, InvalidValue

if TYPE_CHECKING:
    from numbatok.tokenizer import Tokenizer
    from numbatok.vocabulary import Vocabulary

ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
NO_IDS = np.zeros(0, np.uint32)
NOT_OFFERED = {
    "text_pair": None, "text_target": None, "text_pair_target": None, "stride": 0,
    "is_split_into_words": False, "return_overflowing_tokens": False,
}  # fmt: skip


class Encoded(dict[str, Any]):
    """What a call returns: a dict whose keys are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class HuggingFaceTokenizer:
    """A Tokenizer with the methods of transformers' tokenizers; see the module's table."""

    is_fast = True
    model_input_names = ("input_ids", "attention_mask")
    model_max_length = int(1e30)  # transformers' way to say that nobody stated one

    def __init__(
        self, tokenizer: Tokenizer, vocabulary: Vocabulary, name: str, roles: dict[str, str]
    ) -> None:
        self._tokenizer, self._vocabulary, self.name_or_path = tokenizer, vocabulary, name
        self.padding_side: Side = "right"
        self.truncation_side: Side = "right"
        for role, token in roles.items():
            if role not in ROLES:
                raise InvalidValue(f"{role!r} is no role; use one of {', '.join(ROLES)}")
            if tokenizer.token_to_id(token) is None:
                raise InvalidValue(f"{role}={token!r} is no token of {name}")
        self._roles = dict(roles)

    def __getattr__(self, name: str) -> Any:
        """Return the token of a role, or with `_id` its id; None if it has none."""
        if name in ROLES:
            return self._roles.get(name)
        if name.removesuffix("_id") in ROLES:
            token = self._roles.get(name.removesuffix("_id"))
            return None if token is None else self._tokenizer.token_to_id(token)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ROLES:
            self._roles[name] = value
        else:
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"HuggingFaceTokenizer({self._tokenizer!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._tokenizer, self._roles, self.padding_side, self.truncation_side)

    # --- encode -----------------------------------------------------------------------------------

    def __call__(
        self,
        text: str | Sequence[str],
        *,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: Side | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool = False,
        return_attention_mask: bool = True,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        **others: Any,
    ) -> Encoded:
        """Encode a text, or a batch of texts; see the module's table.

        Errors: InvalidValue for what is not offered, InvalidType for what is no text.
        """
        _refuse_others(others)
        limit = _limit(truncation, max_length)
        texts = [text] if isinstance(text, str) else list(text)
        columns = self._columns(texts, add_special_tokens, limit, return_offsets_mapping)
        side = padding_side or self.padding_side
        width = padded_width(columns["input_ids"], padding, max_length, pad_to_multiple_of)
        lengths = [len(row) for row in columns["input_ids"]]
        fill = {"input_ids": self._pad_id(width), "special_tokens_mask": 1}
        omitted = {
            "token_type_ids": not return_token_type_ids,
            "attention_mask": not return_attention_mask,
            "special_tokens_mask": not return_special_tokens_mask,
            "offset_mapping": not return_offsets_mapping,
        }
        found = Encoded()
        for name, rows in columns.items():
            if not omitted.get(name, False):
                filled = [pad(row, width, fill.get(name, 0), side) for row in rows]
                found[name] = as_tensors(filled, return_tensors, name)
        if return_length:
            found["length"] = lengths
        if isinstance(text, str) and return_tensors is None:
            return Encoded({name: rows[0] for name, rows in found.items()})
        return found

    def _columns(
        self, texts: list[str], template: bool, limit: int | None, with_offsets: bool
    ) -> dict[str, list[Row]]:
        """Return the rows of each column, cut to `limit` ids and not padded."""
        before, after = self._vocabulary.template_ids() if template else (NO_IDS, NO_IDS)
        if with_offsets:
            encodings = [self._tokenizer.encode_with_offsets(text, "recognize") for text in texts]
            ids = [encoding.ids for encoding in encodings]
            offsets = [encoding.offsets for encoding in encodings]
        else:
            ids = list(self._tokenizer.encode_batch(texts, "recognize"))
            offsets = [np.zeros((len(row), 2), np.int64) for row in ids]
        room = None if limit is None else max(0, limit - len(before) - len(after))
        kept = [self._kept(len(row), room) for row in ids]
        around = (len(before), len(after))
        rows = [
            np.concatenate([before, row[part], after]).astype(np.int64)
            for row, part in zip(ids, kept, strict=True)
        ]
        masks = [np.ones(len(row), np.int64) for row in rows]
        for mask in masks:
            mask[len(before) : len(mask) - len(after)] = 0
        return {
            "input_ids": rows,
            "token_type_ids": [np.zeros(len(row), np.int64) for row in rows],
            "attention_mask": [np.ones(len(row), np.int64) for row in rows],
            "special_tokens_mask": masks,
            "offset_mapping": [
                np.pad(row[part], (around, (0, 0))) for row, part in zip(offsets, kept, strict=True)
            ],
        }

    def _kept(self, length: int, room: int | None) -> slice:
        if room is None or length <= room:
            return slice(length)
        return slice(room) if self.truncation_side == "right" else slice(length - room, length)

    def _pad_id(self, width: int | None) -> int:
        if width is None:
            return 0
        number = self.pad_token_id
        if number is None:
            raise InvalidValue(
                "padding needs a pad token; name one: tok.as_hf(pad_token=...) or .pad_token = ..."
            )
        return int(number)

    def encode(self, text: str, **options: Any) -> list[int]:
        """Return the ids of a text as a list, or as what `return_tensors` says."""
        ids: list[int] = self(text, **options)["input_ids"]
        return ids

    def tokenize(self, text: str, add_special_tokens: bool = False) -> list[str]:
        """Return the tokens of a text as the file spells them."""
        return self.convert_ids_to_tokens(self.encode(text, add_special_tokens=add_special_tokens))

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """Return how many ids the template puts around one text."""
        if pair:
            raise InvalidValue("pairs of texts are not offered")
        return sum(map(len, self._vocabulary.template_ids()))

    # --- decode -----------------------------------------------------------------------------------

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **_: Any) -> Any:
        """Return the text of ids, or the texts of a sequence of them."""
        if _is_nested(token_ids):
            return self.batch_decode(token_ids, skip_special_tokens)
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        return self._tokenizer.decode(ids, skip_special_tokens)

    def batch_decode(
        self, sequences: Iterable[Any], skip_special_tokens: bool = False, **_: Any
    ) -> list[str]:
        """Return the texts of many sequences of ids."""
        return self._tokenizer.decode_batch(sequences, skip_special_tokens)

    # --- the vocabulary ---------------------------------------------------------------------------

    def convert_tokens_to_ids(self, tokens: str | Iterable[str]) -> Any:
        """Return the id of a token, or a list of them; an unknown one is unk_token's or None."""
        if not isinstance(tokens, str):
            return [self.convert_tokens_to_ids(token) for token in tokens]
        found = self._tokenizer.token_to_id(tokens)
        return self.unk_token_id if found is None else found

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """Return the token of an id, or a list of them, as the file spells them."""
        if isinstance(ids, int):
            return self._tokenizer.id_to_token(ids)
        special = set(self.all_special_ids) if skip_special_tokens else ()
        return [self._tokenizer.id_to_token(int(i)) for i in ids if int(i) not in special]

    def get_vocab(self) -> dict[str, int]:
        """Return ids by token, added tokens included."""
        return dict(self._vocab)

    @cached_property
    def _vocab(self) -> dict[str, int]:
        return self._vocabulary.spelled(with_added=True)

    @cached_property
    def vocab_size(self) -> int:
        """How many tokens the model has; added tokens that it lacks are not counted."""
        return len(self._vocabulary.spelled(with_added=False))

    def __len__(self) -> int:
        return len(self._vocab)

    @property
    def all_special_tokens(self) -> list[str]:
        """The special tokens of the file."""
        return list(self._tokenizer.special_tokens)

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of the special tokens of the file."""
        return list(self._tokenizer.special_tokens.values())

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The tokens by role, as far as they were named."""
        return dict(self._roles)

    def save_pretrained(self, save_directory: str | Path) -> tuple[str]:
        """Write tokenizer.json into a folder, which is made if need be; return its path."""
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        self._tokenizer.save(folder / "tokenizer.json")
        return (str(folder / "tokenizer.json"),)


def _again(
    tokenizer: Tokenizer, roles: dict[str, str], padding_side: Side, truncation_side: Side
) -> HuggingFaceTokenizer:
    """Return what was pickled."""
    made = tokenizer.as_hf(**roles)
    made.padding_side, made.truncation_side = padding_side, truncation_side
    return made


def _limit(truncation: bool | str | None, max_length: int | None) -> int | None:
    if truncation in (None, False, "do_not_truncate"):
        return None
    if truncation not in (True, "longest_first", "only_first"):
        raise InvalidValue(f"truncation is {truncation!r}; use True or False")
    if max_length is None:
        raise InvalidValue("truncation needs max_length: the tokenizer's file states none")
    return max_length


def _refuse_others(others: dict[str, Any]) -> None:
    for name, value in others.items():
        if name not in NOT_OFFERED:
            raise InvalidType(f"{name}={value!r:.40} is no argument that is known here")
        if value != NOT_OFFERED[name]:
            raise InvalidValue(f"{name}={value!r:.40} is not offered by numbatok")


def _is_nested(ids: Any) -> bool:
    if hasattr(ids, "ndim"):
        return int(ids.ndim) > 1
    return isinstance(ids, (list, tuple)) and bool(ids) and not isinstance(ids[0], int)
