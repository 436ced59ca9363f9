"""Imports over HTTP: bulk, from tills, and master data."""
