"""An OData V4 server library for any service: a model and a source in, an ASGI application out."""
