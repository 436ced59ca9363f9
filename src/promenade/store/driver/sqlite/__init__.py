"""SQLite: connections to the one file, the file itself and what stands beside it."""
