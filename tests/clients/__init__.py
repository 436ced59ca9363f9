"""Third-party OData clients using the served admin service."""
