"""Bulk imports as they are accepted, over real HTTP, on SQLite and PostgreSQL."""
