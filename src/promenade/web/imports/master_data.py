"""`/api/v1/master-data/...`: messages of the leading system, by SOAP 1.1 and by REST.

Callers are authenticated by client certificate only. Accepted messages are answered before they are processed
(specification, Master data ingest).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from msgspec import json
from starlette.types import Receive, Scope

from promenade import metrics
from promenade.errors import Invalid, NotAcceptable, NotAllowed, PromenadeError, Unauthorized
from promenade.interface import MINOR_VERSION
from promenade.log import Logger
from promenade.web.access.auth import Caller
from promenade.web.http.body import Disconnected, header, read_body, require_json
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.http.problems import headers_of, odata_error, problem_details
from promenade.web.imports import soap
from promenade.web.imports.master_data_json import read_json_message
from promenade.web.imports.master_data_xml import read_soap_message
from promenade.workflows.context import Context
from promenade.workflows.imports.accepting import Accepted
from promenade.workflows.imports.master_data import INTERFACE, KEY_LENGTH_MAX, Message, Received, receive_message

SOAP_PATH = "/api/v1/master-data/soap"
REST_PATH = f"/api/v1/master-data/{INTERFACE}"
BODY_BYTES_MAX = 20 * 1024 * 1024
_AT_ONCE = 2  # messages parsed concurrently per process; a large one occupies a thread for a second
_CONTENT_TYPE_LENGTH_MAX = 255
_XML = (b"content-type", b"text/xml; charset=utf-8")
_PROBLEM = (b"content-type", b"application/problem+json")
_log = Logger("promenade.web")


class Callers(Protocol):
    """Identifies callers."""

    async def caller(self, scope: Scope) -> Caller:
        """Return the caller of a request. Raises Unauthorized and Forbidden."""
        ...


class MasterData:
    """The handlers of the ingest; ``base_url`` is its public URL, without a trailing slash."""

    def __init__(self, context: Context, callers: Callers, *, base_url: str) -> None:
        self._context = context
        self._callers = callers
        self._base_url = base_url
        self._reading = asyncio.Semaphore(_AT_ONCE)

    def endpoints(self) -> list[Endpoint]:
        """Return the two endpoints, the first of which also serves its WSDL."""
        return [
            Endpoint(SOAP_PATH, {"POST": self._soap, "GET": self._wsdl}, _refused_by_soap),
            Endpoint(REST_PATH, {"POST": self._rest}, _refused_by_rest),
        ]

    async def _wsdl(self, scope: Scope, receive: Receive) -> Answer:
        """Return the WSDL of the SOAP service, without authentication."""
        if scope["query_string"].lower() not in {b"wsdl", b"wsdl="}:
            error = NotAllowed(
                "METHOD_NOT_ALLOWED", "GET returns only the service description: add ?wsdl to the address.", ("POST",)
            )
            return soap.fault_answer(scope, error)
        return Answer(soap.render_wsdl(f"{self._base_url}{SOAP_PATH}"), content_type=_XML)

    async def _soap(self, scope: Scope, receive: Receive) -> Answer:
        """Accept a SOAP message; every error is answered with a fault."""
        try:
            accepted = await self._received(scope, receive, _SOAP)
        except PromenadeError as error:
            return soap.fault_answer(scope, error)
        except Disconnected:
            raise
        except Exception:
            # Unexpected errors need a fault too; the details are in the log.
            correlation_id = scope["promenade.correlation_id"].decode("ascii")
            _log.exception("master data failed", correlation_id=correlation_id)
            return soap.internal_fault(scope)
        return soap.empty_envelope(scope, 200 if accepted.is_replay else 202)

    async def _rest(self, scope: Scope, receive: Receive) -> Answer:
        """Accept a REST message."""
        try:
            accepted = await self._received(scope, receive, _REST)
        except PromenadeError as error:
            return _problem(scope, error)
        status_url = f"/api/v1/jobs/{accepted.job_id}"
        body = {"jobId": accepted.job_id, "statusUrl": status_url, "minorVersion": MINOR_VERSION}
        return Answer(json.encode(body), 200 if accepted.is_replay else 202)

    async def _received(self, scope: Scope, receive: Receive, way: _Protocol) -> Accepted:
        tenant_id = ""  # until authenticated; INVARIANT: no label comes from a message
        outcome = "rejected"
        try:
            caller = await self._callers.caller(scope)
            tenant_id = caller.tenant_id
            accepted = await self._accepted(scope, receive, way, caller)
            outcome = "replay" if accepted.is_replay else "accepted"
            return accepted
        finally:
            metrics.drfout_inbound.labels(tenant_id, INTERFACE, way.protocol, outcome).inc()

    async def _accepted(self, scope: Scope, receive: Receive, way: _Protocol, caller: Caller) -> Accepted:
        way.check(scope)
        body = await read_body(scope, receive, BODY_BYTES_MAX)
        async with self._reading:
            message, digest = await asyncio.to_thread(_read, way, scope, body)
        content_type = header(scope, b"content-type") or way.content_type
        received = Received(
            source=way.source,
            key=way.key(scope, message),
            body=body,
            digest=digest,
            content_type=content_type.decode("latin-1")[:_CONTENT_TYPE_LENGTH_MAX],
            message=message,
        )
        return await receive_message(self._context, caller.tenant_id, caller.user, received)


@dataclass(frozen=True, slots=True)
class _Protocol:
    """The differences between the protocols: the request check, the parser, and the idempotency key."""

    source: str
    protocol: str
    content_type: bytes  # default of the request's
    check: Callable[[Scope], None]
    read: Callable[[Scope, bytes], Message]
    key: Callable[[Scope, Message], str]


def _read(way: _Protocol, scope: Scope, body: bytes) -> tuple[Message, bytes]:
    return way.read(scope, body), hashlib.sha256(body).digest()


def _check_soap(scope: Scope) -> None:
    soap.require_xml(scope)
    soap.charset_of(scope)


def _check_rest(scope: Scope) -> None:
    try:
        require_json(scope)
    except NotAcceptable as error:
        # The specification's table of outcomes has 400 for both protocols.
        raise Invalid(error.code, error.message) from None


def _key_of_message(scope: Scope, message: Message) -> str:
    if message.message_id is None:
        raise Invalid(
            "VALIDATION_FAILED", "The MessageHeader of the message must have an ID or a UUID.", "MessageHeader"
        )
    if not _is_key(message.message_id):
        told = f"The identifier of the message may have {KEY_LENGTH_MAX} printable characters."
        raise Invalid("VALIDATION_FAILED", told, "MessageHeader")
    return message.message_id


def _key_of_request(scope: Scope, message: Message) -> str:
    """Return the key in the request's header, or else the message's identifier."""
    given = header(scope, b"idempotency-key")
    if given is None:
        return _key_of_message(scope, message)
    key = given.decode("latin-1").strip()
    if not _is_key(key):
        told = f"Idempotency-Key must have 1 to {KEY_LENGTH_MAX} printable characters."
        raise Invalid("VALIDATION_FAILED", told, "Idempotency-Key")
    return key


def _is_key(text: str) -> bool:
    return 0 < len(text) <= KEY_LENGTH_MAX and text.isprintable()


_SOAP = _Protocol(
    source="MASTER_DATA_SOAP",
    protocol="soap",
    content_type=b"text/xml",
    check=_check_soap,
    read=lambda scope, body: read_soap_message(body, soap.charset_of(scope)),
    key=_key_of_message,
)
_REST = _Protocol(
    source="MASTER_DATA_REST",
    protocol="rest",
    content_type=b"application/json",
    check=_check_rest,
    read=lambda _, body: read_json_message(body),
    key=_key_of_request,
)


def _refused_by_soap(error: PromenadeError) -> Answer:
    """Answer the endpoint's own refusals: a wrong method, or a URL that is too long."""
    return soap.fault_answer({"headers": []}, error)


def _refused_by_rest(error: PromenadeError) -> Answer:
    return _problem({"path": REST_PATH}, error)


def _problem(scope: Scope, error: PromenadeError) -> Answer:
    told = odata_error(error)
    headers = soap.challenge() if isinstance(error, Unauthorized) else headers_of(error, credential_was_sent=False)
    return Answer(problem_details(told, scope["path"]), told.status, _PROBLEM, headers)
