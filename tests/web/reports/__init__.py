"""Reporting over HTTP."""
