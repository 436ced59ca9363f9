"""Import jobs as a worker carries them out: what they come to, in what portions, and in whose turn."""
