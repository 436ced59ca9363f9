"""Rows of a large retailer, written directly into the tables."""
