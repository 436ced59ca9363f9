"""Reporting: the OData service, exports and the OpenAPI document."""
