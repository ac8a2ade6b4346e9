"""Which entries are compiled together: a group is one object file, compiled when first needed."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """Where an entry is defined, and how many int64 arguments it takes."""

    module: str
    n_arguments: int


_KERNELS = "numbatok.kernels."

GROUPS = {
    "core": {  # what every text needs
        "encode_documents": Entry(_KERNELS + "encode", 9),
        "encode_parts": Entry(_KERNELS + "parts", 1),
        "move_memo": Entry(_KERNELS + "growth", 2),
    },
    "call": {  # and how it comes from Python
        "encode_object": Entry(_KERNELS + "call", 3),
        "encode_call": Entry(_KERNELS + "call", 4),
        "list_rows": Entry(_KERNELS + "call", 3),
        "release_block": Entry(_KERNELS + "arena", 1),
        "measure_rows": Entry(_KERNELS + "rows", 5),
        "join_rows": Entry(_KERNELS + "rows", 6),
        "write_utf8": Entry(_KERNELS + "transcode", 4),
    },
    "build": {  # what a tokenizer needs that is not known yet
        "build_merges": Entry(_KERNELS + "build", 7),
        "build_words": Entry(_KERNELS + "build", 6),
    },
    "check": {  # and some large files
        "learn_late_merges": Entry(_KERNELS + "late_merges", 5),
        "find_merge_ids": Entry(_KERNELS + "merge_ids", 9),
        "read_merge_text": Entry(_KERNELS + "merge_text", 6),
    },
    "giant": {
        "giant_end": Entry(_KERNELS + "giant", 5),
        "merge_giant": Entry(_KERNELS + "giant", 4),
        "merge_whole": Entry(_KERNELS + "giant", 4),
    },
    "pieces": {
        "find_pretokens": Entry(_KERNELS + "pretokens", 5),
        "find_all_added": Entry(_KERNELS + "added", 5),
    },
    "forms": {
        "normalize": Entry(_KERNELS + "normalize", 4),
        "find_change": Entry(_KERNELS + "normalize", 5),
    },
    "files": {
        "find_separators": Entry(_KERNELS + "separators", 6),
        "pack_ids": Entry(_KERNELS + "pack", 5),
    },
    "decode": {
        "measure_ids": Entry(_KERNELS + "decode", 5),
        "decode_ids": Entry(_KERNELS + "decode", 8),
    },
    "gpt2": {
        "scan_gpt2": Entry(_KERNELS + "scan.gpt2", 4),
        "pretoken_end_gpt2": Entry(_KERNELS + "scan.gpt2", 4),
    },
    "cl100k": {
        "scan_cl100k": Entry(_KERNELS + "scan.cl100k", 4),
        "pretoken_end_cl100k": Entry(_KERNELS + "scan.cl100k", 4),
    },
    "o200k": {
        "scan_o200k": Entry(_KERNELS + "scan.o200k", 4),
        "pretoken_end_o200k": Entry(_KERNELS + "scan.o200k", 4),
    },
    "deepseek_v3": {
        "scan_deepseek_v3": Entry(_KERNELS + "scan.deepseek_v3", 4),
        "pretoken_end_deepseek_v3": Entry(_KERNELS + "scan.deepseek_v3", 4),
    },
    "bloom": {
        "scan_bloom": Entry(_KERNELS + "scan.bloom", 4),
        "pretoken_end_bloom": Entry(_KERNELS + "scan.bloom", 4),
    },
    "train": {
        "count_documents": Entry(_KERNELS + "count", 9),
        "add_pretokens": Entry(_KERNELS + "count", 7),
        "merge_counts": Entry(_KERNELS + "count", 3),
        "export_counts": Entry(_KERNELS + "count", 5),
        "gather_pretokens": Entry(_KERNELS + "pretoken_lists", 7),
        "mark_repeated": Entry(_KERNELS + "pretoken_lists", 4),
        "sort_keys": Entry(_KERNELS + "pretoken_lists", 5),
        "lay_out": Entry(_KERNELS + "recount", 9),
        "merge_corpus": Entry(_KERNELS + "resume", 9),
        "sketch_pairs": Entry(_KERNELS + "recount", 3),
        "choose_threshold": Entry(_KERNELS + "recount", 2),
        "count_pairs": Entry(_KERNELS + "recount", 3),
        "place_lists": Entry(_KERNELS + "recount", 1),
        "list_pairs": Entry(_KERNELS + "recount", 3),
        "count_symbols": Entry(_KERNELS + "recount", 3),
        "fill_heap": Entry(_KERNELS + "recount", 1),
        "grow": Entry(_KERNELS + "grow", 2),
    },
    "automaton": {
        "scan_automaton": Entry(_KERNELS + "scan.automaton", 4),
        "pretoken_end_automaton": Entry(_KERNELS + "scan.automaton", 4),
        "find_marks": Entry(_KERNELS + "scan.automaton", 5),
    },
}

# Of these groups only the kernels named here are optimized for the CPU at hand, because their loops
# gain 10 to 60 % from its vectors and from being unrolled. The rest is as good without. All of the
# other groups is optimized: what they are for takes longer than that.
TUNED = {
    "core": (
        "pack_keys",
        "probe_words",
        "probe_memo",
        "look_up_missed",
        "merge_new",
        "copy_from_memo",
        "write_batch",
        "count_batch",
        "find_segment",
        "copy_segment",
    ),
    "call": (),
    "build": (),
    "gpt2": (),
    "cl100k": (),
    "o200k": (),
    "deepseek_v3": (),
    "bloom": (),
}
