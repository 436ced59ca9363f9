"""The public API over HTTP, on both databases."""
