"""Writing to plain SQLAlchemy tables by the rules that a model implies: keys, defaults, references, compositions."""
