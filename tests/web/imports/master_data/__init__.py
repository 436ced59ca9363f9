"""Master data over SOAP 1.1 and REST."""
