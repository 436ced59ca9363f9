"""Budgets from the perspective of tills and authors."""
