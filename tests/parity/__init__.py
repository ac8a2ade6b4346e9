"""Ids and texts equal those of the libraries that define each file: `python -m tests.parity`."""
