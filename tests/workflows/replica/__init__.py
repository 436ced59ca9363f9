"""Offline sales of a store and their processing in the cloud."""
