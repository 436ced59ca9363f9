"""Connections, bodies, problems, routing, limits, validation: what all rooms of the web stand on."""
