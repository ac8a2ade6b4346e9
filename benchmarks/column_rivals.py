"""The rivals of benchmarks.columns: what each one does, on which data.

A rival is (work, bytes of text, result -> digest of its ids); count_arrow has no ids to compare.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.catalog import TEXTS, files_of, text_path
from benchmarks.places import CACHE

SEPARATOR = "<|endoftext|>"


# --- data -----------------------------------------------------------------------------------------


def column_path(n_rows: int) -> Path:
    """Return an Arrow file of rows of 100 to 300 bytes, cut out of all texts."""
    target = CACHE / f"column-{n_rows}.arrow"
    if not target.exists():
        import numpy as np
        import pyarrow as pa

        target.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(text_path(name).read_text(encoding="utf-8") for name in TEXTS).encode()
        sizes = np.random.default_rng(0).integers(100, 301, n_rows).tolist()
        rows, at = [], 0
        for size in sizes:
            at = at if at + size < len(text) else at % 997
            rows.append(text[at : at + size].decode(errors="ignore"))
            at += size
        partial = target.with_suffix(".partial")
        table = pa.table({"text": rows})
        with pa.OSFile(str(partial), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        partial.replace(target)
    return target


def parquet_path(n_rows: int, copies: int) -> Path:
    """Return the same rows, so many times, as Parquet with pyarrow's defaults."""
    target = CACHE / f"rows-{n_rows}x{copies}.parquet"
    if not target.exists():
        import pyarrow.parquet as pq

        table, partial = read_column(n_rows, whole=False), target.with_suffix(".partial")
        with pq.ParquetWriter(partial, table.schema) as writer:
            for _ in range(copies):
                writer.write_table(table, row_group_size=100_000)
        partial.replace(target)
    return target


def separated_path(n_rows: int, copies: int) -> Path:
    """Return a text file of documents of twenty rows with separators between them."""
    target = CACHE / f"documents-{n_rows}x{copies}.txt"
    if not target.exists():
        rows = read_column(n_rows, whole=False)["text"].to_pylist()
        documents = ["".join(rows[i : i + 20]) for i in range(0, len(rows), 20)]
        partial = target.with_suffix(".partial")
        with open(partial, "w", encoding="utf-8") as file:
            for _ in range(copies):
                file.write(SEPARATOR.join(documents) + SEPARATOR)
        partial.replace(target)
    return target


def read_column(n_rows: int, whole: bool = True) -> Any:
    """Return the column as one array, or its table."""
    import pyarrow as pa

    with pa.memory_map(str(column_path(n_rows))) as file:
        table = pa.ipc.open_file(file).read_all()
    return pa.concat_arrays(table["text"].chunks) if whole else table


# --- rivals ---------------------------------------------------------------------------------------

Rival = tuple[Callable[[], Any], int, Callable[[Any], str]]


def digest_of(ids: Any) -> str:
    """Return a digest of ids as uint32."""
    import numpy as np

    return hashlib.sha256(np.ascontiguousarray(ids, np.uint32).tobytes()).hexdigest()


def text_bytes(n_rows: int) -> int:
    """Return the bytes of text of the column, kept on disk: counting reads all of it to memory."""
    target = column_path(n_rows).with_suffix(".bytes")
    if not target.exists():
        target.write_text(str(size_of(read_column(n_rows, whole=False)["text"])))
    return int(target.read_text())


def size_of(column: Any) -> int:
    """Return the bytes of text of a column."""
    import pyarrow.compute as pc

    return int(pc.sum(pc.binary_length(column)).as_py())


def kernel(n_rows: int, copies: int) -> Rival:
    """The parallel driver on the buffers of the column."""
    import numpy as np

    import numbatok
    from numbatok import parallel
    from numbatok.arrow.buffers import text_rows

    tok, column = numbatok.load("gpt2"), read_column(n_rows)
    rows, policy = text_rows(column), tok._policies.get("plain")
    tokens = tok._spec.added_tokens
    work = lambda: parallel.encode(tok._encoder, rows.text, rows.ends, policy, tokens)  # noqa: E731
    return work, rows.text.size, lambda job: digest_of(np.asarray(job.ids[: job.n_ids]))


def encode_arrow(n_rows: int, copies: int) -> Rival:
    """encode_arrow of the column."""
    import numbatok

    tok, column = numbatok.load("gpt2"), read_column(n_rows)
    work = lambda: tok.encode_arrow(column, "plain")  # noqa: E731
    return work, size_of(column), lambda ids: digest_of(ids.values.to_numpy())


def count_arrow(n_rows: int, copies: int) -> Rival:
    """count_arrow of the column; it has no ids to compare."""
    import numbatok

    tok, column = numbatok.load("gpt2"), read_column(n_rows)
    return lambda: tok.count_arrow(column), size_of(column), lambda counts: ""


def encode_arrow_whole(n_rows: int, copies: int) -> Rival:
    """encode_arrow of all the text of the Parquet file, chunk by chunk."""
    import pyarrow as pa

    import numbatok

    tok, column = numbatok.load("gpt2"), read_column(n_rows)
    whole = pa.chunked_array([column] * copies)
    work = lambda: [tok.encode_arrow(chunk, "plain") for chunk in whole.chunks]  # noqa: E731
    digest = lambda parts: digest_of(pa.chunked_array([p.values for p in parts]).to_numpy())  # noqa: E731
    return work, size_of(whole), digest


def gigatoken(n_rows: int, copies: int) -> Rival:
    """Gigatoken's encode_batch of the column as an Awkward array, which it takes without copies."""
    import awkward
    import numpy as np

    column = read_column(n_rows)
    wide = awkward.from_arrow(column.cast("large_string"))  # it takes 64-bit offsets only
    texts, tok = awkward.drop_none(wide), gigatoken_gpt2()
    work = lambda: tok.encode_batch(texts)  # noqa: E731
    return work, size_of(column), lambda ids: digest_of(np.asarray(awkward.flatten(ids)))


def gigatoken_gpt2() -> Any:
    """Return gigatoken's GPT-2 with special tokens as text."""
    import gigatoken as library

    from benchmarks.libraries.gigatoken import json_without_special_tokens

    return library.Tokenizer.from_json(json_without_special_tokens(str(files_of("gpt2").json)))


def datasets_map(n_rows: int, copies: int) -> Rival:
    """datasets.map with the Rust tokenizers, as its documentation has it, of a tenth of the rows.

    All of them take minutes; the ids are compared here with those of encode_arrow.
    """
    import datasets
    import numpy as np
    import tokenizers

    import numbatok

    column = read_column(n_rows)[: max(n_rows // 10, 100)]
    datasets.disable_progress_bars()
    tok = tokenizers.Tokenizer.from_file(str(files_of("gpt2").json))
    dataset = datasets.Dataset.from_dict({"text": column.to_pylist()})

    def encode(batch: dict[str, list[str]]) -> dict[str, list[list[int]]]:
        return {"ids": [e.ids for e in tok.encode_batch(batch["text"])]}

    def work() -> Any:
        return dataset.map(
            encode, batched=True, load_from_cache_file=False, remove_columns=["text"]
        )

    def digest(mapped: Any) -> str:
        found = np.asarray(mapped.data["ids"].combine_chunks().flatten())
        expected = numbatok.encode_arrow(column, special="recognize").values.to_numpy()
        if not np.array_equal(found, expected):
            raise SystemExit("datasets.map does not have the ids of encode_arrow")
        return ""

    return work, size_of(column), digest


def encode_files_parquet(n_rows: int, copies: int) -> Rival:
    """encode_files, Parquet to Parquet."""
    import numpy as np
    import pyarrow.parquet as pq

    import numbatok

    tok, source = numbatok.load("gpt2"), parquet_path(n_rows, copies)
    out = CACHE / "out.parquet"
    work = lambda: tok.encode_files(source, out, special="plain", overwrite=True)  # noqa: E731

    def digest(summary: Any) -> str:
        parts = (
            batch.column(0).flatten().to_numpy()
            for batch in pq.ParquetFile(out).iter_batches(columns=["ids"])
        )
        return digest_of(np.concatenate(list(parts)))

    return work, text_bytes(n_rows) * copies, digest


def encode_files_text(n_rows: int, copies: int) -> Rival:
    """encode_files, text with separators to ids in a flat file."""
    import numpy as np

    import numbatok

    tok, source = numbatok.load("gpt2"), separated_path(n_rows, copies)
    out = CACHE / "out.bin"
    work = lambda: tok.encode_files(  # noqa: E731
        source, out, split=SEPARATOR, special="plain", eos=False, overwrite=True
    )
    return work, source.stat().st_size, lambda summary: digest_of(np.fromfile(out, np.uint16))


def gigatoken_text(n_rows: int, copies: int) -> Rival:
    """Gigatoken's encode_files of the same file."""
    import awkward
    import gigatoken as library
    import numpy as np

    tok, path = gigatoken_gpt2(), separated_path(n_rows, copies)
    source = library.TextFileSource([str(path)], separator=SEPARATOR)
    work = lambda: tok.encode_files(source)  # noqa: E731
    return work, path.stat().st_size, lambda ids: digest_of(np.asarray(awkward.flatten(ids)))


RIVALS: dict[str, tuple[Callable[[int, int], Rival], int]] = {  # and times the copies
    "kernel": (kernel, 1), "encode_arrow": (encode_arrow, 1), "count_arrow": (count_arrow, 1),
    "gigatoken": (gigatoken, 1), "datasets": (datasets_map, 1),
    "encode_arrow whole": (encode_arrow_whole, 1),
    "encode_files parquet": (encode_files_parquet, 1),
    "encode_files text": (encode_files_text, 1), "gigatoken text": (gigatoken_text, 1),
    "encode_files text x4": (encode_files_text, 4),
}  # fmt: skip
