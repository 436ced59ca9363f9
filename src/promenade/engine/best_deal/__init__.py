"""BEST_DEAL: `deal` is the whole search; the others are its parts (section 5)."""
