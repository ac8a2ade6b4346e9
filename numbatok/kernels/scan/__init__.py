"""Cut texts into pretokens: one module per pattern family.

Each family has two entries of the same four int64, found by address in State.functions:

    scan_FAMILY(state, start, stop, at)
        window[start:stop] -> starts[at:]; returns how many starts there are then. window[stop:]
        holds MARGIN more bytes: the text if it goes on (FLOW_GOES_ON), then spaces. Every start
        but the last is final whatever follows.
    pretoken_end_FAMILY(state, text, pos, end)
        where the pretoken at text[pos] ends, text being an address with MARGIN readable bytes
        after `end`

A family's pattern never looks back: a scan may begin at the start of any pretoken. The automaton's
may: it leaves in Scan.flow where the next scan of the same text has to go on, and drivers put
FLOW_ROW and FLOW_WITHIN to 0 where a text starts.
"""
