"""What a price depends on: catalogue, facts, surroundings; and the stored iterations."""
