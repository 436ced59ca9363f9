"""Imports of rows: accepted, carried out, stored."""
