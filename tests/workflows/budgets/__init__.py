"""Budgets as tills and their authors see them."""
