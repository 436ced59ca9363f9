"""Imports: rows are accepted at once, durably; a worker stores them in portions (specification, Import)."""
