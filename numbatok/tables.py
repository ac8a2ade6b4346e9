"""Flat arrays that kernels read and write: shape, dtype, sentinel and meaning, once.

NumPy only: Python reads and writes the same arrays without loading Numba.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

SYMBOL_BITS = 20  # a pair is left << SYMBOL_BITS | right
RANK_BITS = 24  # a slot of the merge table is pair << RANK_BITS | rank
MAX_MERGES = (1 << SYMBOL_BITS) - 512
NO_RANK = (1 << 26) - 1  # larger than every rank; fits rank << 6 in 32 bits
SPILLED = 7  # count of an entry whose ids are elsewhere
NOT_IN_MEMO = -1  # in Batch.entries
EMPTY_PAIR = (1 << 64) - 1  # in MergeRules.buckets; no pair of symbols is all ones
MAX_ID = (1 << 29) - 1  # an id shares 32 bits with a count of 3
MARGIN = 80  # bytes read after the last block: one more block, and a word
UNITS = 32  # code units of a str that are narrowed at once
LOOKAHEAD = 72  # bytes after a window by which a scan may judge; 8 more complete the last character


class CharacterClasses(NamedTuple):
    """Two-stage table: class of code point c = classes[blocks[c >> 7] << 7 | c & 127].

    What a class means is the pattern family's matter (kernels/scan).
    """

    blocks: U16  # [0x110000 >> 7] which block of 128 code points
    classes: U8  # [n_blocks << 7]
    ill_formed: U8  # [256] class of a byte that is part of no well-formed character


MAY_CHANGE = 255  # class, in the tables of a normalization, of a character that it may change or
# that may change what is before it; the other classes are canonical combining classes, up to 240
FIRST_IDEOGRAPH, LAST_IDEOGRAPH = 0xE4, 0xE9  # first bytes of characters that stay as they are


class Changes(NamedTuple):
    """A Unicode form: where it may change a text, and to what.

    The columns and sequences are those of unicode/normalization, of one kind of decomposition.
    """

    classes: CharacterClasses  # 0, MAY_CHANGE or a combining class
    pages: U8  # [64 * 64] is a class not 0, by the low six bits of the first and the second byte
    places: U8  # [0x1100] page of the 256 code points from number << 8
    combining: U8  # [places] canonical combining class
    sequences: U16  # [places] number of the decomposition, 0: itself
    offsets: U16  # [sequences + 2]
    points: U32  # code points of all sequences
    pair_keys: U64  # [pairs] first << 32 | second, ascending; none if the form does not compose
    composites: U32  # [pairs]


MOST_POINTS, MOST_BYTES = 6, 11  # of what a byte becomes: U+FDFA, three bytes, 18 points, 33 bytes


class Stretch(NamedTuple):
    """Work space for a stretch of n bytes that changes."""

    points: U32  # [MOST_POINTS * n + 3]
    kinds: U8  # [MOST_POINTS * n + 3] their combining classes
    sorted: U32  # [MOST_POINTS * n + 3] class << 21 | point
    out: U8  # [MOST_BYTES * n]


# How far a text is normalized, int64[N_NORMALIZE], by place. Rows of the text end at `ends`.
(
    NORMALIZE_FOUND,  # where to look for the next stretch
    NORMALIZE_COPIED,  # what comes before is in `out` as it was or changed; 0: nothing is
    NORMALIZE_WRITTEN,  # bytes of `out`
    NORMALIZE_OUT,
    NORMALIZE_ROOM,
    NORMALIZE_ENDS,
    NORMALIZE_N_DOCUMENTS,
    NORMALIZE_DOCUMENT,  # whose new end comes next
    NORMALIZE_NEW_ENDS,
    NORMALIZE_MARKS,  # U8[256] of INSIDE_TOKEN and ENDS_TOKEN, or 0: what changes may be anywhere
    NORMALIZE_WORK,  # a Stretch
    NORMALIZE_FIRST,  # the stretch at hand
    NORMALIZE_STOP,
    NORMALIZE_NEEDED,  # bytes of the stretch, or of room
    N_NORMALIZE,
) = range(15)
INSIDE_TOKEN, ENDS_TOKEN = 1, 2  # of bytes: is in an added token, is the last one of some


class WideClasses(NamedTuple):
    """As CharacterClasses, with more classes; those of ill-formed bytes are below 256."""

    blocks: U16  # [0x110000 >> 7]
    classes: U16  # [n_blocks << 7]
    ill_formed: U8  # [256]


class Automaton(NamedTuple):
    """A chain of pre-tokenizers as two tables that are run over the text one after the other.

    The first is read from the end of the text: row + symbol gives the row before the symbol (the
    outlook: what is known of the text that follows) and a column. The second is read from the
    start: row + column gives the next row. There is a cut before a symbol if it leads to a row of
    at least shape[CUTS_FROM]. All arrays are empty if the pattern is a family of its own.
    """

    classes: WideClasses  # class 0 is the inside of a character
    joint: U16  # [n_classes << 8] symbol of class << 8 | byte; empty: the class is the symbol
    back: U32  # [n_outlooks * n_symbols] row before; row 0 is at the end of the text
    columns: U16  # [n_outlooks * n_symbols]
    forward: U32  # [n_rows * n_columns] next row; row 0 is at the start of the text
    ends: U8  # [n_rows] ENDS_DROPPED, ENDS_AT_EMPTY_MATCH: what a text's end is in this row
    shape: I64  # [N_SHAPE]


ENDS_DROPPED, ENDS_AT_EMPTY_MATCH = 1, 2  # bits
(
    N_SYMBOLS,
    COLUMN_BITS,  # a row of `forward` takes 1 << COLUMN_BITS columns
    UNKNOWN_FROM,  # first row of an outlook that may be any of several
    UNKNOWN_START,  # row of the one that may be any at all: where a text is cut off but goes on
    CUTS_FROM,  # first row after a cut, a power of two; after those where the piece is kept come
    DROPS_FROM,  # those where the piece before the cut is dropped, half as much more; and
    EMPTY_FROM,  # those after an empty match, told apart on demand
    MARK_SHIFT,  # row >> MARK_SHIFT has MARK_CUT and MARK_DROP as its highest bits
    ROW_UNKNOWN_FROM,  # as UNKNOWN_FROM and
    ROW_UNKNOWN_START,  # UNKNOWN_START, of `forward`
    PUNCTUATION,  # class of an ill-formed byte that counts as punctuation
    SAFE_CUTS,  # where a text may be cut: bits, of CUT_WORDS and CUT_COMMAS
    N_SHAPE,
) = range(13)
MARK_CUT, MARK_DROP = 0x80, 0x40


class Walk(NamedTuple):
    """Work space of an automaton."""

    symbols: U16  # [segment + MARGIN] symbol of each byte
    columns: U16  # [segment + MARGIN]
    marks: U8  # [segment + MARGIN] what is at each byte: MARK_CUT, MARK_DROP
    outlooks: U32  # [n] outlook at every STRIDE bytes of a long text; empty until one is met


STRIDE = 4096


class Finder(NamedTuple):
    """What a search for all matches of a regex needs."""

    automaton: Automaton
    walk: Walk
    flow: I64  # [N_FLOW]


class Scan(NamedTuple):
    """What a scan of one window reads and writes; the first part of State."""

    window: U8  # [segment + MARGIN] texts being encoded, then spaces
    starts: U32  # [segment + 128] byte positions in the window where pretokens start
    classes: CharacterClasses
    parameters: I64  # the pattern's, in the order of its family
    kinds: U8  # [64] classes of the characters of a block, at their first bytes
    automaton: Automaton
    walk: Walk
    dropped: U8  # [segment + 128] 1 for a pretoken that is dropped; empty if none ever is
    flow: I64  # [N_FLOW] how scans of one text follow each other


(
    FLOW_ROW,  # row of the automaton where the next scan starts; 0 at the start of a text
    FLOW_WITHIN,  # how many bytes there belong to a character that begins before
    FLOW_GOES_ON,  # 1 if the text goes on after what is scanned
    FLOW_OUTLOOK,  # the outlook there, or -1 if it is not known
    FORESEEN_FROM,  # outlooks are known at FORESEEN_FROM + k * STRIDE of the text
    FORESEEN_TO,  # up to here, which is the end of the text; 0: they are not known
    N_FLOW,
) = range(7)


class MergeRules(NamedTuple):
    """Merges by pair of symbols. Symbol b < 256 is a byte, symbol 256 + r the result of rank r.

    Only merges that can happen are here, each token having one (compile.build_merges says why).
    """

    buckets: U64  # [8 << bits] pair << 24 | rank, or EMPTY_PAIR; 8 slots a bucket, filled in order
    byte_ranks: U32  # [65536] rank of left byte << 8 | right byte, or NO_RANK
    ids: U32  # [n_symbols + 1] token id of a symbol; the last is NO_SYMBOL's and 0
    odd: U8  # [256] of a byte without a token: DROPPED, UNKNOWN or FUSED; empty if there is none
    # What kernels/premerge certifies by: filled once all merges are learned, zeros until then.
    edges: U64  # [65536] by left byte << 8 | right byte, three ranks or EDGE_NONE: its own; the
    # least of a merge of any symbol ending in left with right; of left with one starting in right
    characters: U64  # [65536] by code point: the one to three symbols of its three bytes when what
    # is certain is joined, SYMBOL_BITS each, 0 for none
    filter: U64  # [1 << bits] a bit for each pair that has a rank, and for a tenth of the others


EDGE_BITS = 21  # of a rank in `edges`
EDGE_NONE = (1 << EDGE_BITS) - 1
KNOWN, DROPPED, UNKNOWN, FUSED = range(4)  # UNKNOWN and FUSED: the last symbol but NO_SYMBOL


class LateMerges(NamedTuple):
    """What merges that come before the merges of their parts are learned with.

    Merge m makes the bytes text[ends[m] : ends[m + 1]]. A symbol is a byte, or 256 + the first
    merge that makes the same bytes.
    """

    text: U8  # [n_bytes + 16]
    ends: I64  # [n + 1]
    lefts: I64  # [n] bytes of the left part; 0 in a rank file, where any two tokens may join
    ids: U32  # [n] id of what it makes
    ranks: I64  # [n] rank among the merges that happen, or -1
    names: U64  # [a power of 2 above 2 n] half a hash << 32 | m + 1 of each product, or 0
    first: U32  # [n] the first merge that makes the same bytes
    made: U32  # [n] by first merge: 1 + the learned merge that makes it, or 0
    splits: U32  # [n] bytes of the left part if the merge happens, else 0
    pairs: MergeRules  # rank in the file of every pair of symbols
    symbols: U32  # [longest + 1] work space of one product
    lengths: U32  # [longest + 1] bytes of each symbol
    pair_ranks: U32  # [longest + 1] rank of a symbol and the next


NOT_LATE, TOO_MUCH = -1, -2  # instead of the number of merges: nothing was changed


class Entries(NamedTuple):
    """Hash table from pretokens of 1 to 15 bytes to ids: the words table, the memo.

    A bucket of 64 bytes is two entries of four u64:

        key_low    bytes 0-7
        key_high   bytes 8-14, length << 56; 0 is an empty entry
        ids_low    id 0 | count << 29 | id 1 << 32
        ids_high   id 2 | id 3 << 32

    More than four ids: count is SPILLED, the count is in the place of id 1, and ids_high is where
    they start in Memo.spilled.
    """

    slots: U64  # [8 << bits]


class Memo(NamedTuple):
    """Answers learned while encoding, for one thread."""

    entries: Entries
    spilled: U32  # [capacity] ids of pretokens with more than four
    long_slots: U64  # [4 << bits] hash; start << 32 | length in long_bytes, or 0; ids_low; ids_high
    long_bytes: U8  # [capacity] pretokens of more than 15 bytes, one after the other
    used: I64  # [N_USED] how much of each of the four is taken


USED_ENTRIES, USED_SPILLED, USED_LONG, USED_LONG_BYTES, N_USED = range(5)


N_LANES, LANE_SYMBOLS, LANE_ROW = 64, 64, 80  # pretokens; symbols of one; values of a row
PACK_SPARE_BYTES = 16  # that pack_ids writes after the last eight ids, at most


class Lanes(NamedTuple):
    """Work space in which up to 64 pretokens of up to 64 symbols are merged side by side.

    Position p of a pretoken is 80 lane + 8 + p in symbols and 80 lane + 16 + p in ranks. Positions
    -1 and 64 hold NO_SYMBOL, so that a pretoken's ends need no branch.
    """

    symbols: U32  # [n_lanes * 80]
    ranks: U32  # [n_lanes * 80] rank << 6 | p of the pair that starts at p, or NO_RANK << 6 | p
    alive: U64  # [n_lanes] mask of the positions where a symbol starts
    items: I64  # [n_lanes] which of the new pretokens
    widths: I64  # [n_lanes] its length, rounded up to a multiple of 16
    positions: I64  # [n_lanes * 2] where the left neighbour and the merged symbol are
    pairs: U64  # [n_lanes * 2] the pairs that start there
    order: I64  # [n_lanes] all lanes, those at work first
    likely: U32  # [n_lanes * 64] place in symbols << 6 | p, of pairs that may have a rank


class Batch(NamedTuple):
    """The pretokens of one window; [n] unless the field says more.

    Pretoken i is window[starts[i] : starts[i + 1]], with the starts of Scan.
    """

    key_low: U64
    key_high: U64
    buckets: I64  # first u64 of the home bucket in the words table
    ids: U64  # [2 n] ids_low, ids_high
    missed: U32  # pretokens that their home bucket does not hold
    entries: I64  # of each missed one: its entry in the memo, or NOT_IN_MEMO when ids is final
    new: U32  # pretokens that the memo did not hold
    new_entries: I64  # the entries made for them
    breaks: I64  # [2 n] pretoken number, then what stands before it: the id of an added token;
    # BREAK_DOCUMENT, a document ends; or BREAK_DOCUMENT - 1 - id, it ends with an id


BREAK_DOCUMENT = -1


class RankLists(NamedTuple):
    """Work space in which a long pretoken is merged rank by rank.

    A list is of entries: position | next entry << 32; entry 0 is none.
    """

    present: U64  # [n_ranks / 64 + 1] a bit for each rank that has a list
    heads: U32  # [n_ranks] its first entry
    tails: U32  # [n_ranks] its last entry
    entries: U64  # [3 length + 1]
    cells: (
        U32  # [4 length] symbol, position of the next, of the previous + 1 or 0, rank of the pair
    )
    marks: U64  # [length / 64 + 1] a bit for each position


OVERLAP = 512  # bytes that two windows of a giant pretoken share: four times the longest tokens


class Work(NamedTuple):
    """Work space in which one pretoken of more than 15 bytes is merged."""

    symbols: U32  # [length] symbol by position; NO_SYMBOL where it was joined to the one before
    ranks: U32  # [64] rank << 6 | position
    following: U32  # [length] position of the next symbol
    preceding: U32  # [length] position of the previous symbol + 1, or 0
    heap: U64  # [2 length + OVERLAP] rank << 32 | position, least first
    lists: RankLists


class AddedTokens(NamedTuple):
    """Added tokens as a trie over their bytes.

    The child of a node by a byte is in an open-addressed table; a node that ends a token has it.
    """

    first_bytes: U8  # [256] 1 where an added token starts with this byte
    few_first: U8  # [n] the same bytes as a list, if there are at most 4; else empty
    slots: U64  # [1 << bits] (node << 8 | byte) + 1 << 32 | child, or 0
    tokens: I64  # [n_nodes] number of the token that ends here, or -1
    ids: U32  # [n_tokens] id by number
    flags: U8  # [n_tokens] LSTRIP | RSTRIP | SINGLE_WORD; empty if no token has any
    neighbors: CharacterClasses  # NEITHER, WORD or SPACE by character; empty if `flags` is


LSTRIP, RSTRIP, SINGLE_WORD = 1, 2, 4
NEITHER, WORD, SPACE = range(3)
PLAIN, RECOGNIZE, REFUSE = range(3)  # what a call does with an added token


class Search(NamedTuple):
    """What a search for added tokens needs, apart from the driver's."""

    added: AddedTokens
    actions: U8  # [n_tokens] PLAIN, RECOGNIZE or REFUSE by added token
    control: I64  # [N_CONTROL], of which the search uses its part


class Vocabulary(NamedTuple):
    """The bytes of every id, for decoding."""

    starts: I64  # [n + 1] the bytes of id i are bytes[starts[i] : starts[i + 1]]
    bytes: U8  # [starts[n]]
    kinds: U8  # [n] HOLE, or TOKEN or OPAQUE, and ADDED, and SPECIAL


HOLE, TOKEN, OPAQUE, ADDED, SPECIAL = 0, 1, 2, 4, 8  # bits: an added token may be a token too


class Tables(NamedTuple):
    """What a tokenizer is, for kernels; shared by all threads, never written after it is built."""

    classes: CharacterClasses
    automaton: Automaton
    cutter: Automaton  # of the steps before one that puts a space before each piece; else empty
    merges: MergeRules
    words: Entries
    long_words: U64  # as Memo.long_slots: tokens of more than 15 bytes
    long_word_bytes: U8
    added: AddedTokens  # all of them, for a text that is its own normalization
    raw_added: AddedTokens  # those that are searched before normalization
    normalized_added: AddedTokens  # and those that are after it
    vocabulary: Vocabulary
    merge_ids: U32  # [2 n_merges] ids of the two parts of each merge of the file, in rank order


class Segments(NamedTuple):
    """Stretches of text that came again, with their ids, for one thread; empty: none are kept."""

    slots: U64  # [SEGMENT_SLOT n] by hash; see below
    seen: U64  # [n] hashes of stretches that were met
    text: U8  # [capacity] their bytes, one after the other
    ids: U32  # [capacity] their ids
    used: I64  # [3] how much of text and of ids is taken, and which slots are valid: EPOCH


EPOCH = 2  # in Segments.used: more by one lets all stretches go at once
# What a slot of Segments holds: where bytes and ids are, and how many of the bytes have these ids.
(
    SEGMENT_HASH,
    SEGMENT_BYTES,
    SEGMENT_TEXT_AT,
    SEGMENT_TAKEN,
    SEGMENT_IDS_AT,
    SEGMENT_N_IDS,
    SEGMENT_EPOCH,
) = range(7)
SEGMENT_SLOT = 8


class State(NamedTuple):
    """All that the driver needs, for one thread; it travels as one array of addresses."""

    scan: Scan
    functions: I64  # [N_FUNCTIONS] addresses of the pattern's entries
    merges: MergeRules
    words: Entries
    long_words: U64  # as Memo.long_slots: tokens of more than 15 bytes
    long_word_bytes: U8
    added: AddedTokens
    actions: U8  # [n_tokens] PLAIN, RECOGNIZE or REFUSE by added token; empty: no search
    memo: Memo
    batch: Batch
    lanes: Lanes
    work: Work
    segments: Segments
    control: I64  # [N_CONTROL] where the driver is


SCAN_WINDOW, PRETOKEN_END, N_FUNCTIONS = range(3)
(
    AT_DOCUMENT,  # number of the document that is being encoded
    AT_BYTE,  # position in the text
    AT_ID,  # position in ids
    NEXT_ADDED,  # where the next added token starts, or how far there is none; -1: not searched
    NEXT_ADDED_END,
    NEXT_ADDED_TOKEN,  # its number, or -1
    SEARCH_FROM,  # where the search for the one after it starts
    AFTER_FROM,  # where in `ends` what stands after each document follows: -1 or an id; 0: nothing
    LIMIT,  # stop when more ids than this are known
    N_CONTROL,
) = range(10)

CUT_WORDS, CUT_COMMAS, CUT_WIDE_WORDS = 1, 2, 4  # bits: where a text may be cut, as in `cuts`

# Why the driver came back to Python.
(
    DONE, PAUSED, MEMO_FULL, WINDOW_SHORT, REFUSED, LIMIT_PASSED, NO_ROOM, NO_WORK, NEAR_TOKEN,
) = range(9)  # fmt: skip

# The frame of a short call, int64[N_CALL]: what kernels/call.py needs, by place.
N_FORMS = 4  # normalizers of one tokenizer that a short call can look through
(
    CALL_POLICY,  # the identity of the policy that the state follows; 0: none
    CALL_STATE,  # address of the thread state
    CALL_IDS,  # where the ids are written first
    CALL_LONGEST,  # bytes of text at most
    CALL_SIZE,  # bytes of this text, then the number of its ids
    CALL_WHY,  # why there are no ids: UNFIT, OTHER_POLICY or why the driver came back
    CALL_SIZE_ADDRESS,
    CALL_STRETCH_ADDRESS,
    CALL_N_FORMS,
    CALL_STR_TYPE,
    CALL_BYTES_TYPE,
    CALL_NONE,
    CALL_AS_UTF8,
    CALL_CLEAR_ERROR,
    CALL_ADD_REFERENCE,
    CALL_NEW_ARRAY,
    CALL_ARRAY_TYPE,
    CALL_UINT32,  # NumPy's number of the type
    CALL_ENCODE,  # address of encode_documents
    CALL_OFFSETS_ADDRESS,
    CALL_WRITE_UTF8,  # address of the entry, or 0: CPython makes the UTF-8 of every str
    CALL_UTF8,  # where it is written: 4 bytes for a character, and 64
    CALL_UNITS,  # where a str that is not ASCII has its code units,
    CALL_KEPT,  # the address of its UTF-8 or 0,
    CALL_WIDTH_SHIFT,  # and in its flags the bytes of a unit
    CALL_ARENA,  # address of the arena for results of LEAST_BLOCK bytes and more, or 0
    CALL_RELEASE,  # address of release_block
    CALL_NEW_CAPSULE,
    CALL_SET_BASE,
    CALL_DROP_REFERENCE,
    CALL_CHOICE,  # the str that stands for the policy as the argument `special`, or 0
    CALL_DEFAULT_CHOICE,  # the str that it is without one
    CALL_CHOICE_NAME,  # the str "special"
    CALL_COMPARE,
    CALL_TUPLE_ITEMS,  # where a tuple has its items, bytes
    CALL_GENERAL,  # the function of Python that takes all other calls
    CALL_NEW_METHOD,
    CALL_CALL,
) = range(38)
CALL_STRETCH = 38  # [2] what find_change finds
CALL_OFFSETS = 40  # [2] where the ids of the text start and end
CALL_FORMS = 42  # [N_FORMS] addresses of the classes of normalizers
CALL_SIGHTS = CALL_FORMS + N_FORMS  # [N_SIGHTS] address ^ length of texts of which it was written
N_SIGHTS = 256
N_CALL = CALL_SIGHTS + N_SIGHTS
UNFIT, OTHER_POLICY = -1, -2
FRAME = 16  # where an object whose first slot is a frame has it, bytes

# Memory for the ids of short texts, int64[N_ARENA]: pages that have blocks of one size each.
LEAST_BLOCK, LARGEST_BLOCK, BLOCK_STEP = 1 << 11, 1 << 16, 1 << 9  # bytes
N_CLASSES = 21  # sizes of blocks, four for each power of two
PAGE_BITS, MOST_PAGES = 18, 1 << 10  # 256 MB of address space; NumPy has what is more
EMPTY_KEPT = 128  # pages without a block that keep their memory
CAPSULE_POINTER = 16  # where a capsule has what it holds, bytes
(
    ARENA_SELF,  # its address
    ARENA_FIRST,  # the address of the first page
    ARENA_N_PAGES,
    ARENA_N_USED,  # the pages after these were never used
    ARENA_EMPTY,  # number + 1 of the first page of those without a block, 0: none
    ARENA_N_EMPTY,
    ARENA_ADVISE,  # address of the system's madvise
) = range(7)
ARENA_SIZES = 7  # [N_CLASSES] bytes of a block
ARENA_HEADS = ARENA_SIZES + N_CLASSES  # [N_CLASSES] number + 1 of the first page with room, or 0
ARENA_CLASSES = ARENA_HEADS + N_CLASSES  # [LARGEST_BLOCK / BLOCK_STEP + 1] the class of a size
ARENA_PAGES = ARENA_CLASSES + LARGEST_BLOCK // BLOCK_STEP + 1  # [MOST_PAGES, PAGE_ROW]
(
    PAGE_CLASS,
    PAGE_TAKEN,  # blocks
    PAGE_FREE,  # address of the first block that was given back, or 0; it starts with the next one
    PAGE_FRESH,  # where the blocks begin that were never taken
    PAGE_NEXT,  # number + 1 of the page after it in its list, or 0
    PAGE_PREVIOUS,
    PAGE_LISTED,  # is it in the list of its class?
    PAGE_ROW,
) = range(8)
N_ARENA = ARENA_PAGES + MOST_PAGES * PAGE_ROW

# What the threads share that encode parts, int64[N_TICKETS]; a cache line each that all write.
TICKET_NEXT, TICKET_STOP = 0, 8  # the part that is next to be taken; 1: come back
TICKET_PLACED = 16  # how many parts are placed; whoever places one writes the next two before it
TICKET_IDS, TICKET_ENCODED = 17, 18  # ids placed; bytes of the parts placed at the last pause
N_TICKETS = 24

# The frame of one such thread, int64[N_WORKER].
(
    WORKER_STATE,
    WORKER_TEXT,
    WORKER_SIZE,  # bytes of text
    WORKER_ENDS,
    WORKER_N_DOCUMENTS,
    WORKER_AFTER_FROM,
    WORKER_PARTS,  # address of int64[n_parts + 1]: the first document of each part
    WORKER_N_PARTS,
    WORKER_OFFSETS,
    WORKER_IDS,  # where the ids of all parts go
    WORKER_ROOM,  # how many ids fit there
    WORKER_WORK,  # where the ids of a part are written first; 0: they are counted
    WORKER_CAPACITY,
    WORKER_TICKETS,
    WORKER_YIELD,  # address of the system's function that offers the core to others, or 0
    WORKER_BUDGET,  # bytes between two chances to stop
    WORKER_PART,  # the part at hand, or -1
    WORKER_ASIDE,  # a part before it that is encoded and waits for its place, or -1
    WORKER_ASIDE_IDS,  # how many ids it has
    WORKER_ASIDE_WORK,  # and where they are; as long as WORKER_WORK
    WORKER_NEEDED,  # with NO_ROOM: room for so many ids
    WORKER_ENCODE,  # address of encode_documents
    N_WORKER,
) = range(23)
