"""Numba-compiled functions: arrays, integers and addresses in, the same out."""
