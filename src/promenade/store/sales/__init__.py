"""Confirmed sales: confirmations, logs, usage, loyalty points, jobs of side effects."""
