"""The pricing engine: catalogue + basket + now -> outcome.

Pure: standard library only, no I/O, no clock, no randomness, no float.
"""
