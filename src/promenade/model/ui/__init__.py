"""The annotations for user interfaces in the admin service's metadata."""
