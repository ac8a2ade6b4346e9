"""Read, encode, write: a thread reads, one per core encodes, one writes, with short queues between.

The kernels and pyarrow let other threads run while they work, so the three overlap; the queues
bound the memory, whatever the size of the files.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from numbatok import parallel
from numbatok.arrow.encode import rows_with
from numbatok.files.blocks import Block, Position, merged
from numbatok.files.encoded import Encoded
from numbatok.files.manifest import Totals
from numbatok.files.rows import with_policy
from numbatok.files.settings import Settings
from numbatok.files.shards import writing
from numbatok.files.sinks import Sink
from numbatok.files.sources import Source
from numbatok.pages import borrow, settle
from numbatok.policy import Refusal, special_token_error

if TYPE_CHECKING:
    from numbatok.tokenizer import Tokenizer

READER_SECONDS = 0.5
QUEUED = 4  # blocks that wait between two threads: with one Parquet to Parquet took 9.8 s, not 8.9
LARGE_BLOCK = 1 << 24  # bytes, from which on all cores work on one block: a giant row
COUNTING_SECONDS = 2.0
SPARE_IDS = 4  # that kernels may write after the last one
Item = TypeVar("Item")


class Refused(Exception):
    """A special token in a block, on its way to an error that tells how many rows have one."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


class Stopped(Exception):
    """The other side of a queue gave up."""


class Channel(Generic[Item]):
    """A short queue that either side can end, with an error or without."""

    def __init__(self) -> None:
        self._queue: queue.Queue[Item | None] = queue.Queue(QUEUED)
        self._ended = threading.Event()
        self.error: BaseException | None = None
        self.is_complete = False  # the giver put None: there is no more

    def put(self, item: Item | None) -> None:
        """Wait for room. Errors: Stopped if the taker gave up."""
        while not self._ended.is_set():
            try:
                return self._queue.put(item, timeout=0.1)
            except queue.Full:
                continue
        raise Stopped

    def __iter__(self) -> Iterator[Item]:
        """Yield what was put until None, then raise the giver's error if it has one."""
        while True:
            try:
                item = self._queue.get(timeout=0.1)
            except queue.Empty:
                if self._ended.is_set():
                    break
                continue
            if item is None:
                self.is_complete = True
                break
            yield item
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """Give up, from either side."""
        self._ended.set()


def start_thread(name: str, channel: Channel[Any], work: Callable[[], None]) -> threading.Thread:
    """Run a function in a thread; its error ends the channel."""

    def run() -> None:
        try:
            work()
        except Stopped:
            pass
        except BaseException as error:
            channel.error = error
            channel.stop()

    thread = threading.Thread(target=run, name=f"numbatok-{name}", daemon=True)
    thread.start()
    return thread


class Pipeline:
    """One run over some files."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        settings: Settings,
        sources: list[Source],
        readers: dict[str, Any],
    ) -> None:
        self._tokenizer, self._settings = tokenizer, settings
        self._sources, self._readers = sources, readers
        self._policy = tokenizer._policies.get(settings.special, settings.invalid)

    def run(
        self,
        open_sink: Callable[[], Sink],
        start: Position,
        totals: Totals,
        on_block: Callable[[Encoded], None],
        output: Path,
    ) -> Totals:
        """Encode everything from a position on; return what all rows amount to.

        The sink is opened when there is something to write, or nothing at all.
        Errors: of reading and of writing, and SpecialTokenError.
        """
        blocks: Channel[Block] = Channel()
        encoded: Channel[tuple[Encoded, Totals]] = Channel()
        reader = start_thread("read", blocks, lambda: _put_all(self._blocks(start), blocks))
        writer = start_thread("write", encoded, lambda: _write_all(encoded, open_sink, output))
        try:
            for result in self._encoded(blocks, totals.rows):
                encoded.put((result, totals))
                totals += result.totals()
                on_block(result)
            encoded.put(None)
            writer.join()
        except Stopped:
            pass
        finally:
            blocks.stop()
            encoded.stop()
            reader.join(READER_SECONDS)  # one that waits for a pipe cannot be woken
            writer.join()
        if encoded.error is not None:
            raise encoded.error
        return totals

    def _encoded(self, blocks: Iterable[Block], n_rows: int) -> Iterator[Encoded]:
        """Yield the blocks' ids in order; each core has a block of its own.

        All cores on one small block wait for each other, and for whoever reads and writes: that
        took 6.2 s of CPU time for 1 GB instead of 4.0. `n_rows` came before.
        """
        n, blocks = parallel.n_threads() if parallel.is_allowed() else 1, iter(blocks)
        waiting: deque[tuple[Block, Future[Encoded]]] = deque()
        with ThreadPoolExecutor(n, "numbatok-encode") as pool:
            try:
                for block in blocks:
                    alone = block.text.size <= LARGE_BLOCK
                    while waiting and (len(waiting) > n or not alone):
                        yield waiting[0][1].result()
                        n_rows += len(waiting.popleft()[0].ends)
                    submit = pool.submit if alone else _done
                    waiting.append((block, submit(self._encode, block, alone)))
                while waiting:
                    yield waiting[0][1].result()
                    n_rows += len(waiting.popleft()[0].ends)
            except Refused as refused:
                later = chain((block for block, _ in waiting), blocks)
                raise self._refused(refused.refusal, later, n_rows) from None
            finally:
                pool.shutdown(cancel_futures=True)

    def _blocks(self, start: Position) -> Iterator[Block]:
        return merged(self._small_blocks(start))

    def _small_blocks(self, start: Position) -> Iterator[Block]:
        for number, source in enumerate(self._sources):
            if number < start.source:
                continue
            position = start if number == start.source else Position(number)
            for block in self._readers[source.kind].read(source, position):
                yield with_policy(block, self._settings.invalid, source.path)

    def _encode(self, block: Block, alone: bool) -> Encoded:
        tokenizer = self._tokenizer
        room = borrow(4 * (block.text.size + SPARE_IDS))
        job = parallel.encode(
            tokenizer._encoder,
            block.text,
            block.ends,
            self._policy,
            tokenizer._spec.added_tokens,
            room=room.view(np.uint32),
            alone=alone,
        )
        if job.refusal is not None:
            raise Refused(job.refusal)
        assert job.ids is not None
        settle(room, 4 * job.n_ids)
        encoded = Encoded(block, job.ids[: job.n_ids], job.offsets)
        if self._settings.template:
            encoded = encoded.surrounded(*tokenizer._vocabulary.template_ids())
        return encoded.with_eos(self._settings)

    def _refused(self, refusal: Refusal, blocks: Iterator[Block], n_before: int) -> Exception:
        """Return the error of the first block, which tells how many rows it is about.

        Those before it are not. Those behind it are looked at for COUNTING_SECONDS.
        """
        token = self._tokenizer._spec.added_tokens[refusal.token]
        block, until = next(blocks), time.monotonic() + COUNTING_SECONDS
        source, row = block.place(refusal.document)
        if refusal.document == 0:
            refusal = refusal.moved(0, block.start.row_bytes)
        n_with, n_rows, are_all = _rows_with(block, token.content), n_before + len(block.ends), True
        for later in blocks:
            if time.monotonic() > until:
                are_all = False
                break
            n_with, n_rows = n_with + _rows_with(later, token.content), n_rows + len(later.ends)
        path = self._sources[source].path
        return special_token_error(refusal, token, row, (n_with, n_rows), path, are_all)


def _done(encode: Callable[[Block, bool], Encoded], block: Block, alone: bool) -> Future[Encoded]:
    """Encode in this thread, which Ctrl-C can stop."""
    future: Future[Encoded] = Future()
    try:
        future.set_result(encode(block, alone))
    except Refused as refused:
        future.set_exception(refused)
    return future


def _rows_with(block: Block, content: str) -> int:
    import pyarrow as pa

    offsets = np.concatenate([np.zeros(1, np.int64), block.ends])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block.text)]
    column = pa.Array.from_buffers(pa.large_binary(), len(block.ends), buffers)
    return int(rows_with(column, content).sum())


def _put_all(blocks: Iterable[Block], channel: Channel[Block]) -> None:
    for block in blocks:
        channel.put(block)
    channel.put(None)


def _write_all(
    channel: Channel[tuple[Encoded, Totals]], open_sink: Callable[[], Sink], output: Path
) -> None:
    sink: Sink | None = None
    with writing(output):
        for encoded, before in channel:
            sink = sink or open_sink()
            sink.take(encoded, before)
        if channel.is_complete:
            (sink or open_sink()).close()
