"""Sales of stores, sent to a served cloud."""
