"""Stores and clouds of neighbouring versions."""
