"""The admin service over HTTP."""
