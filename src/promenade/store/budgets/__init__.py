"""Money of budgets."""
