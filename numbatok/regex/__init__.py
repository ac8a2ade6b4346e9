r"""Regexes and chains of pre-tokenizers, compiled to tables that one kernel runs in linear time.

In reading order: `cursor`, `points`, `brackets`, `parser` turn a pattern into a `tree` over `sets`
of points; `program` writes it out as steps; `threads` makes them deterministic and `outlook` finds
what can be known of the text that follows. `split` makes of that a `machine` which cuts a text,
`steps` does so for every kind of pre-tokenizer, `compose` puts one behind the other, `chain` does
all of it for a whole chain, and `automaton` lays the result out for kernels/scan/automaton.py.

Supported: alternatives, groups, greedy, lazy and possessive quantifiers, counted repeats, classes
with nesting, intersection and complement, properties, escapes, `(?i:`, lookahead of any length and
depth, atomic groups, lookbehind of one character, `^ $ \A \z \Z \b \B`.
"""
