"""What a store keeps of its cloud: downloads, shares, the link, and its queue of uploads."""
