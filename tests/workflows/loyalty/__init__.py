"""Points of customers: a ledger and what it comes to."""
