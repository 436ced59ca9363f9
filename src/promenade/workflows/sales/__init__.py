"""Confirm and side effects: a priced iteration becomes a sale, and what follows it."""
