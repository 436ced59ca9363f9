"""What a service says about itself: the service document and its metadata (Protocol 4.01, 11.1)."""

from __future__ import annotations

import hashlib
from typing import Any

from odata_server.csdl.json import render_json
from odata_server.csdl.xml import render_xml
from odata_server.edm import Edm
from odata_server.encoding import to_json
from odata_server.errors import ODataError
from odata_server.exchange import Exchange, check_options
from odata_server.http import Response
from odata_server.links import Links
from odata_server.negotiation import accepts
from odata_server.preconditions import is_unchanged
from odata_server.resources import Kind
from odata_server.writing import method_not_allowed

__all__ = ["Documents"]

_XML, _JSON = "application/xml", "application/json"


class Documents:
    """The two documents; metadata is rendered once for each form."""

    def __init__(self, edm: Edm, links: Links) -> None:
        self._edm = edm
        self._links = links
        self._rendered: dict[tuple[str, str], tuple[bytes, str]] = {}

    def answer(self, x: Exchange) -> Response:
        """The document that a request asks for."""
        if x.request.method not in {"GET", "HEAD"}:
            raise method_not_allowed(x)
        check_options(x.options, frozenset())
        return self._metadata(x) if x.resource.kind is Kind.METADATA else self._service(x)

    def _service(self, x: Exchange) -> Response:
        container = self._edm.schema.container
        entries: list[dict[str, Any]] = [
            {"name": one.name, "url": one.name} for one in container.entity_sets if one.in_service_document
        ]
        entries += [{"name": one.name, "kind": "Singleton", "url": one.name} for one in container.singletons]
        for function in container.function_imports:
            overloads = self._edm.operations.get(function.function, ())
            if any(one.binding is None and not one.parameters for one in overloads):
                entries.append({"name": function.name, "kind": "FunctionImport", "url": function.name})
        body = {**x.context(""), "value": entries}
        return Response(200, x.headers(), to_json(body))

    def _metadata(self, x: Exchange) -> Response:
        form = _form(x)
        body, etag = self._document(form, x.dialect.version)
        headers = {"ETag": etag, "Vary": "Accept, OData-MaxVersion"}
        if is_unchanged(x.request, etag):
            return Response(304, headers)
        return Response(200, {"Content-Type": form, **headers}, body)

    def _document(self, form: str, version: str) -> tuple[bytes, str]:
        found = self._rendered.get((form, version))
        if found is None:
            body = render_xml(self._edm, version) if form == _XML else render_json(self._edm, version)
            found = self._rendered[form, version] = (body, f'W/"{hashlib.sha256(body).hexdigest()[:16]}"')
        return found


def _form(x: Exchange) -> str:
    """XML unless JSON is asked for and XML is not. Raises ODataError 406."""
    wanted = x.options.format
    if wanted is not None:
        short = wanted.strip().lower().partition(";")[0]
        form = {"xml": _XML, "json": _JSON, _XML: _XML, _JSON: _JSON}.get(short)
        if form is not None:
            return form
    elif accepts(x.request, _XML) and not (
        accepts(x.request, _JSON, exactly=True) and not accepts(x.request, _XML, exactly=True)
    ):
        return _XML
    elif accepts(x.request, _JSON):
        return _JSON
    message = "Metadata is application/xml or application/json."
    raise ODataError(406, "NOT_ACCEPTABLE", message, "$format" if wanted is not None else "Accept")
