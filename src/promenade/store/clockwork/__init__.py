"""The jobs of the clock, and the rows that they move or delete."""
