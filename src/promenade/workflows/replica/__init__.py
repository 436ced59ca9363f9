"""What a store does that prices on its own: it keeps up with its cloud, and tells it of its sales.

Everything here runs in a store alone; what the cloud does for it is in `promenade.workflows.sync`.
"""
