"""TokenizerSpec -> Tables: one small function per table.

Merges: a merge of a file is kept only if it can happen. Take any text in which it does: the two
parts stand side by side, and everything that was merged inside them was merged without touching
what is outside. The rule "lowest rank, then leftmost" therefore chose inside as it does when the
token's bytes stand alone. So the merge can happen if and only if merging the bytes of its product
alone arrives at exactly its two parts; and since that run is deterministic, each token is the
product of at most one merge. Files that list every split of every token (280,000 merges for
128,000 tokens) shrink to one merge a token, symbols can be numbered by rank, and the id of a
merge's product needs no table of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, starmap
from operator import add, itemgetter

import numpy as np

from numbatok.aside import Aside
from numbatok.character_classes import byte_alphabet, two_stages
from numbatok.errors import UnsupportedTokenizer
from numbatok.limits import check_limits
from numbatok.memory import addresses_of, aligned_zeros
from numbatok.native import function
from numbatok.normalization import Normalization, searched_contents
from numbatok.pattern import Pattern, recognize
from numbatok.premerge import certify
from numbatok.scratch import ThreadState
from numbatok.spec import AddedToken, BpeModel, Merges, TokenizerSpec
from numbatok.tables import (
    ADDED,
    DROPPED,
    EMPTY_PAIR,
    FUSED,
    I64,
    KNOWN,
    LSTRIP,
    MAX_MERGES,
    N_SHAPE,
    NEITHER,
    NO_RANK,
    OPAQUE,
    PUNCTUATION,
    RSTRIP,
    SINGLE_WORD,
    SPACE,
    SPECIAL,
    TOKEN,
    TOO_MUCH,
    U8,
    U32,
    U64,
    UNKNOWN,
    WORD,
    AddedTokens,
    Automaton,
    CharacterClasses,
    Entries,
    LateMerges,
    MergeRules,
    Tables,
    Vocabulary,
    WideClasses,
)

NO_CLASSES = CharacterClasses(np.zeros(0, np.uint16), np.zeros(0, np.uint8), np.zeros(0, np.uint8))
NO_AUTOMATON = Automaton(
    WideClasses(np.zeros(0, np.uint16), np.zeros(0, np.uint16), np.zeros(0, np.uint8)),
    np.zeros(0, np.uint16), np.zeros(0, np.uint32), np.zeros(0, np.uint16),
    np.zeros(0, np.uint32), np.zeros(0, np.uint8), np.zeros(N_SHAPE, np.int64),
)  # fmt: skip
NO_VOCABULARY = Vocabulary(np.zeros(1, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint8))
MAX_LATE_WORK = 1_000_000_000  # sum of squares of token lengths: about 3 s
LONGEST_WORD = 4096  # merging gives longer ones as well; runs of a byte make tokens of megabytes
KEY_BYTES = 15  # a longer word is in the table of long words
WORDS_PER_BUCKET = 0.77  # of two places: 50,000 words in 65,536 buckets, as measured for GPT-2


@dataclass(frozen=True)
class Words:
    """Byte strings one after the other."""

    text: U8  # [n_bytes + 16]
    ends: I64  # [n + 1] word w is text[ends[w] : ends[w + 1]]

    @classmethod
    def join(cls, words: Sequence[bytes]) -> Words:
        """Lay words out for a kernel."""
        ends = np.zeros(len(words) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=ends[1:])
        return cls(np.frombuffer(b"".join(words) + bytes(16), np.uint8), ends)


def build_tables(spec: TokenizerSpec) -> Tables:
    """Build everything that kernels need of a tokenizer.

    Errors: UnsupportedTokenizer, naming the feature.
    """
    pattern, model = recognize(spec), spec.model
    check_limits(spec)
    n_merges = len(model.tokens) if model.merges is None else len(model.merges)
    automaton = build_automaton(pattern)
    tables = Tables(
        classes=build_classes(pattern, automaton),
        automaton=automaton,
        cutter=build_cutter(spec),
        merges=empty_merges(n_merges, model),
        words=Entries(
            aligned_zeros(8 * max(8, int(len(model.tokens) / WORDS_PER_BUCKET)), np.uint64)
        ),
        long_words=empty_long_words(model),
        long_word_bytes=np.zeros(
            sum(len(t) for t in model.tokens if len(t) > KEY_BYTES) + 64, np.uint8
        ),
        **build_searches(spec),
        vocabulary=NO_VOCABULARY,
        merge_ids=build_merge_ids(model),
    )
    longest = max(map(len, model.tokens), default=0)
    state = ThreadState(tables, longest=longest)
    learning = Aside(lambda: learn_merges(model, state, tables.merges))
    try:
        vocabulary, words, ids = build_vocabulary(spec), *words_of(model)
    finally:
        learning.result()
    learn_words(words, ids, model.ignore_merges, state)
    return tables._replace(vocabulary=vocabulary)


def build_automaton(pattern: Pattern) -> Automaton:
    """Compile the pre-tokenizers of a pattern that is no family; else return the empty automaton.

    Errors: UnsupportedTokenizer, InvalidTokenizerFile.
    """
    if pattern.chain is None:
        return NO_AUTOMATON
    from numbatok.regex.automaton import lay_out
    from numbatok.regex.chain import compile_chain

    return lay_out(compile_chain(pattern.chain, pattern.engine))


def build_cutter(spec: TokenizerSpec) -> Automaton:
    """Compile the steps before one that puts a space before each piece that it gets.

    Errors: UnsupportedTokenizer, InvalidTokenizerFile.
    """
    from numbatok.regex.automaton import lay_out
    from numbatok.regex.chain import compile_cutter, prefixing_step

    if prefixing_step(spec.pre_tokenizers) <= 0:
        return NO_AUTOMATON
    return lay_out(compile_cutter(spec.pre_tokenizers, spec.engine))


def build_classes(pattern: Pattern, automaton: Automaton) -> CharacterClasses:
    """Build the two-stage table of a pattern's classes; an automaton has classes of its own."""
    if pattern.chain is not None:
        return NO_CLASSES._replace(ill_formed=automaton.classes.ill_formed)
    kinds = pattern.class_of_points()
    return two_stages(kinds, kinds[byte_alphabet()].astype(np.uint8))


def punctuation_classes(pattern: Pattern, tables: Tables) -> U8:
    """Return the class of each byte if those that are no UTF-8 count as punctuation."""
    if pattern.chain is not None:
        return np.full(256, tables.automaton.shape[PUNCTUATION], np.uint8)
    return np.full(256, pattern.punctuation, np.uint8)


_BYTES = {point: byte for byte, point in enumerate(byte_alphabet().tolist())}


# --- merges ---------------------------------------------------------------------------------------


def empty_merges(n_merges: int, model: BpeModel) -> MergeRules:
    """Make the merge table with its bytes, room for n_merges at 5/8 of the slots at most."""
    if n_merges > MAX_MERGES:
        raise UnsupportedTokenizer(f"model.merges: {n_merges} merges, at most {MAX_MERGES}")
    ids = np.zeros(256 + n_merges + 2, np.uint32)
    missing = []
    for byte in range(256):
        number = model.tokens.get(bytes([byte]))
        if number is None:
            missing.append(byte)
        else:
            ids[byte] = number
    odd = np.zeros(0, np.uint8)
    if missing:
        odd = np.full(256, KNOWN, np.uint8)
        odd[missing], ids[-2] = what_becomes_of_missing(model, missing)
    return MergeRules(
        empty_buckets(n_merges), np.full(65536, NO_RANK, np.uint32), ids, odd,
        edges=np.zeros(65536, np.uint64), characters=np.zeros(65536, np.uint64),
        filter=empty_filter(n_merges),
    )  # fmt: skip


def empty_buckets(n_pairs: int) -> U64:
    """Make the slots of a merge table, which n_pairs fill to 5/8 at most."""
    buckets = aligned_zeros(8 << max(1, int(n_pairs / 5).bit_length()), np.uint64)
    buckets[:] = EMPTY_PAIR
    return buckets


def empty_filter(n_pairs: int) -> U64:
    """Make the bits of a filter, of which n_pairs set an eighth at most."""
    return np.zeros(1 << max(0, (n_pairs - 1).bit_length() - 3), np.uint64)


def what_becomes_of_missing(model: BpeModel, missing: Sequence[int]) -> tuple[int, int]:
    """Return DROPPED, UNKNOWN or FUSED for bytes without a token, and the unknown token's id."""
    if model.byte_fallback:
        raise UnsupportedTokenizer(
            f"model.byte_fallback: true, and model.vocab lacks byte 0x{missing[0]:02x}"
        )
    if model.unk is None:
        return DROPPED, 0
    number = model.opaque.get(model.unk)
    if number is None:
        number = model.tokens.get(spelled_bytes(model.unk) or b"")
    if number is None:
        raise UnsupportedTokenizer(f"model.unk_token: {model.unk!r} is not in model.vocab")
    return (FUSED if model.fuse_unk else UNKNOWN), number


def spelled_bytes(token: str) -> bytes | None:
    """Return the bytes of a token spelled in the byte alphabet, or None."""
    try:
        return bytes([_BYTES[ord(character)] for character in token])
    except KeyError:
        return None


def learn_merges(model: BpeModel, state: ThreadState, merges: MergeRules) -> None:
    """Fill the merge table with the merges that can happen."""
    words, lefts, ids = products_of(model)
    ranks = np.full(len(ids), -1, np.int64)
    # more merges than tokens: all splits of a rank file, of which some are late
    in_order = model.merges is None or len(ids) <= len(model.tokens)
    if in_order:
        function("build_merges")(
            state.address, words.text.ctypes.data, words.ends.ctypes.data, lefts.ctypes.data,
            ids.ctypes.data, len(ids), ranks.ctypes.data,
        )  # fmt: skip
    if ranks.min(initial=0) < 0:
        learn_late(words, lefts, ids, ranks, state, in_order)
    certify(merges, *edges_of_symbols(words, ranks, merges.ids.size - 1))


def edges_of_symbols(words: Words, ranks: I64, n_symbols: int) -> tuple[U8, U8]:
    """Return the first and the last byte of every symbol."""
    first, last = np.arange(n_symbols).astype(np.uint8), np.arange(n_symbols).astype(np.uint8)
    learned = np.flatnonzero(ranks >= 0)
    first[256 + ranks[learned]] = words.text[words.ends[learned]]
    last[256 + ranks[learned]] = words.text[words.ends[learned + 1] - 1]
    return first, last


def products_of(model: BpeModel) -> tuple[Words, I64, U32]:
    """Return what merges make, the length of its left part (0: any), its id."""
    if isinstance(model.merges, Merges):
        lengths = np.frombuffer(model.merges.lengths, np.uint32).astype(np.int64)
        ends = np.append(0, np.cumsum(lengths)[1::2])
        text = np.frombuffer(model.merges.text + bytes(16), np.uint8)
        ids = np.frombuffer(model.merges.ids, np.uint32)[2::3]
        return Words(text, ends), lengths[0::2].copy(), ids.copy()
    if model.merges is None:
        ranked = sorted((i, token) for token, i in model.tokens.items() if len(token) > 1)
        products, lefts = [token for _, token in ranked], np.zeros(len(ranked), np.int64)
    else:
        products = list(starmap(add, model.merges))
        lefts = np.fromiter(map(len, map(itemgetter(0), model.merges)), np.int64, len(products))
    found = np.fromiter(map(model.tokens.__getitem__, products), np.uint32, len(products))
    return Words.join(products), lefts, found


def learn_late(
    words: Words, lefts: I64, ids: U32, ranks: I64, state: ThreadState, in_order: bool
) -> None:
    """Learn merges in any order; if they were learned in order, only if some may be late."""
    n, longest = len(ids), int(np.diff(words.ends).max(initial=0))
    n_pairs = int(np.where(lefts > 0, 1, np.diff(words.ends)).sum())
    late = LateMerges(
        words.text, words.ends, lefts, ids, ranks,
        names=np.zeros(1 << (2 * n).bit_length(), np.uint64),
        first=np.zeros(n, np.uint32), made=np.zeros(n, np.uint32), splits=np.zeros(n, np.uint32),
        pairs=state.tables.merges._replace(
            buckets=empty_buckets(n_pairs), byte_ranks=np.zeros(65536, np.uint32),
            filter=empty_filter(n_pairs),
        ),
        symbols=np.zeros(longest + 1, np.uint32), lengths=np.zeros(longest + 1, np.uint32),
        pair_ranks=np.zeros(longest + 1, np.uint32),
    )  # fmt: skip
    addresses = addresses_of(late)
    found = function("learn_late_merges")(
        state.address, addresses.ctypes.data, n, int(in_order), MAX_LATE_WORK
    )
    if found == TOO_MUCH:
        raise UnsupportedTokenizer(
            "model.merges: merges that come before the merges that make their parts are supported "
            f"up to {MAX_LATE_WORK:,} squared bytes of tokens. Sort the merges, or leave out "
            "tokens of thousands of bytes."
        )


def build_merge_ids(model: BpeModel) -> U32:
    """Return the ids of the two parts of every merge of the file; empty for a rank file."""
    if model.merges is None:
        return np.zeros(0, np.uint32)
    if isinstance(model.merges, Merges):
        return np.delete(np.frombuffer(model.merges.ids, np.uint32).reshape(-1, 3), 2, 1).ravel()
    parts = map(model.tokens.__getitem__, chain.from_iterable(model.merges))
    return np.fromiter(parts, np.uint32, 2 * len(model.merges))


# --- words ----------------------------------------------------------------------------------------


def empty_long_words(model: BpeModel) -> U64:
    """Make the table of tokens of more than 15 bytes, at most half full."""
    n_long = sum(len(token) > KEY_BYTES for token in model.tokens)
    return aligned_zeros(4 * max(4, 2 * n_long), np.uint64)


def words_of(model: BpeModel) -> tuple[Words, U32]:
    """Return the tokens that are words, in the order of their ids, and their ids."""
    tokens = list(model.tokens)
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    ids = np.fromiter(model.tokens.values(), np.uint32, len(tokens))
    order = np.argsort(ids)
    most = lengths.max(initial=0) if model.ignore_merges else LONGEST_WORD
    order = order[(lengths[order] > 0) & (lengths[order] <= most)]
    return Words.join([tokens[k] for k in order.tolist()]), ids[order]


def learn_words(words: Words, ids: U32, ignore_merges: bool, state: ThreadState) -> None:
    """Fill the words tables with the vocabulary, valued by running the merge.

    With ignore_merges, a pretoken that is a token is that token whatever merging would give.
    """
    function("build_words")(
        state.address, words.text.ctypes.data, words.ends.ctypes.data, ids.ctypes.data,
        len(ids), int(ignore_merges),
    )  # fmt: skip


# --- added tokens, vocabulary ---------------------------------------------------------------------


def build_searches(spec: TokenizerSpec) -> dict[str, AddedTokens]:
    """Build the three tries of added tokens; a normalized one is searched as it is normalized."""
    tokens = spec.added_tokens
    contents = searched_contents(tokens, Normalization(spec.normalizers))
    return {
        "added": build_added_tokens(tokens, contents),
        "raw_added": build_added_tokens(
            tokens, [b"" if t.normalized else c for t, c in zip(tokens, contents, strict=True)]
        ),
        "normalized_added": build_added_tokens(
            tokens, [c if t.normalized else b"" for t, c in zip(tokens, contents, strict=True)]
        ),
    }


def build_added_tokens(tokens: Sequence[AddedToken], contents: Sequence[bytes]) -> AddedTokens:
    """Build the trie of added tokens by the bytes that are searched, b"" for none."""
    children: dict[tuple[int, int], int] = {}
    ends = [-1]
    for number, content in enumerate(contents):
        node = 0
        for byte in content:
            node = children.setdefault((node, byte), len(ends))
            if node == len(ends):
                ends.append(-1)
        ends[node] = number if node else -1
    first = np.zeros(256, np.uint8)
    first[[byte for node, byte in children if node == 0]] = 1
    few, flags = np.flatnonzero(first).astype(np.uint8), flags_of(tokens)
    return AddedTokens(
        first_bytes=first,
        few_first=few if len(few) <= 4 else few[:0],
        slots=trie_slots(children),
        tokens=np.array(ends, np.int64),
        ids=np.array([token.id for token in tokens], np.uint32),
        flags=flags,
        neighbors=neighbor_classes() if flags.size else NO_CLASSES,
    )


def flags_of(tokens: Sequence[AddedToken]) -> U8:
    """Return the flags of each added token; empty if no token has any."""
    flags = [t.lstrip * LSTRIP | t.rstrip * RSTRIP | t.single_word * SINGLE_WORD for t in tokens]
    return np.array(flags if any(flags) else [], np.uint8)


def neighbor_classes() -> CharacterClasses:
    """Classify the characters that an added token's flags look at."""
    from numbatok import unicode

    kinds = np.full(0x110000, NEITHER, np.uint8)
    kinds[unicode.word_characters()] = WORD
    kinds[unicode.white_space()] = SPACE
    return two_stages(kinds, np.full(256, NEITHER, np.uint8))


def trie_slots(children: dict[tuple[int, int], int]) -> U64:
    """Put the edges of a trie into an open-addressed table, as `child_of` looks them up."""
    slots = [0] * (1 << max(3, (2 * len(children)).bit_length()))
    for (node, byte), child in children.items():
        key = (node << 8 | byte) + 1
        slot = ((key * 0x9E3779B97F4A7C15 & (1 << 64) - 1) >> 32) * len(slots) >> 32
        while slots[slot]:
            slot = (slot + 1) % len(slots)
        slots[slot] = key << 32 | child
    return np.array(slots, np.uint64)


def build_vocabulary(spec: TokenizerSpec) -> Vocabulary:
    """Lay out the bytes of every id; an added token's string stands for its id."""
    model = spec.model
    contents = dict(zip(model.tokens.values(), model.tokens, strict=True))
    contents.update((number, content.encode()) for content, number in model.opaque.items())
    contents.update((added.id, added.content.encode()) for added in spec.added_tokens)
    numbers = sorted(contents)
    words = Words.join(list(map(contents.__getitem__, numbers)))
    n_ids = numbers[-1] + 1 if numbers else 0
    starts, kinds = np.zeros(n_ids + 1, np.int64), np.zeros(n_ids, np.uint8)
    starts[1:][numbers] = np.diff(words.ends)
    kinds[list(model.tokens.values())] = TOKEN
    kinds[list(model.opaque.values())] = OPAQUE
    for added in spec.added_tokens:
        kinds[added.id] |= ADDED | SPECIAL if added.special else ADDED
    return Vocabulary(np.cumsum(starts, out=starts), words.text, kinds)
