"""Evaluate, simulate and replay: a basket becomes a priced iteration; and prices of single articles."""
