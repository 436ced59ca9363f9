"""Write to plain SQLAlchemy tables by the rules of the model: keys, defaults, references, compositions."""
