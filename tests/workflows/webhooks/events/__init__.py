"""The events for subscribers."""
