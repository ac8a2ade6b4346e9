"""One run of encode_files: the record that it keeps, what it sets up, what it sums up."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from numbatok.files.encoded import Encoded
from numbatok.files.manifest import Record, Totals
from numbatok.files.pipeline import Pipeline
from numbatok.files.progress import Choice, Progress, Report, Reporter
from numbatok.files.readers import kept_schema, make_readers
from numbatok.files.row_sinks import MegatronSink, TableSink
from numbatok.files.settings import Settings
from numbatok.files.shards import Shards, Target, open_record, writing
from numbatok.files.sinks import Sink, StreamSink
from numbatok.files.sources import Source
from numbatok.files.table_writers import Contents

if TYPE_CHECKING:
    from numbatok.tokenizer import Tokenizer


@dataclass(frozen=True)
class Summary:
    """What a run wrote, with what earlier runs that it resumed had written."""

    output: str
    files: list[str]  # names, in order
    rows: int
    null_rows: int
    ids: int  # in the output, those between documents included
    dropped_ids: int  # at the end, too few for a sequence
    text_bytes: int
    output_bytes: int
    seconds: float  # of this run alone

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows, {self.text_bytes:,} bytes of text -> {self.ids:,} ids in "
            f"{len(self.files)} files of {self.output_bytes:,} bytes, {self.seconds:.1f} s"
        )


@dataclass(frozen=True)
class Run:
    """What is encoded, how, and where to."""

    tokenizer: Tokenizer
    settings: Settings
    sources: list[Source]
    target: Target

    def run(self, *, resume: bool, overwrite: bool, progress: Choice) -> Summary:
        """Do what is left to do. Errors: see `numbatok.files.encode_files`."""
        began = time.perf_counter()
        self.target.check_inputs(source.path for source in self.sources)
        with writing(self.target.path):
            record = open_record(self.target, self._request(), resume=resume, overwrite=overwrite)
        if record.totals is None:
            with Reporter(progress) as report:
                self._encode(record, report)
        return self._summary(record, time.perf_counter() - began)

    def _request(self) -> dict[str, Any]:
        name = repr(self.tokenizer)
        return {
            "tokenizer": {"name": name, "fingerprint": self.tokenizer.fingerprint},
            "settings": self.settings.as_json(),
            "inputs": [source.as_json() for source in self.sources],
        }

    def _encode(self, record: Record, report: Report) -> None:
        kept = kept_schema(self.settings, self.sources)
        readers = make_readers(self.tokenizer, self.settings, self.sources, kept)
        resume, opened = record.resume, _Opened()

        def open_sink() -> Sink:
            opened.shards = Shards(self.target, record)
            opened.sink = self._sink(opened.shards, resume.skip, kept)
            return opened.sink

        try:
            pipeline = Pipeline(self.tokenizer, self.settings, self.sources, readers)
            reporter = _Counter(self.sources, resume.totals, report)
            totals = pipeline.run(
                open_sink, resume.position, resume.totals, reporter.on_block, self.target.path
            )
            assert opened.shards is not None and opened.sink is not None
            with writing(self.target.path):
                opened.shards.complete(asdict(totals) | {"dropped_ids": opened.sink.dropped_ids})
        except BaseException:
            if opened.shards is not None:
                opened.shards.abandon()
            raise

    def _sink(self, shards: Shards, skip: int, kept: Any) -> Sink:
        if self.settings.format == "megatron":
            return MegatronSink(self.settings, shards, skip, self.settings.dtype)
        contents = Contents(kept, self.tokenizer.fingerprint, self.tokenizer.vocab_size)
        sink = TableSink if self.settings.by_row else StreamSink
        return sink(self.settings, shards, skip, contents)

    def _summary(self, record: Record, seconds: float) -> Summary:
        files = [file for shard in record.shards for file in shard["files"]]
        assert record.totals is not None
        return Summary(
            output=str(self.target.path),
            files=[file["name"] for file in files],
            ids=sum(shard["ids"] for shard in record.shards),
            output_bytes=sum(file["bytes"] for file in files),
            seconds=seconds,
            **record.totals,
        )


@dataclass
class _Opened:
    """What there is once the first block is encoded: until then nothing is written or removed."""

    shards: Shards | None = None
    sink: Sink | None = None


class _Counter:
    """Adds blocks up and tells a report."""

    def __init__(self, sources: list[Source], before: Totals, report: Report) -> None:
        self._sizes = [source.size for source in sources]
        self._rows, self._bytes, self._ids = before.rows, before.text_bytes, 0
        self._report = report

    def on_block(self, encoded: Encoded) -> None:
        """Report after a block."""
        block, totals = encoded.block, encoded.totals()
        self._rows += totals.rows
        self._bytes += totals.text_bytes
        self._ids += encoded.ids.size
        read = sum(self._sizes[: block.parts[-1].source]) + block.read_bytes
        self._report(Progress(self._rows, self._bytes, self._ids, read, sum(self._sizes)))
