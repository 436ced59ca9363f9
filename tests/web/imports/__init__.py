"""Imports over HTTP: bulk, from tills, and of master data."""
