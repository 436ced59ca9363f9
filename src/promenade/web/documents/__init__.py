"""Promotions as documents: read, compare and apply them in administration."""
