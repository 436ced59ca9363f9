"""The entities and actions of reporting."""
