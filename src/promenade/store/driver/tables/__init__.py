"""The tables that no service shows, declared one subject per module."""
