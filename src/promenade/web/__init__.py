"""The HTTP edge: decode, authorise, call one workflow, encode."""
