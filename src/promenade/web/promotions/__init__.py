"""Bound actions of administration: check, lifecycle, copies."""
