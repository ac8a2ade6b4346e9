"""Training: count, merge, keep checkpoints, report."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from numbatok.compile import build_tables
from numbatok.errors import TrainingError
from numbatok.spec import TokenizerSpec
from numbatok.training.checkpoint import Checkpoint, Progress
from numbatok.training.counting import Counter
from numbatok.training.growth import nbytes_foreseen
from numbatok.training.merging import Merger, Rules, Start
from numbatok.training.options import Options
from numbatok.training.pretokens import Pretokens
from numbatok.training.progress import Reporter
from numbatok.training.report import TrainingReport
from numbatok.training.sources import Source
from numbatok.training.vocabulary import Merge, Plan

CHECKPOINT_SECONDS = 30.0  # between two that are kept while merging


@dataclass(frozen=True)
class Limits:
    """What the machine gives: memory in bytes, and where counts go that do not fit."""

    memory: int | None = None
    directory: Path | None = None


@dataclass
class Counted:
    """The pretokens of a source."""

    pretokens: Pretokens
    n_documents: int | None
    seconds: float = 0.0
    is_sorted: bool = True


def count_source(
    source: Source, spec: TokenizerSpec, limits: Limits, reporter: Reporter
) -> Counted:
    """Count the pretokens of a source as a tokenizer cuts it; the order is nobody's."""
    started = time.monotonic()
    counter = Counter(spec, limits.memory, limits.directory)
    for block in source.blocks():
        counter.add(block)
        done = counter.n_bytes if source.n_bytes is None else source.position()
        reporter.tell("counting", done, source.n_bytes, counter.n_distinct)
    pretokens = counter.finish()
    done = counter.n_bytes if source.n_bytes is None else source.n_bytes
    reporter.tell("counting", done, source.n_bytes, len(pretokens), is_last=True)
    seconds = time.monotonic() - started
    return Counted(pretokens, counter.n_documents, seconds, counter.is_sorted)


class Training:
    """Counts of pretokens on their way to a tokenizer."""

    def __init__(
        self,
        counted: Counted,
        plan: Plan,
        options: Options,
        limits: Limits,
        checkpoint: Checkpoint | None,
        reporter: Reporter,
    ) -> None:
        self._counted, self._plan, self._options = counted, plan, options
        self._limits, self._checkpoint, self._reporter = limits, checkpoint, reporter
        self._forbidden = plan.forbidden()
        self._merges: list[Merge] = []  # those that a checkpoint had, then those learned
        self._kept = Progress([], [], [])

    def run(self) -> TokenizerSpec:
        """Learn the merges and return the tokenizer; on an interrupt keep what is learned."""
        started = time.monotonic()
        if self._checkpoint is not None:
            self._kept = self._checkpoint.load_merges() or self._kept
        merger = self._merger()
        try:
            self._advance(merger)
        except KeyboardInterrupt:
            self._save(merger)
            raise
        self._save(merger)
        self._merges += merger.merges()
        spec = self._plan.spec(self._merges)
        self._seconds = time.monotonic() - started
        self._measure(merger)
        return spec

    def _advance(self, merger: Merger) -> None:
        """Let the merger work; between slices report, and from time to time keep a checkpoint."""
        saved, n_kept = time.monotonic(), len(self._merges)
        n_all, n_distinct = self._plan.n_merges, len(self._counted.pretokens)
        for n_merges in merger.run():
            self._reporter.tell("merging", n_kept + n_merges, n_all, n_distinct, merger.last_count)
            if time.monotonic() - saved >= CHECKPOINT_SECONDS:
                self._save(merger)
                saved = time.monotonic()
        n_merges = n_kept + merger.n_merges
        self._reporter.tell("merging", n_merges, n_all, n_distinct, merger.last_count, True)

    # --- where merging starts ---------------------------------------------------------------------

    def _merger(self) -> Merger:
        """Return the merger, brought to where the checkpoint left off."""
        symbols, pairs = self._plan.symbols(), self._kept.merges[: self._plan.n_merges]
        for left, right in pairs:
            self._merges.append((symbols[left], symbols[right]))
            symbols.append(symbols[left] + symbols[right])
        n_left = self._plan.n_merges - len(pairs)
        self._check_memory(len(symbols) + n_left)
        start = Start(symbols, vetoed=self._kept.vetoed)
        if len(symbols) > 256:
            start = self._start_merged(symbols)
        return Merger(self._counted.pretokens, n_left, start, self._rules())

    def _start_merged(self, symbols: Sequence[bytes]) -> Start:
        """Return the start at which the pretokens are merged by all that is learned."""
        spec = self._plan.spec(self._merges)
        tokens, number_of = spec.model.tokens, {token: n for n, token in enumerate(symbols)}
        symbol_of = np.zeros(max(tokens.values()) + 1, np.uint32)
        for token, number in tokens.items():
            if token:
                symbol_of[number] = number_of[token]
        whole = spec.model.ignore_merges or spec.model.merges is None
        return Start(symbols, build_tables(spec), symbol_of, whole, self._kept.vetoed)

    def _rules(self) -> Rules:
        options, forbidden = self._options, self._forbidden
        veto: Callable[[bytes, bytes], bool] | None = options.veto

        def decide(left: bytes, right: bytes) -> bool:
            return left + right not in forbidden and not (veto is not None and veto(left, right))

        return Rules(
            by_place=options.ties == "minbpe",
            min_frequency=options.min_frequency,
            max_token_bytes=options.max_token_bytes,
            asked={len(token) for token in forbidden} if veto is None else None,
            decide=decide,
        )

    def _check_memory(self, n_symbols: int) -> None:
        """Refuse a corpus that does not fit into the memory, before the work starts."""
        limit, pretokens = self._limits.memory, self._counted.pretokens
        if limit is None:
            return
        needed = nbytes_foreseen(pretokens.n_bytes + len(pretokens), n_symbols)
        if needed > limit:
            fewer = {n: int(np.count_nonzero(pretokens.numbers >= n)) for n in (2, 3, 5)}
            shown = ", ".join(f"{count:,} occur {n} times or more" for n, count in fewer.items())
            raise TrainingError(
                f"merging {len(pretokens):,} distinct pretokens takes about {needed:,} bytes, "
                f"memory_limit is {limit:,}; {shown}. Raise the limit, or leave rare ones out: "
                "train(count_pretokens(...).at_least(2), ...)"
            )

    # --- checkpoint and report --------------------------------------------------------------------

    def _save(self, merger: Merger) -> None:
        kept, n_kept = self._kept, len(self._merges)
        if self._checkpoint is None or n_kept + merger.n_merges < len(kept.merges):
            return
        self._checkpoint.save_merges(
            Progress(
                kept.merges[:n_kept] + merger.pairs(),
                kept.counts[:n_kept] + merger.counts(),
                merger.vetoed,
            )
        )

    def _measure(self, merger: Merger) -> None:
        """Note what only the merger knows."""
        lengths, numbers = self._counted.pretokens.lengths, self._counted.pretokens.numbers
        n_single = int(numbers[lengths == 1].sum())
        self._n_tokens = merger.n_tokens() + n_single
        self._text_bytes = int(np.dot(lengths, numbers))
        self._last_count = merger.last_count or (self._kept.counts or [0])[-1]
        wanted = f"vocab_size reached after {len(self._merges):,} merges"
        floor = f"no pair occurs {max(1, self._options.min_frequency)} times or more"
        self._stopped = floor if merger.is_exhausted else wanted

    def compression(self, counted: Counted) -> float:
        """Return the bytes per token of text that was not trained on."""
        lengths, numbers = counted.pretokens.lengths, counted.pretokens.numbers
        merger = Merger(counted.pretokens, 0, self._start_merged(self._all_symbols()))
        n_tokens = merger.n_tokens() + int(numbers[lengths == 1].sum())
        return int(np.dot(lengths, numbers)) / max(1, n_tokens)

    def _all_symbols(self) -> list[bytes]:
        return [*self._plan.symbols(), *(left + right for left, right in self._merges)]

    def report(self, vocab_size: int, held_out: float | None) -> TrainingReport:
        """Return the report of a training that has run."""
        return TrainingReport(
            vocab_size=vocab_size,
            n_merges=len(self._merges),
            stopped=self._stopped,
            last_count=self._last_count,
            n_documents=self._counted.n_documents,
            text_bytes=self._text_bytes,
            n_pretokens=int(self._counted.pretokens.numbers.sum()),
            n_distinct=len(self._counted.pretokens),
            n_tokens=self._n_tokens,
            bytes_per_token=self._text_bytes / max(1, self._n_tokens),
            held_out_bytes_per_token=held_out,
            seconds_counting=self._counted.seconds,
            seconds_merging=self._seconds,
            peak_memory=peak_memory(),
            n_resumed=len(self._kept.merges),
        )


def peak_memory() -> int | None:
    """Return the most memory that this process has had, in bytes."""
    try:
        import resource  # not on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
