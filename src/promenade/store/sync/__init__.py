"""What the cloud keeps of its stores: deployments, shares, and what it sends them."""
