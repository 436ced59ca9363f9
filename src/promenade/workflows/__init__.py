"""The business operations: one file each; one call is one unit of work on the database."""
