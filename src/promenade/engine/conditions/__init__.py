"""Condition types: one family per module, registered by being imported here."""
