"""The fast import of articles."""
