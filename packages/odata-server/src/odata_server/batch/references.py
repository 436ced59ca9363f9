"""References from a request of a batch to earlier ones (Protocol 4.01, 11.7.4 to 11.7.6; JSON Format 4.01, 19.1).

``$1`` refers to the entity that request 1 created or returned: as the first segment of a URL, where a body binds or
links an entity, and in If-Match for its ETag. A condition of a JSON batch can test the outcome of earlier requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import msgspec

from odata_server.batch.items import Item
from odata_server.errors import ODataError, bad_request
from odata_server.http import Request, Response

__all__ = ["Earlier", "as_request", "failed_dependency"]

_SYSTEM = frozenset({"$all", "$batch", "$count", "$crossjoin", "$entity", "$id", "$metadata", "$root"})
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_FIRST = re.compile(r"(?:\$|%24)([^/?(#]*)")
_LINKS = frozenset({"@id", "@odata.id"})
_READ = msgspec.json.Decoder(float_hook=Decimal)
_WRITE = msgspec.json.Encoder(decimal_format="number")
_ETAGS = ("if-match", "if-none-match")

# Headers that describe the batch as a whole, its sender or its transport; they do not apply to its parts.
_OUTER_ONLY = frozenset(
    {"accept", "accept-encoding", "authorization", "connection", "content-encoding", "content-id", "content-language"}
    | {"content-length", "content-type", "cookie", "expect", "host", "if-match", "if-none-match", "isolation", "prefer"}
    | {"keep-alive", "odata-isolation", "origin", "proxy-authorization", "range", "te", "trailer", "transfer-encoding"}
    | {"referer", "upgrade", "x-csrf-token", "x-http-method", "x-http-method-override"}
)
# Headers that are ignored in a part: the batch determines the caller.
_NOT_FOR_PARTS = frozenset({"authorization", "proxy-authorization", "cookie", "expect", "range", "te"})
_INHERITED_PREFERENCES = frozenset({"allow-entityreferences", "include-annotations", "omit-values"})


@dataclass(frozen=True, slots=True)
class Earlier:
    """The outcome of a request (or, without a response, of a whole atomicity group) and the URL of its entity."""

    succeeded: bool
    response: Response | None = None
    address: str | None = None  # relative to the service root

    @classmethod
    def of(cls, request: Request, response: Response, root: str) -> Earlier:
        """Create the record of an executed request; a Location header in the response is the URL of its entity."""
        succeeded = response.status < 400
        address = None
        headers = {name.lower(): value for name, value in response.headers.items()}
        located = headers.get("location", headers.get("odata-entityid"))
        if located is not None:
            address = _within(located, root)
        elif succeeded and request.method != "POST":
            address = request.path
        return cls(succeeded, response, address)


def failed_dependency(message: str) -> ODataError:
    """Return the error (424) for a request that is not executed because another one failed."""
    return ODataError(424, "FAILED_DEPENDENCY", message)


def as_request(item: Item, outer: Request, known: Mapping[str, Earlier], root: str) -> Request:
    """Return the request with its references resolved and with the headers that it inherits from the batch.

    Raise `ODataError` for a reference to an unknown or failed request, and for a URL outside of the service.
    """
    path, query = _address(item, known, root)
    if path == "$batch":
        raise bad_request("MALFORMED_BATCH", "A batch must not be inside a batch.")
    body = item.body
    if b'"$' in body and known:
        body = _with_links(body, known, root)
    headers = _headers(item, outer, known)
    return Request(item.method, path, query, headers, body, in_batch=True, origin=outer.origin)


# ---- addresses ----------------------------------------------------------------------------------------------------


def _address(item: Item, known: Mapping[str, Earlier], root: str) -> tuple[str, str]:
    text = _within(item.url.partition("#")[0], root)
    if text is None:
        raise bad_request("URI_SYNTAX", f"{item.url[:200]!r} is not below {root}/.")
    path, _, query = text.partition("?")
    found = _FIRST.match(path)
    if found is not None and f"${unquote(found[1])}" not in _SYSTEM:
        path = f"{_entity(unquote(found[1]), known)}{path[found.end() :]}"
    return path, query


def _within(url: str, root: str) -> str | None:
    """Return the part of a URL below the service root, ignoring the host; None if it is not below the root."""
    absolute = _ABSOLUTE.match(url)
    if absolute is not None:
        url = url[absolute.end() :] or "/"
    if not url.startswith("/"):
        return url.removeprefix("./")
    if url.startswith(f"{root}/"):
        return url[len(root) + 1 :]
    rest = url.removeprefix(root)
    return rest if url.startswith(root) and rest[:1] in {"", "?"} else None


def _entity(name: str, known: Mapping[str, Earlier]) -> str:
    earlier = known.get(name)
    if earlier is None:
        raise bad_request("UNKNOWN_REFERENCE", f"There is no request {name[:50]!r} before this one.")
    if not earlier.succeeded:
        raise failed_dependency(f"Request {name} failed.")
    if earlier.address is None:
        raise bad_request("UNKNOWN_REFERENCE", f"Request {name} returned no entity.")
    return earlier.address


# ---- headers ------------------------------------------------------------------------------------------------------


def _headers(item: Item, outer: Request, known: Mapping[str, Earlier]) -> dict[str, str]:
    headers = {name: value for name, value in outer.headers.items() if name not in _OUTER_ONLY}
    headers.update((name, value) for name, value in item.headers.items() if name not in _NOT_FOR_PARTS)
    if "accept" not in headers:
        formats = [one.strip() for one in outer.headers.get("accept", "").split(",")]
        inner = [one for one in formats if one and not one.lower().startswith("multipart/")]
        # the Accept of the batch: a request that returns something other than JSON must not fail because of it
        if inner:
            headers["accept"] = ", ".join([*inner, "*/*;q=0.1"])
    inherited = _preferences(outer.headers.get("prefer", ""))
    if inherited:
        headers["prefer"] = ", ".join(filter(None, [headers.get("prefer"), *inherited]))
    for name in _ETAGS:
        if headers.get(name, "").startswith("$"):
            headers[name] = _etag(headers[name][1:], known)
    return headers


def _preferences(text: str) -> list[str]:
    """Return the preferences that a request inherits; its own preferences come first and take precedence."""
    every = [one.strip() for one in text.split(",")]
    names = [re.split(r"[=;\s]", one, maxsplit=1)[0].lower().removeprefix("odata.") for one in every]
    return [one for one, name in zip(every, names, strict=True) if name in _INHERITED_PREFERENCES]


def _etag(name: str, known: Mapping[str, Earlier]) -> str:
    earlier = known.get(name)
    if earlier is None:
        raise bad_request("UNKNOWN_REFERENCE", f"There is no request {name[:50]!r} before this one.", "If-Match")
    if not earlier.succeeded:
        raise failed_dependency(f"Request {name} failed.")
    headers = {} if earlier.response is None else earlier.response.headers
    found = next((value for header, value in headers.items() if header.lower() == "etag"), None)
    if found is None:
        raise bad_request("UNKNOWN_REFERENCE", f"Request {name} returned no ETag.", "If-Match")
    return found


# ---- bodies -------------------------------------------------------------------------------------------------------


def _with_links(body: bytes, known: Mapping[str, Earlier], root: str) -> bytes:
    """Replace links to entities of earlier requests in a body by URLs; numbers keep their digits."""
    try:
        tree = _READ.decode(body)
    except (msgspec.DecodeError, ValueError, ArithmeticError, RecursionError):
        return body  # not JSON: the service reports it
    changed = False
    rest: list[Any] = [tree]
    while rest:
        node = rest.pop()
        if isinstance(node, list):
            rest += [one for one in node if type(one) in {list, dict}]
        elif isinstance(node, dict):
            for name, value in node.items():
                if name in _LINKS or name.endswith(("@odata.bind", "@bind")):
                    node[name] = _linked(value, known, root)
                    changed = changed or node[name] != value
                elif type(value) in {list, dict}:
                    rest.append(value)
    return _WRITE.encode(tree) if changed else body


def _linked(value: Any, known: Mapping[str, Earlier], root: str) -> Any:
    if isinstance(value, list):
        return [_linked(one, known, root) for one in value]
    if isinstance(value, dict):
        return {name: _linked(one, known, root) if name in _LINKS else one for name, one in value.items()}
    if not isinstance(value, str):
        return value
    found = _FIRST.match(value)
    if found is None or f"${found[1]}" in _SYSTEM:
        return value
    return f"{root}/{_entity(found[1], known)}{value[found.end() :]}"
