"""The interfaces of the service as tools call them.

Tools have no way of their own to the data: they send the requests that any program could send, with the credential of
whoever the agent works for. So roles, tenants, limits, approval and the audit trail are those of these interfaces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

import httpx2
import msgspec

from promenade.errors import (
    Conflict,
    Detail,
    Forbidden,
    Invalid,
    NotFound,
    PromenadeError,
    TooLarge,
    TooMany,
    Unauthorized,
    Unavailable,
)

__all__ = ["AGENT_HEADER", "Credential", "Service", "segment"]

AGENT_HEADER = "Promenade-Agent"
"""The header that names the agent that works for a caller."""

_ANSWER_BYTES_MAX = 4 * 1024 * 1024
_DETAILS_MAX = 20
_JSON = "application/json;IEEE754Compatible=true"  # numbers with a fraction as texts, which are exact
_KINDS: Mapping[int, type[PromenadeError]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
}


class Credential(Protocol):
    """What a request shows of its caller."""

    async def authorization(self, http: httpx2.AsyncClient, *, is_refused: bool) -> str | None:
        """Return the value of the header Authorization; None: there is no other.

        ``is_refused``: the one that was returned before is no longer accepted.
        """
        ...


class Service:
    """The interfaces of one service, for one caller."""

    def __init__(self, http: httpx2.AsyncClient, credential: Credential, agent: str) -> None:
        """``agent``: the name by which the audit trail knows the agent."""
        self._http = http
        self._credential = credential
        self.agent = agent

    async def get(self, path: str, **parameters: str) -> Any:
        """Return what an address holds, read from JSON. Raises the errors of the service."""
        return await self._call("GET", path, parameters)

    async def post(self, path: str, body: Any) -> Any:
        """Return the answer to a body that is sent as JSON; None: there is none. Raises the errors of the service."""
        return await self._call("POST", path, {}, body)

    async def _call(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        content = None if method == "GET" else msgspec.json.encode(body)
        asked = "&".join(f"{quote(name)}={quote(value, safe='')}" for name, value in parameters.items())
        address = f"{path}?{asked}" if asked else path
        answer = await self._send(method, address, content, is_refused=False)
        if answer.status_code == 401:
            answer = await self._send(method, address, content, is_refused=True) or answer
        return _read(answer)

    async def _send(self, method: str, address: str, content: bytes | None, *, is_refused: bool) -> Any:
        try:
            authorization = await self._credential.authorization(self._http, is_refused=is_refused)
            if authorization is None:
                return None
            headers = {"Authorization": authorization, "Accept": _JSON, AGENT_HEADER: self.agent}
            if content is not None:
                headers["Content-Type"] = "application/json"
            async with self._http.stream(method, address, content=content, headers=headers) as answer:
                received = bytearray()
                async for part in answer.aiter_bytes():
                    received += part
                    if len(received) > _ANSWER_BYTES_MAX:
                        raise TooLarge("ANSWER_TOO_LARGE", "The answer would be too large: ask for less.")
                return _Answer(answer.status_code, answer.headers, bytes(received))
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            raise Unavailable("SERVICE_UNREACHABLE", "The service cannot be reached.") from error


class _Answer:
    def __init__(self, status_code: int, headers: httpx2.Headers, body: bytes) -> None:
        self.status_code = status_code
        self.headers = headers
        self.body = body

    def read(self) -> Any:
        """Return the body: JSON with fractions as texts, or a text. Raises ValueError."""
        if "json" in self.headers.get("content-type", ""):
            return json.loads(self.body, parse_float=str) if self.body else None
        return self.body.decode()


def _read(answer: _Answer) -> Any:
    try:
        value = answer.read()
    except (ValueError, RecursionError):
        raise _failure(answer) from None
    if answer.status_code < 300:
        return value
    raise _error(answer, value)


def _error(answer: _Answer, value: Any) -> PromenadeError:
    """Return what the service has refused; of what went wrong inside it nothing but the reference."""
    told = value.get("error") if isinstance(value, dict) else None
    if not isinstance(told, dict) or answer.status_code >= 500:
        return _failure(answer)
    code, message, target = str(told.get("code")), str(told.get("message")), told.get("target")
    if answer.status_code == 429:
        after = answer.headers.get("retry-after", "")
        return TooMany(code, message, int(after) if after.isdigit() else 60)
    details = [
        Detail(str(one.get("code")), str(one.get("message")), one.get("target"))
        for one in told.get("details", ())[:_DETAILS_MAX]
    ]
    return _KINDS.get(answer.status_code, Invalid)(code, message, target, details)


def _failure(answer: _Answer) -> PromenadeError:
    reference = answer.headers.get("x-correlation-id", "")
    return Unavailable("SERVICE_FAILED", f"The service has failed; quote {reference or answer.status_code}.")


def segment(text: str) -> str:
    """Return a text as one segment of a path. Raises NotFound for one that leads elsewhere."""
    if text in {".", ".."}:
        raise NotFound("NOT_FOUND", "There is nothing of this name.")
    return quote(text, safe="")
