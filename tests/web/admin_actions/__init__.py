"""The bound actions of administration, over HTTP."""
