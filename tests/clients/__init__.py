"""OData clients that others have made, at work on the served administration."""
