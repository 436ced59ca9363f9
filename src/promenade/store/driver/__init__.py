"""Connections, units of work, the two dialects, schema and migrations: what all rooms of the store stand on."""
