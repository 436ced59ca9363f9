"""Sales of stores, uploaded to a served cloud."""
