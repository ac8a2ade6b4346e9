"""`numbatok.train` and `numbatok.count_pretokens`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Union

from numbatok.compile import build_tables
from numbatok.tokenizer import Tokenizer
from numbatok.training.counts import PretokenCounts
from numbatok.training.options import (
    DefaultPattern,
    Veto,
    check_folder,
    check_memory,
    check_options,
    integer,
)
from numbatok.training.patterns import spec_of_pattern, spec_to_train
from numbatok.training.pretokens import Pretokens, sort_and_add_up
from numbatok.training.progress import Choice, Reporter
from numbatok.training.report import TrainingReport
from numbatok.training.run import Limits, Training, count_source
from numbatok.training.setup import count_or_resume, open_checkpoint, open_counts, plan_vocabulary
from numbatok.training.sources import TextSource, open_source
from numbatok.training.ties import Ties
from numbatok.training.vocabulary import SpecialTokens

GPT2 = DefaultPattern("gpt2")


def count_pretokens(
    source: TextSource,
    pattern: str = "gpt2",
    *,
    memory_limit: int | None = None,
    spill_directory: str | Path | None = None,
    first_seen: bool = False,
    first: int = 0,
    progress: Choice = None,
) -> PretokenCounts:
    """Return how often each distinct pretoken of a source occurs.

    Args:
        source: as in `train`, without counts.
        pattern: what cuts the text: a name or a regex, as in `train`.
        memory_limit: bytes for the counting tables; past it sorted runs go to disk.
        spill_directory: the folder for those runs; the system's temporary folder if None.
        first_seen: keep where each pretoken occurs first, which `ties="minbpe"` needs.
        first: where this source starts in the whole, in bytes, if it is a part of one.
        progress: as in `train`.

    Raises:
        InvalidInput: an argument or an item of the source is none that can be used.
        InvalidSource: a file is damaged, became shorter, or lacks the field.
        TrainingError: the disk for spilled runs is full.
        UnsupportedTokenizer: encode could not use the pattern.
    """
    spec, opened = spec_of_pattern(pattern), open_source(source)
    limits = Limits(check_memory(memory_limit), check_folder("spill_directory", spill_directory))
    with Reporter(progress) as reporter:
        counted = count_source(opened, spec, limits, reporter)
    found = counted.pretokens
    firsts = None if found.firsts is None or not first_seen else found.firsts + first
    found = Pretokens(found.text, found.ends, found.numbers, firsts)
    return PretokenCounts(found if counted.is_sorted else sort_and_add_up(found), str(pattern))


def train(
    source: Union[TextSource, PretokenCounts],
    vocab_size: int,
    *,
    pattern: str = GPT2,
    special_tokens: SpecialTokens = (),
    min_frequency: int = 0,
    max_token_bytes: int | None = None,
    initial_alphabet: Literal["bytes"] | bytes = "bytes",
    ties: Ties = "huggingface",
    start_from: Tokenizer | None = None,
    veto: Veto | None = None,
    memory_limit: int | None = None,
    spill_directory: str | Path | None = None,
    checkpoint: str | Path | None = None,
    progress: Choice = None,
) -> Tokenizer:
    """Learn a byte-level BPE tokenizer.

    Args:
        source: an iterable of str or bytes, each a document; a path, folder or glob pattern of
            text, JSON Lines or Parquet files, or `numbatok.training.Files` for how to read them;
            an Arrow column; a pyarrow Table of counts, or PretokenCounts.
        vocab_size: how many ids: 256 bytes, special tokens and merges.
        pattern: what cuts text into pretokens: a name such as "gpt2", "cl100k", "llama3",
            "o200k", or a regex, read as that of tokenizers' Split(Regex(...), "isolated"). Counts
            and `start_from` bring their own.
        special_tokens: names, or a dict of names and the ids they get. Names alone get the first
            ids with ties="huggingface", as in BpeTrainer, else those after the last merge. No
            merge makes what is one, where BpeTrainer gives both the same id.
        min_frequency: a pair that occurs less often is not merged; 0, the default of BpeTrainer
            and the rule of rustbpe, merges pairs that occur once, too.
        max_token_bytes: no merge makes a longer token. BpeTrainer's max_token_length is counted
            in other units, and lets merges of two bytes pass.
        initial_alphabet: all 256 bytes, always, so that every text can be encoded; "bytes" numbers
            them as `ties` says, a bytes object of all 256 in its own order. BpeTrainer's default
            has only characters it saw, and limits them with limit_alphabet.
        ties: which of equally frequent pairs is merged: "huggingface" the smaller pair of ids,
            bytes being numbered as in GPT-2's vocabulary (BpeTrainer with
            initial_alphabet=ByteLevel.alphabet()); "bytes" the same with bytes numbered by value
            (rustbpe, bpeasy); "minbpe" the pair that occurs first in the source (minbpe). None
            is random: the result does not depend on threads, chunks or, but for "minbpe", on the
            order of the documents.
        start_from: a tokenizer whose ids, merges and special tokens are kept; the new merges
            follow. Ties go by its ids.
        veto: a function of left and right (bytes) that returns True to forbid a merge, or a regex
            that forbids products in which it is found.
        memory_limit: bytes for counting and merging, 64 MB at least. Past it, counts go to disk;
            a corpus whose distinct pretokens do not fit is refused, with figures.
        spill_directory: the folder for counts on disk; the system's temporary folder if None.
        checkpoint: a folder that is kept up to date; the same call goes on from there after any
            interruption, to the same result. Also with a larger vocab_size.
        progress: True shows a bar (tqdm), a function gets `TrainingProgress`, False is silent;
            None shows the bar on a terminal and in notebooks.

    Raises:
        InvalidInput: an argument or an item of the source is none that can be used.
        InvalidSource: a file is damaged, became shorter, or lacks the field.
        TrainingError: a limit or the disk; CheckpointError: the checkpoint is of another training.
        UnsupportedTokenizer: encode could not use the pattern.
    """
    tokenizer, _ = train_with_report(
        source, vocab_size, pattern=pattern, special_tokens=special_tokens,
        min_frequency=min_frequency, max_token_bytes=max_token_bytes,
        initial_alphabet=initial_alphabet, ties=ties, start_from=start_from, veto=veto,
        memory_limit=memory_limit, spill_directory=spill_directory, checkpoint=checkpoint,
        progress=progress,
    )  # fmt: skip
    return tokenizer


def train_with_report(
    source: Union[TextSource, PretokenCounts],
    vocab_size: int,
    *,
    pattern: str = GPT2,
    special_tokens: SpecialTokens = (),
    min_frequency: int = 0,
    max_token_bytes: int | None = None,
    initial_alphabet: Literal["bytes"] | bytes = "bytes",
    ties: Ties = "huggingface",
    start_from: Tokenizer | None = None,
    veto: Veto | None = None,
    memory_limit: int | None = None,
    spill_directory: str | Path | None = None,
    checkpoint: str | Path | None = None,
    progress: Choice = None,
    held_out: TextSource | None = None,
) -> tuple[Tokenizer, TrainingReport]:
    """Learn a tokenizer as `train` does, and report.

    `held_out` is text that is not trained on, any source, whose compression is reported; the other
    arguments and the errors are those of `train`.
    """
    options = check_options(ties, initial_alphabet, min_frequency, max_token_bytes, veto)
    size = integer("vocab_size", vocab_size, 0)
    limits = Limits(check_memory(memory_limit), check_folder("spill_directory", spill_directory))
    counts, opened = open_counts(source, options)
    unread = None if held_out is None else open_source(held_out)
    spec = spec_to_train(pattern, start_from, counts)
    plan = plan_vocabulary(spec, options, size, special_tokens, start_from is not None)
    kept = open_checkpoint(check_folder("checkpoint", checkpoint), options, plan, opened)
    with Reporter(progress) as reporter:
        ordered = ties == "minbpe"
        counted = count_or_resume(counts, opened, spec, limits, kept, ordered, reporter)
        training = Training(counted, plan, options, limits, kept, reporter)
        trained = training.run()
        held = None
        if unread is not None:
            held = training.compression(count_source(unread, spec, limits, reporter))
    tokenizer = Tokenizer(trained, build_tables(trained))
    return tokenizer, training.report(tokenizer.vocab_size, held)
