"""The tables as OData services read and write them."""
