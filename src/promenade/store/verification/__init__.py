"""What a copy of a database is checked for: that what belongs together is there together."""
