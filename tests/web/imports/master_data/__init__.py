"""Master data by SOAP 1.1 and REST."""
