"""Modules of the back office that need no browser, tested with Node.js."""
