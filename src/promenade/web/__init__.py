"""The HTTP layer: decode, authorise, call one workflow, encode."""
