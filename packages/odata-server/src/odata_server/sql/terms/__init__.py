"""Typed SQL expressions: values, operators and the functions of OData on them."""
