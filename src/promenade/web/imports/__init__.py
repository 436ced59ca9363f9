"""Imports: in bulk, of tills, and of master data by SOAP and REST."""
