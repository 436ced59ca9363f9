"""The business verbs: one file each, one call is one unit of work on the database."""
