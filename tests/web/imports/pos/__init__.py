"""Articles that tills import, over real HTTP, on SQLite and PostgreSQL."""
