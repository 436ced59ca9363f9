"""Accepting bulk imports, over real HTTP, on SQLite and PostgreSQL."""
