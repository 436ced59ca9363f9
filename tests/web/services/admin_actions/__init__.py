"""The bound actions of the admin service, over HTTP."""
