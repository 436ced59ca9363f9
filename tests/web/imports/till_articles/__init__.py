"""Articles imported by tills, over real HTTP, on SQLite and PostgreSQL."""
