"""Articles by the fast way."""
