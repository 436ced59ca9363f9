"""SOAP 1.1 over HTTP, as much as a one-way operation needs: media types, the empty envelope, faults, and WSDL.

A fault says what kind it is and, in a short sentence, why; nothing of tenants, jobs or the inside of the service
(specification, Master data ingest).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from xml.sax.saxutils import escape, quoteattr

from starlette.types import Scope

from promenade.errors import (
    Conflict,
    Forbidden,
    Invalid,
    PromenadeError,
    Unauthorized,
)
from promenade.web.http.body import header
from promenade.web.http.endpoint import Answer
from promenade.web.http.problems import Headers, headers_of, status_of

ENVELOPE_NAMESPACE = "http://schemas.xmlsoap.org/soap/envelope/"
MEDIA_TYPES = ("text/xml", "application/soap+xml")

_ENVELOPE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f'<soap:Envelope xmlns:soap="{ENVELOPE_NAMESPACE}"><soap:Body>%s</soap:Body></soap:Envelope>'
)
_EMPTY = (_ENVELOPE.replace("<soap:Body>%s</soap:Body>", "<soap:Body/>")).encode("ascii")
_FAULT = _ENVELOPE % "<soap:Fault><faultcode>soap:%s</faultcode><faultstring>%s</faultstring></soap:Fault>"
_FAULTSTRING_LENGTH_MAX = 200
_INTERNAL_STATUS = 500

# A fault must not reveal what is known about callers and earlier messages: these errors get fixed messages.
_KEPT_SHORT: tuple[tuple[type[PromenadeError], str], ...] = (
    (Unauthorized, "A valid client certificate is needed."),
    (Forbidden, "The client certificate is not trusted here."),
    (Conflict, "Another message with this identifier was received before."),
)


class VersionMismatch(Invalid):
    """The envelope is of another version of SOAP."""


class MustUnderstand(Invalid):
    """A header with mustUnderstand is not understood."""


def require_xml(scope: Scope) -> None:
    """Raise Invalid (UNSUPPORTED_MEDIA_TYPE) for a request that is not SOAP."""
    if header(scope, b"content-encoding") not in {None, b"identity"}:
        raise Invalid("UNSUPPORTED_MEDIA_TYPE", "Compressed bodies are not read: send plain XML.")
    if _media_type(scope) not in MEDIA_TYPES:
        raise Invalid("UNSUPPORTED_MEDIA_TYPE", "The body must be text/xml or application/soap+xml.")


def charset_of(scope: Scope) -> str | None:
    """Return the charset of the Content-Type in lower case. Raises Invalid if it names several."""
    parameters = _content_type(scope).split(";")[1:]
    named = {
        value.strip().strip("\"'").lower()
        for name, _, value in (parameter.partition("=") for parameter in parameters)
        if name.strip().lower() == "charset"
    }
    if len(named) > 1:
        raise Invalid("MALFORMED_XML", "The Content-Type names several charsets.")
    return named.pop() if named else None


def empty_envelope(scope: Scope, status: int) -> Answer:
    """Return an empty envelope; the status is the only information."""
    return Answer(_EMPTY, status, _answered_as(scope))


def fault_answer(scope: Scope, error: PromenadeError) -> Answer:
    """Return an error as a fault; a server error gives no details."""
    # The table of outcomes has no other status for server errors, and a client should retry after any of them.
    status = min(status_of(error), _INTERNAL_STATUS)
    if status == _INTERNAL_STATUS:
        return internal_fault(scope)
    code = type(error).__name__ if isinstance(error, VersionMismatch | MustUnderstand) else "Client"
    headers = challenge() if isinstance(error, Unauthorized) else headers_of(error, credential_was_sent=False)
    told = next((text for kind, text in _KEPT_SHORT if isinstance(error, kind)), error.message)
    return Answer(_fault(code, told), status, _answered_as(scope), headers)


def internal_fault(scope: Scope) -> Answer:
    """Return the fault for unexpected errors."""
    return Answer(_fault("Server", "The message could not be accepted; send it again later."), 500, _answered_as(scope))


def _fault(code: str, text: str) -> bytes:
    return (_FAULT % (code, escape(text[:_FAULTSTRING_LENGTH_MAX]))).encode("utf-8")


def challenge() -> Headers:
    """Return the header that HTTP requires with every 401. It names no token scheme, because no token would help."""
    return [(b"www-authenticate", b"ClientCertificate")]


def _answered_as(scope: Scope) -> tuple[bytes, bytes]:
    """Return the media type of the response: that of the request."""
    media_type = _media_type(scope)
    named = media_type if media_type in MEDIA_TYPES else MEDIA_TYPES[0]
    return (b"content-type", f"{named}; charset=utf-8".encode("ascii"))


def _media_type(scope: Scope) -> str:
    return _content_type(scope).partition(";")[0].strip().lower()


def _content_type(scope: Scope) -> str:
    return (header(scope, b"content-type") or b"").decode("latin-1")


def render_wsdl(address: str) -> bytes:
    """Return the document for clients that reach the service at ``address``."""
    return _document().replace('"ADDRESS"', quoteattr(address)).encode("utf-8")


@cache
def _document() -> str:
    return files("promenade.web.imports").joinpath("wsdl.xml").read_text("utf-8")
