import json
import pickle

import numpy as np
import pytest

import numbatok
from numbatok.compat import huggingface as compat
from numbatok.verification.texts import sample_texts

END = "<|endoftext|>"
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": END, "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": END, "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {END: {"id": END, "ids": [50256], "tokens": [END]}},
}


@pytest.fixture(scope="module", params=["plain", "template"])
def pair(request, gpt2, tmp_path_factory):
    """Our adapter and transformers' own tokenizer of the same file."""
    transformers = pytest.importorskip("transformers")
    path = tmp_path_factory.mktemp("hf") / "tokenizer.json"
    gpt2.save(path)
    if request.param == "template":
        path.write_text(json.dumps({**json.loads(path.read_text()), "post_processor": TEMPLATE}))
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), pad_token=END)
    return numbatok.load(path).as_hf(pad_token=END), theirs


def texts():
    groups = sample_texts([b" the", b"\xf0\x9f"], [END], with_bytes=False, rounds=1)
    return [text for group in groups for text in group][::6]


def plain(value):
    """A result as builtin values."""
    if hasattr(value, "keys"):
        return {name: plain(value[name]) for name in value}
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.tolist())
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


BATCH = ["Hello, world", "", f"a longer text {END} with more words", "naïve ⭢"]
CALLS = {
    "text": lambda t: t("Hello, world"),
    "batch": lambda t: t(BATCH),
    "no template": lambda t: t(BATCH, add_special_tokens=False),
    "columns": lambda t: t(
        BATCH,
        return_token_type_ids=True,
        return_special_tokens_mask=True,
        return_offsets_mapping=True,
        return_length=True,
    ),
    "one with columns": lambda t: t("naïve ⭢ x", return_offsets_mapping=True),
    "no mask": lambda t: t(BATCH, return_attention_mask=False),
    "longest": lambda t: t(BATCH, padding=True, return_special_tokens_mask=True),
    "left": lambda t: t(BATCH, padding="longest", padding_side="left"),
    "fixed": lambda t: t(BATCH, padding="max_length", max_length=20),
    "multiple": lambda t: t(BATCH, padding=True, pad_to_multiple_of=8),
    "cut": lambda t: t(BATCH, truncation=True, max_length=4, return_offsets_mapping=True),
    "cut and padded": lambda t: t(BATCH, truncation=True, max_length=4, padding="max_length"),
    "matrix": lambda t: t(BATCH, padding=True, return_tensors="np"),
    "one as matrix": lambda t: t("a b", return_tensors="np"),
    "encode": lambda t: t.encode("Hello, world"),
    "tokenize": lambda t: t.tokenize("Hello, wörld"),
    "decode": lambda t: t.decode([15496, 11, 995]),
    "decode one": lambda t: t.decode(15496),
    "decode skipping": lambda t: t.decode([15496, 50256, 995], skip_special_tokens=True),
    "decode many": lambda t: t.decode([[15496], [995]]),
    "decode array": lambda t: t.decode(np.array([15496, 11])),
    "batch decode": lambda t: t.batch_decode([[15496], [995, 50256]], skip_special_tokens=True),
    "to ids": lambda t: t.convert_tokens_to_ids(["Hello", "Ġworld", END]),
    "to id": lambda t: (t.convert_tokens_to_ids("Hello"), t.convert_tokens_to_ids("no token")),
    "to tokens": lambda t: t.convert_ids_to_tokens([15496, 995, 50256]),
    "to token": lambda t: t.convert_ids_to_tokens(995),
    "skipped": lambda t: t.convert_ids_to_tokens([15496, 50256], skip_special_tokens=True),
    "vocabulary": lambda t: t.get_vocab(),
    "sizes": lambda t: (t.vocab_size, len(t)),
    "roles": lambda t: (t.pad_token, t.pad_token_id, t.bos_token, t.bos_token_id),
    "special": lambda t: (t.all_special_tokens, t.all_special_ids),
    "added": lambda t: t.num_special_tokens_to_add(),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", CALLS)
def test_calls_give_what_transformers_gives(pair, name):
    ours, theirs = (plain(CALLS[name](tokenizer)) for tokenizer in pair)

    assert ours == theirs


@pytest.mark.oracle
def test_many_texts_are_equal(pair):
    ours, theirs = pair
    options = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    expected, found = theirs(texts(), **options), ours(texts(), **options)

    print(f"{len(texts())} texts compared")
    assert len(texts()) > 800
    for name in expected:
        assert plain(found[name]) == plain(expected[name]), name


@pytest.mark.oracle
def test_sides_can_be_set(pair):
    ours, theirs = pair
    for tokenizer in pair:
        tokenizer.truncation_side = tokenizer.padding_side = "left"
    try:
        for options in ({"truncation": True, "max_length": 4}, {"padding": True}):
            assert plain(ours(BATCH, **options)) == plain(theirs(BATCH, **options))
    finally:
        for tokenizer in pair:
            tokenizer.truncation_side = tokenizer.padding_side = "right"


def test_a_result_is_a_dict_with_attributes(gpt2):
    found = gpt2.as_hf()("a")

    assert found.input_ids == found["input_ids"] == [64]
    with pytest.raises(AttributeError):
        _ = found.nothing


@pytest.mark.parametrize(
    "options, message",
    [
        ({"text_pair": "b"}, "text_pair='b' is not offered"),
        ({"stride": 3}, "stride=3 is not offered"),
        ({"nonsense": 3}, "nonsense=3 is no argument"),
        ({"truncation": True}, "truncation needs max_length"),
        ({"truncation": "x", "max_length": 3}, "truncation is 'x'"),
        ({"padding": "x"}, "padding is 'x'"),
        ({"padding": True}, "padding needs a pad token"),
        ({"return_tensors": "tf"}, "return_tensors is 'tf'"),
    ],
)
def test_what_is_not_offered_is_refused(gpt2, options, message):
    with pytest.raises(numbatok.InvalidInput, match=message):
        gpt2.as_hf()("a", **options)


def test_rows_of_different_length_make_no_matrix(gpt2):
    with pytest.raises(numbatok.InvalidValue, match="input_ids: the rows differ in length"):
        gpt2.as_hf()(["a", "b c"], return_tensors="np")


def test_roles_are_checked_and_can_be_set(gpt2):
    with pytest.raises(numbatok.InvalidValue, match="'end_token' is no role"):
        gpt2.as_hf(end_token=END)
    with pytest.raises(numbatok.InvalidValue, match="pad_token='<pad>' is no token of gpt2"):
        gpt2.as_hf(pad_token="<pad>")
    tokenizer = gpt2.as_hf()
    assert tokenizer.pad_token is None and tokenizer.pad_token_id is None
    tokenizer.pad_token = END
    assert tokenizer.pad_token_id == 50256 and tokenizer.special_tokens_map == {"pad_token": END}


def test_the_adapter_is_pickled_and_saved(gpt2, tmp_path):
    tokenizer = gpt2.as_hf(pad_token=END)
    tokenizer.padding_side = "left"
    again = pickle.loads(pickle.dumps(tokenizer))

    assert (again.padding_side, again.pad_token_id) == ("left", 50256)
    assert tokenizer.save_pretrained(tmp_path / "new")[0].endswith("tokenizer.json")
    assert numbatok.load(tmp_path / "new").fingerprint == gpt2.fingerprint


def test_the_table_names_every_public_method():
    public = [name for name in vars(compat.HuggingFaceTokenizer) if not name.startswith("_")]

    silent = {"is_fast", "model_input_names", "model_max_length", "special_tokens_map"}
    assert all(f"`{name}`" in compat.__doc__ for name in set(public) - silent)
