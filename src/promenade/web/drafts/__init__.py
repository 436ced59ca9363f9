"""Bound actions of administration: edit drafts."""
