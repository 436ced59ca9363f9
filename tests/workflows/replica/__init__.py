"""Sales that a store makes on its own, and what becomes of them in the cloud."""
