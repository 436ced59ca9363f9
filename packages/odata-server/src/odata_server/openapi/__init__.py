"""A service described as OpenAPI 3.1: `document.render_openapi`."""
