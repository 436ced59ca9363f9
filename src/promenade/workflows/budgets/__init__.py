"""Budgets: charged by sales, and the status that follows from their amounts."""
