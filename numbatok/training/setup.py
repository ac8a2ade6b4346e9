"""What a training needs before it runs: counts or a source, a plan, a checkpoint."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from numbatok.compile import build_tables
from numbatok.errors import InvalidType, InvalidValue
from numbatok.spec import TokenizerSpec
from numbatok.spec_json import to_json
from numbatok.training.checkpoint import Checkpoint
from numbatok.training.counts import PretokenCounts
from numbatok.training.options import Options
from numbatok.training.pretokens import Pretokens, sort_and_add_up
from numbatok.training.progress import Reporter
from numbatok.training.run import Counted, Limits, count_source
from numbatok.training.sources import Source, open_source
from numbatok.training.vocabulary import Plan, SpecialTokens, plan_extension, plan_new


def open_counts(source: Any, options: Options) -> tuple[PretokenCounts | None, Source | None]:
    """Return the counts that a source is, or the source to count.

    Errors: InvalidType; InvalidValue for counts that do not know what comes first.
    """
    counts = source if isinstance(source, PretokenCounts) else None
    if type(source).__module__.startswith("pyarrow.") and hasattr(source, "column_names"):
        if "pretoken" not in source.column_names:
            raise InvalidType(
                f"source is a table with columns {source.column_names!r:.200}; pass one of them"
            )
        counts = PretokenCounts.from_arrow(source)
    if counts is None:
        return None, open_source(source)
    if options.ties == "minbpe" and counts.pretokens.firsts is None:
        raise InvalidValue(
            "ties='minbpe' needs to know which pretoken comes first; count with first_seen=True"
        )
    return counts, None


def plan_vocabulary(
    spec: TokenizerSpec, options: Options, size: int, specials: SpecialTokens, extends: bool
) -> Plan:
    """Return which ids there will be. Errors: InvalidType, InvalidValue."""
    if extends:
        return plan_extension(spec, size, specials)
    return plan_new(spec, options.alphabet, size, specials, options.ties == "huggingface")


def open_checkpoint(
    folder: Path | None, options: Options, plan: Plan, source: Source | None
) -> Checkpoint | None:
    """Return the checkpoint in a folder, which knows by what to tell its training."""
    if folder is None:
        return None
    base = hashlib.sha256(to_json(plan.base).encode())
    base.update(repr(sorted(plan.forbidden())).encode())
    known = options.to_json() | {"tokenizer": base.hexdigest()}
    return Checkpoint(folder, known, None if source is None else source.identity)


def count_or_resume(
    counts: PretokenCounts | None,
    source: Source | None,
    spec: TokenizerSpec,
    limits: Limits,
    kept: Checkpoint | None,
    ordered: bool,
    reporter: Reporter,
) -> Counted:
    """Return the counts: those given, those of the checkpoint, or what counting the source gives.

    `ordered` keeps first places. Errors: CheckpointError if the checkpoint has other counts.
    """
    if counts is not None:
        build_tables(spec)  # refuses a pattern that encode could not use, before the work
        counted = Counted(counts.pretokens, None)
    else:
        assert source is not None
        loaded = None if kept is None else kept.load_counts()
        if loaded is not None:
            return Counted(loaded, None)
        counted = count_source(source, spec, limits, reporter)
    if kept is not None:
        found = _without_places(counted.pretokens, ordered)
        counted.pretokens = found if counted.is_sorted else sort_and_add_up(found)
        kept.save_counts(counted.pretokens, PretokenCounts(counted.pretokens).digest())
    return counted


def _without_places(pretokens: Pretokens, ordered: bool) -> Pretokens:
    if ordered:
        return pretokens
    return Pretokens(pretokens.text, pretokens.ends, pretokens.numbers, None)
