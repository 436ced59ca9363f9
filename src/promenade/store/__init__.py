"""The persistence layer: the only package that opens database connections."""
