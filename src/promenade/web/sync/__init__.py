"""`/sync` for stores that price on their own."""
