"""Benchmarks, printed but never asserted: `make bench`."""
