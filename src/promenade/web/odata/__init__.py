"""What the OData services have in common, and the public API."""
