"""The JSON format of a batch (JSON Format 4.01, chapter 19)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from odata_server.batch.items import Answer, ChangeSet, Item, Outcome, Part, check_id, malformed, too_large

__all__ = ["parse_json_batch", "render_json_batch"]

_METHODS = frozenset({"DELETE", "GET", "PATCH", "POST", "PUT", "HEAD"})
_NULL = msgspec.Raw(b"null")


class _RequestObject(msgspec.Struct, rename="camel"):
    id: str
    method: str
    url: str
    atomicity_group: str | None = None
    depends_on: list[str] | None = None
    condition: str | None = msgspec.field(default=None, name="if")
    headers: dict[str, str] | None = None
    body: msgspec.Raw = _NULL


class _Envelope(msgspec.Struct):
    requests: list[_RequestObject]


# ---- reading ------------------------------------------------------------------------------------------------------


def parse_json_batch(body: bytes, parts_max: int) -> tuple[Part, ...]:
    """Parse the parts of a batch.

    Raise `ODataError` if the body is not a valid batch or has more than ``parts_max`` requests.
    """
    try:
        envelope = msgspec.json.decode(body, type=_Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise malformed(f"The body is not a JSON batch: {error}.") from None
    except RecursionError:
        raise malformed("The body is nested too deeply.") from None
    if len(envelope.requests) > parts_max:
        raise too_large(parts_max)
    _check_names(envelope.requests)
    return tuple(_parts(envelope.requests))


def _parts(requests: Sequence[_RequestObject]) -> Iterator[Part]:
    group: list[Item] = []
    name: str | None = None
    for request in requests:
        if group and request.atomicity_group != name:
            yield ChangeSet(tuple(group), name)
            group = []
        name = request.atomicity_group
        if name is None:
            yield _item(request)
        else:
            group.append(_item(request))
    if group:
        yield ChangeSet(tuple(group), name)


def _check_names(requests: Sequence[_RequestObject]) -> None:
    """Check that identifiers are unique, groups are contiguous, and requests depend only on earlier ones."""
    ids = [check_id(request.id) for request in requests]
    groups = {check_id(one.atomicity_group) for one in requests if one.atomicity_group is not None}
    if len(ids) != len(set(ids)) or groups & set(ids):
        raise malformed("Two requests or atomicity groups have the same identifier.")
    known: set[str] = set()
    closed: set[str] = set()
    before: str | None = None
    for request in requests:
        group = request.atomicity_group
        if group != before and before is not None:
            closed.add(before)
        if group in closed:
            raise malformed(f"The requests of atomicity group {group} must follow each other directly.")
        for needed in request.depends_on or ():
            if needed not in known and needed not in closed:
                raise malformed(f"Request {request.id} depends on {needed[:50]!r}, which does not come before it.")
        known.add(request.id)
        before = group


def _item(request: _RequestObject) -> Item:
    method = request.method.upper()
    if method not in _METHODS:
        raise malformed(f"Request {request.id} has a method that is not allowed: {request.method[:20]!r}.")
    headers: dict[str, str] = {}
    for name, value in (request.headers or {}).items():
        if name.lower() in headers:
            raise malformed(f"Request {request.id} has the header {name} twice.")
        headers[name.lower()] = value
    body = b""
    if bytes(request.body).strip() != b"null":
        if method in {"GET", "DELETE", "HEAD"}:
            raise malformed(f"Request {request.id} is a {method} and must not have a body.")
        headers.setdefault("content-type", "application/json")
        body = _decoded(request.id, headers["content-type"], bytes(request.body))
    return Item(
        method=method,
        url=request.url,
        headers=headers,
        body=body,
        id=request.id,
        depends_on=tuple(request.depends_on or ()),
        condition=request.condition,
    )


def _decoded(of: str, content_type: str, raw: bytes) -> bytes:
    kind = _kind(content_type)
    if _is_json(kind):
        return raw
    try:
        text = msgspec.json.decode(raw, type=str)
    except msgspec.DecodeError:
        raise malformed(f"Request {of} is {kind}: its body must be a string.") from None
    if kind.startswith("text/"):
        return text.encode()
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise malformed(f"Request {of} is {kind}: its body must be base64url.") from None


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _is_json(kind: str) -> bool:
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


# ---- writing ------------------------------------------------------------------------------------------------------


def render_json_batch(outcomes: Sequence[Outcome]) -> tuple[str, bytes]:
    """Return the Content-Type and the body of a batch response."""
    responses: list[dict[str, Any]] = []
    for number, outcome in enumerate(outcomes, 1):
        if isinstance(outcome, Answer):
            responses.append(_response(outcome, None))
            continue
        name = outcome.change_set.name or f"changeset.{number}"
        responses += (_response(answer, name) for answer in outcome.answers)
    return "application/json", msgspec.json.encode({"responses": responses})


def _response(answer: Answer, group: str | None) -> dict[str, Any]:
    response = answer.response
    made: dict[str, Any] = {} if answer.item.id is None else {"id": answer.item.id}
    if group is not None:
        made["atomicityGroup"] = group
    made["status"] = response.status
    made["headers"] = {name.lower(): value for name, value in response.headers.items()}
    if response.body:
        made["body"] = _encoded(made["headers"].get("content-type", ""), response.body)
    return made


def _encoded(content_type: str, body: bytes) -> Any:
    kind = _kind(content_type)
    if _is_json(kind):
        return msgspec.Raw(body)
    if kind.startswith("text/"):
        return body.decode()
    return base64.urlsafe_b64encode(body).rstrip(b"=").decode()
