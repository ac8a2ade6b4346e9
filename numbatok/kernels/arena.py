"""Blocks of memory for the ids of short texts, from pages of 256 KB.

What the C library has for them is the system's small pages: of the 28 us that a first text of 4 KB
of code took, 4 were for two of these. Eight pages here are one of the system's large ones; were
they as large, as many of them would be touched at once as there are sizes of results. A page has
blocks of one size; a block that is given back is the next one
that is taken of its size, and a page without any is free for another size. All that is known of the
pages is in the arena, an array of int64 (numbatok/arena.py). The interpreter's lock is held.
"""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel
from numbatok.addresses import call_at, view_i64
from numbatok.tables import (
    ARENA_ADVISE,
    ARENA_CLASSES,
    ARENA_EMPTY,
    ARENA_FIRST,
    ARENA_HEADS,
    ARENA_N_EMPTY,
    ARENA_N_PAGES,
    ARENA_N_USED,
    ARENA_PAGES,
    ARENA_SELF,
    ARENA_SIZES,
    BLOCK_STEP,
    CAPSULE_POINTER,
    EMPTY_KEPT,
    I64,
    N_ARENA,
    PAGE_BITS,
    PAGE_CLASS,
    PAGE_FREE,
    PAGE_FRESH,
    PAGE_LISTED,
    PAGE_NEXT,
    PAGE_PREVIOUS,
    PAGE_ROW,
    PAGE_TAKEN,
)

PAGE_BYTES = 1 << PAGE_BITS
FIRST_BLOCK = 64  # bytes into a page, which starts with the address of the arena
DONT_NEED = 4  # MADV_DONTNEED


@kernel
def take_block(arena: I64, n_bytes: int) -> tuple[int, bool]:
    """Return the address of a block of at least so many bytes, and whether it is new.

    0 if there is no more memory.
    """
    kind = arena[ARENA_CLASSES + (n_bytes + BLOCK_STEP - 1) // BLOCK_STEP]
    if arena[ARENA_HEADS + kind] == 0 and not list_page(arena, kind):
        return i64(0), False
    page, size = arena[ARENA_HEADS + kind] - 1, arena[ARENA_SIZES + kind]
    row = ARENA_PAGES + PAGE_ROW * page
    block = arena[row + PAGE_FREE]
    is_new = block == 0
    if not is_new:
        arena[row + PAGE_FREE] = view_i64(block, 1)[0]
    else:
        block = start_of(arena, page) + arena[row + PAGE_FRESH]
        arena[row + PAGE_FRESH] += size
    arena[row + PAGE_TAKEN] += 1
    if arena[row + PAGE_FREE] == 0 and arena[row + PAGE_FRESH] + size > PAGE_BYTES:
        unlist_page(arena, page)
    return block, is_new


@kernel
def give_block(arena: I64, block: int) -> None:
    """Take a block back."""
    page = block - arena[ARENA_FIRST] >> PAGE_BITS
    row = ARENA_PAGES + PAGE_ROW * page
    view_i64(block, 1)[0] = arena[row + PAGE_FREE]
    arena[row + PAGE_FREE] = block
    arena[row + PAGE_TAKEN] -= 1
    if arena[row + PAGE_TAKEN] == 0:
        if arena[row + PAGE_LISTED] != 0:
            unlist_page(arena, page)
        arena[row + PAGE_NEXT] = arena[ARENA_EMPTY]
        arena[ARENA_EMPTY] = page + 1
        arena[ARENA_N_EMPTY] += 1
        if arena[ARENA_N_EMPTY] > EMPTY_KEPT:
            call_at(arena[ARENA_ADVISE], start_of(arena, page), PAGE_BYTES, DONT_NEED, 0)
    elif arena[row + PAGE_LISTED] == 0:
        put_first(arena, page, arena[row + PAGE_CLASS])


@kernel
def list_page(arena: I64, kind: int) -> bool:
    """Provide a page for blocks of a size that has none with room; False if there is none."""
    page = arena[ARENA_EMPTY] - 1
    if page >= 0:
        arena[ARENA_EMPTY] = arena[ARENA_PAGES + PAGE_ROW * page + PAGE_NEXT]
        arena[ARENA_N_EMPTY] -= 1
    elif arena[ARENA_N_USED] < arena[ARENA_N_PAGES]:
        page = arena[ARENA_N_USED]
        arena[ARENA_N_USED] += 1
    else:
        return False
    row = ARENA_PAGES + PAGE_ROW * page
    arena[row + PAGE_CLASS], arena[row + PAGE_TAKEN] = kind, 0
    arena[row + PAGE_FREE], arena[row + PAGE_FRESH] = 0, FIRST_BLOCK
    view_i64(start_of(arena, page), 1)[0] = arena[ARENA_SELF]
    put_first(arena, page, kind)
    return True


@kernel
def start_of(arena: I64, page: int) -> int:
    """Return the address of a page."""
    return arena[ARENA_FIRST] + (page << PAGE_BITS)


@kernel
def put_first(arena: I64, page: int, kind: int) -> None:
    """Put a page at the head of the list of those with room for blocks of its size."""
    row, head = ARENA_PAGES + PAGE_ROW * page, arena[ARENA_HEADS + kind]
    arena[row + PAGE_LISTED], arena[row + PAGE_PREVIOUS], arena[row + PAGE_NEXT] = 1, 0, head
    if head != 0:
        arena[ARENA_PAGES + PAGE_ROW * (head - 1) + PAGE_PREVIOUS] = page + 1
    arena[ARENA_HEADS + kind] = page + 1


@kernel
def unlist_page(arena: I64, page: int) -> None:
    """Take a page out of the list of those with room."""
    row = ARENA_PAGES + PAGE_ROW * page
    before, after = arena[row + PAGE_PREVIOUS], arena[row + PAGE_NEXT]
    if before != 0:
        arena[ARENA_PAGES + PAGE_ROW * (before - 1) + PAGE_NEXT] = after
    else:
        arena[ARENA_HEADS + arena[row + PAGE_CLASS]] = after
    if after != 0:
        arena[ARENA_PAGES + PAGE_ROW * (after - 1) + PAGE_PREVIOUS] = before
    arena[row + PAGE_LISTED] = 0


@entry
def release_block(capsule: int) -> int:
    """Give the block that a capsule holds back: what CPython calls when the capsule goes."""
    block = view_i64(capsule + CAPSULE_POINTER, 1)[0]
    page = block >> PAGE_BITS << PAGE_BITS
    give_block(view_i64(view_i64(page, 1)[0], N_ARENA), block)
    return i64(0)
