"""Replication in a store that prices on its own: it downloads changes from its cloud and uploads its sales.

This package only runs in stores; the cloud's side is in `promenade.workflows.sync`.
"""
