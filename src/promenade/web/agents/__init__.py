"""Agents: the tools of the Model Context Protocol, over the interfaces of the service with the caller's credential."""
