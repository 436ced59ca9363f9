"""Imports of rows: accepting, processing and storing them."""
