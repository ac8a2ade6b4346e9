"""What the two entries of every family do, given the family's rules as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbatok._jit import i64, part
from numbatok.addresses import opener, view_u8
from numbatok.kernels.scan.bits import ZERO
from numbatok.kernels.scan.blocks import read_block
from numbatok.tables import FLOW_GOES_ON, LOOKAHEAD, MARGIN, Scan
from numbatok.vector import count_trailing_zeros, low_bits, write_positions

open_scan = opener(Scan)


@part
def cut_window(
    state: int,
    start: int,
    stop: int,
    at: int,
    read_rules: Callable[..., Any],
    block_starts: Callable[..., Any],
    pretoken_end: Callable[..., int],
) -> int:
    """Cut a window as the package's docstring says, by the functions of a family.

    read_rules(parameters)
        what the family wants to know of Scan.parameters
    block_starts(text, pos, block, kinds, before, rules)
        the mask of the pretokens that start in a block; the mask of the bytes from which on that
        is unsure; what is known of the characters before the next block. `before` is 0 at the
        start of a pretoken, as patterns never look back.
    pretoken_end(text, pos, end, goes_on, rules, classes)
        where the pretoken at pos ends, as in `scalar`
    """
    scan = open_scan(state)
    text, starts, classes, kinds = scan.window, scan.starts, scan.classes, scan.kinds
    rules, goes_on = read_rules(scan.parameters), i64(scan.flow[FLOW_GOES_ON])
    end = stop + LOOKAHEAD * goes_on
    count, pos, known, before = i64(at), i64(start), i64(start), ZERO
    while pos < stop:
        block = read_block(text, pos, classes, kinds)
        found, unsure, before = block_starts(text, pos, block, kinds, before, rules)
        if unsure != ZERO:
            first = count_trailing_zeros(unsure)
            found &= low_bits(first) if pos != known else low_bits(max(first, i64(1)))
            count += write_positions(found, pos, starts, count) - 1
            known = i64(starts[count])
            while known <= pos + first and known < stop:  # one pretoken at a time
                starts[count] = known
                count += 1
                known = pretoken_end(text, known, end, goes_on, rules, classes)
            pos, before = known, ZERO
            continue
        if stop - pos < block.size:
            found &= low_bits(stop - pos)
        count += write_positions(found, pos, starts, count)
        pos += block.size
    return count


@part
def find_end(
    state: int,
    address: int,
    pos: int,
    end: int,
    read_rules: Callable[..., Any],
    pretoken_end: Callable[..., int],
) -> int:
    """Return where the pretoken at pos of the text at an address ends; the text ends at `end`."""
    scan, text = open_scan(state), view_u8(address, end + MARGIN)
    return pretoken_end(text, pos, end, i64(0), read_rules(scan.parameters), scan.classes)
