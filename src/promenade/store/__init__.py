"""The only place with a database connection."""
