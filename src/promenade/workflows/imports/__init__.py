"""Imports: rows are accepted at once, durably, and stored by a worker, a portion at a time (specification, Import)."""
