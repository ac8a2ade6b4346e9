"""Benchmarks: numbatok beside the libraries that do the same work, with equal ids or no number."""
