"""A service: a model and a source of data in, an ASGI application out.

::

    service = Service(EDM, source, Hooks(), root="/odata/bookshop")
    app = Starlette(routes=[Mount("/odata/bookshop", app=service)])

It tells about itself by the service document and its metadata (Protocol 4.01, 11.1).
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from odata_server.calls import plan_call
from odata_server.csdl.json import render_json
from odata_server.csdl.xml import render_xml
from odata_server.edm import Edm, Function
from odata_server.encoding import Encoder, to_json
from odata_server.errors import ODataError, not_found
from odata_server.exchange import Exchange, Work, check_options
from odata_server.hooks import Access, Hooks
from odata_server.http import Request, Response
from odata_server.links import Links
from odata_server.negotiation import Dialect, accepts, json_dialect, preferences, takes_gzip, version_of
from odata_server.parse import parse_options, parse_path
from odata_server.payload import check_structure
from odata_server.preconditions import is_unchanged
from odata_server.reading import plan_read
from odata_server.resources import Kind, Resource, resolve
from odata_server.source import Source, Unit
from odata_server.syntax import QueryOptions
from odata_server.transport import Disconnected, read_body, request_of, send_response
from odata_server.upserts import may_create
from odata_server.writing import method_not_allowed, plan_reference, plan_write

__all__ = ["Documents", "Service"]

_log = logging.getLogger("odata_server")
_READING = frozenset({"GET", "HEAD"})
_WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_ISOLATION = frozenset({"isolation", "odata-isolation"})
_VARY = "Accept, OData-MaxVersion, Prefer"  # for caches (Protocol 4.01, 8.3.6)
_DOCUMENTS = frozenset({Kind.SERVICE, Kind.METADATA})


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan for a request: a ready response, or work in a unit.

    ``upserts``: the work creates an entity if it finds none, so it may meet one that another request creates meanwhile.
    """

    work: Work | None = None
    writes: bool = False
    response: Response | None = None
    upserts: bool = False


class Service:
    """An OData service as an ASGI application.

    ``root`` is the absolute path of the service root without a trailing slash, e.g. ``/api/v1``. ``links`` creates
    and parses the URLs of its entities.
    """

    def __init__(self, edm: Edm, source: Source, hooks: Hooks, *, root: str) -> None:
        self.edm = edm
        self.source = source
        self.hooks = hooks
        self.root = root.rstrip("/")
        self.links = Links(edm, self.root)
        self._encoder = Encoder(edm, self.links)
        self._documents = Documents(edm, self.links)

    # ---- ASGI ----

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """Answer one HTTP request. Unexpected errors are raised for the host's outermost layer to report."""
        if scope["type"] != "http":
            raise ValueError(f"a service speaks http, not {scope['type']}")
        request = request_of(scope, self.root)
        if request is None:
            raise ValueError(f"{scope['path']} is not below {self.root}")
        try:
            caller = await self.hooks.authenticate(scope)
            if request.method in _WRITING:
                request = replace(request, body=await read_body(self.hooks, request.headers, receive))
                check_structure(request.body)
            if unquote(request.path).strip("/") == "$batch" and request.method == "POST":
                response = await _run_batch(self, request, caller)
            else:
                response = await self.handle(request, caller)
        except Disconnected:
            return
        except Exception as error:
            response = self.failure(request, error)
        await send_response(send, request, response)

    # ---- one request ----

    async def handle(self, request: Request, caller: Any) -> Response:
        """Answer one request other than ``$batch`` in its own unit.

        Errors become responses. Unexpected errors are raised, or within a batch answered by a 500 without details.
        """
        try:
            plan = self._plan(request, caller)
            if plan.work is None:
                return self._finished(request, plan.response or Response(204))
            return self._finished(request, await self._transact(caller, plan, plan.work))
        except Exception as error:
            return self.failure(request, error)

    async def _transact(self, caller: Any, plan: _Plan, work: Work) -> Response:
        """Run the work in its own unit; again after a conflict, if it can then update what it tried to create."""
        try:
            return await self.source.transact(caller, work, writes=plan.writes)
        except Exception as error:
            known = self._known(error)
            if not plan.upserts or known is None or known.status != 409:
                raise
        return await self.source.transact(caller, work, writes=plan.writes)

    async def handle_in(self, unit: Unit, request: Request, caller: Any) -> Response:
        """Answer a request inside ``unit``, which must be rolled back after an error response (400 and above).

        Unexpected errors are raised, because the unit may be retried.
        """
        try:
            plan = self._plan(request, caller)
            response = plan.response or Response(204) if plan.work is None else await plan.work(unit)
        except Exception as error:
            known = self._known(error)
            if known is None:
                raise
            return self._rendered(request, known)
        return self._finished(request, response)

    def failure(self, request: Request, error: Exception) -> Response:
        """Return the response to an error; re-raise an unexpected one, or within a batch return a bare 500."""
        known = self._known(error)
        if known is None:
            if not request.in_batch:
                raise error
            correlation_id = str(uuid.uuid4())
            _log.error("a request of a batch failed: %s", correlation_id, exc_info=error)
            known = ODataError(500, "INTERNAL_ERROR", f"Something went wrong; quote {correlation_id}.")
        return self._rendered(request, known)

    def _known(self, error: Exception) -> ODataError | None:
        return error if isinstance(error, ODataError) else self.hooks.translate(error)

    def _rendered(self, request: Request, error: ODataError) -> Response:
        version = version_of(request, self.hooks.default_version, strict=False)
        response = self.hooks.render_error(request, error, version)
        response.headers.setdefault("OData-Version", version)
        return response

    def _finished(self, request: Request, response: Response) -> Response:
        version = version_of(request, self.hooks.default_version, strict=False)
        response.headers.setdefault("OData-Version", version)
        if request.method in _READING and not request.in_batch:
            response.headers.setdefault("Vary", _VARY)
        return response

    # ---- from a request to what it takes ----

    def _plan(self, request: Request, caller: Any) -> _Plan:
        version = version_of(request, self.hooks.default_version)
        if request.headers.keys() & _ISOLATION:
            raise ODataError(
                412, "PRECONDITION_FAILED", "Isolation over several requests is not supported.", "Isolation"
            )
        path = request.path.strip("/")
        if path.endswith("/$query"):
            request = _query_in_body(request, path.removesuffix("/$query"))
            path = request.path
        options = parse_options(request.query)
        resource = resolve(self.edm, parse_path(path), options.aliases)
        if resource.kind is Kind.ID:
            resource = self._by_id(options.id)
            options = replace(options, present=options.present - {"id"})
        x = Exchange(
            edm=self.edm,
            hooks=self.hooks,
            links=self.links,
            encoder=self._encoder,
            request=request,
            caller=caller,
            resource=resource,
            options=options,
            dialect=_dialect(request, version, resource, options),
        )
        return self._plan_exchange(x, caller)

    def _plan_exchange(self, x: Exchange, caller: Any) -> _Plan:
        kind, method = x.resource.kind, x.request.method
        if kind in _DOCUMENTS:
            self.hooks.permit(caller, Access(kind="metadata"), x.request)
            return _Plan(response=self._documents.answer(x))
        if kind is Kind.OPERATION:
            return _Plan(plan_call(x), writes=not isinstance(x.resource.operation, Function))
        if method in _READING and kind is not Kind.BATCH:
            return _Plan(plan_read(x))
        if kind is Kind.BATCH and method == "POST":
            raise ODataError(400, "NESTED_BATCH", "A batch cannot hold a batch.")
        if method not in _WRITING or kind is Kind.BATCH:
            raise method_not_allowed(x)
        if x.resource.suffix == "$ref":
            return _Plan(plan_reference(x), writes=True)
        target = x.resource.target
        upserts = method in {"PATCH", "PUT"} and kind is Kind.ENTITY and target is not None and may_create(x, target)
        return _Plan(plan_write(x), writes=True, upserts=upserts)

    def _by_id(self, address: str | None) -> Resource:
        if address is None:
            raise ODataError(400, "REQUIRED", "$entity needs $id.", "$id")
        resource = self.links.resource_of(address)
        if resource.kind is not Kind.ENTITY or resource.suffix:
            raise not_found()
        return resource


def _dialect(request: Request, version: str, resource: Resource, options: QueryOptions) -> Dialect:
    """Return the format of the response. Plain text and metadata are not JSON, whatever Accept says about JSON."""
    returns = resource.operation.returns if resource.operation is not None else None
    bare = returns is not None and returns.media_type is not None and accepts(request, returns.media_type, exactly=True)
    if bare or resource.kind is Kind.METADATA or resource.suffix in {"$count", "$value"}:
        return Dialect(version, preferences=preferences(request))
    return json_dialect(request, version, options.format)


def _query_in_body(request: Request, path: str) -> Request:
    """Convert ``POST .../$query`` to the equivalent GET (URL Conventions 4.01, 5.1)."""
    if request.method != "POST":
        raise ODataError(405, "METHOD_NOT_ALLOWED", "$query must be sent with POST.", headers={"Allow": "POST"})
    media_type = request.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
    if media_type not in {"text/plain", "application/x-www-form-urlencoded"}:
        raise ODataError(415, "UNSUPPORTED_MEDIA_TYPE", "The options must be text/plain.", "Content-Type")
    try:
        options = request.body.decode("ascii").strip()
    except UnicodeDecodeError:
        raise ODataError(400, "QUERY_SYNTAX", "The options must be percent-encoded.") from None
    query = "&".join(part for part in (request.query, options) if part)
    return replace(request, method="GET", path=path, query=query, body=b"")


async def _run_batch(service: Service, request: Request, caller: Any) -> Response:
    # The batch module depends on services; this local import is the only dependency in the other direction.
    from odata_server.batch.run import run_batch  # noqa: PLC0415

    return await run_batch(service, request, caller)


_XML, _JSON = "application/xml", "application/json"


class Documents:
    """The two documents; metadata is rendered once per format, and compressed once."""

    def __init__(self, edm: Edm, links: Links) -> None:
        self._edm = edm
        self._links = links
        self._rendered: dict[tuple[str, str], _Metadata] = {}

    def answer(self, x: Exchange) -> Response:
        """Return the document that a request asks for."""
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
        document = self._document(form, x.dialect.version)
        headers = {"ETag": document.etag, "Vary": "Accept, Accept-Encoding, OData-MaxVersion"}
        if is_unchanged(x.request, document.etag):
            return Response(304, headers)
        headers |= {"Content-Type": form}
        if takes_gzip(x.request):
            return Response(200, headers | {"Content-Encoding": "gzip"}, document.compressed)
        return Response(200, headers, document.body)

    def _document(self, form: str, version: str) -> _Metadata:
        found = self._rendered.get((form, version))
        if found is None:
            body = render_xml(self._edm, version) if form == _XML else render_json(self._edm, version)
            found = self._rendered[form, version] = _Metadata(body)
        return found


class _Metadata:
    """A rendered document. Its ETag is weak, because it is that of the compressed document, too."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.etag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.body, mtime=0)


def _form(x: Exchange) -> str:
    """Return XML unless the client accepts JSON but not XML. Raise ODataError 406."""
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
    message = "Metadata is available as application/xml or application/json."
    raise ODataError(406, "NOT_ACCEPTABLE", message, "$format" if wanted is not None else "Accept")
