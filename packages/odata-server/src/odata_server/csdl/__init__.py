"""Metadata documents (OData CSDL 4.01): `xml.render_xml` and `json.render_json` of a model."""
