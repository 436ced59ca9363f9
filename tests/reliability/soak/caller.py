"""A client of a tenant that calls several services and records every call."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.kit.api_client import SECRET
from tests.reliability.soak.history import Call, History, Outcome
from tests.reliability.soak.wire import BrokenError, NotSentError, Reply, Wire, pause

__all__ = ["Answer", "Caller", "Tokens", "no_code"]

_SAYS_YES = {
    "validate": "valid",
    "reserve": "reserved",
    "redeem": "redeemed",
    "cancel": "cancelled",
    "activate": "activated",
    "confirm": "confirmed",
}
_PAUSE_SECONDS = 0.05  # until somebody listens again
_WAIT_SECONDS = 0.5  # before an unanswered request is repeated
_TRIES = 600


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended, and its answer."""

    outcome: Outcome
    status: int
    code: str
    headers: dict[str, str]
    body: bytes
    began: float
    ended: float

    def json(self) -> Any:
        """Return the decoded body."""
        return json.loads(self.body) if self.body else {}


@dataclass(slots=True)
class Tokens:
    """Tokens of all clients, requested once, and again when they are no longer valid."""

    ports: Sequence[int]
    _known: dict[str, str] = field(default_factory=dict)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, client: str) -> str:
        """Return the token of a client, from whichever service issues it."""
        async with self._asking:
            turn = 0
            while client not in self._known:
                turn += 1
                assert turn < _TRIES, f"no token for {client}"
                await self._ask(client, self.ports[turn % len(self.ports)])
            return self._known[client]

    def forget(self, client: str) -> None:
        """Have a token requested again."""
        self._known.pop(client, None)

    async def _ask(self, client: str, port: int) -> None:
        form = urlencode({"grant_type": "client_credentials", "client_id": client, "client_secret": SECRET})
        wire = Wire(port)
        try:
            headers = {"content-type": "application/x-www-form-urlencoded"}
            reply = await wire.request("POST", "/oauth/token", headers, form.encode())
        except (BrokenError, NotSentError):
            await pause(_PAUSE_SECONDS)
            return
        finally:
            wire.close()
        if reply.status == 200:
            self._known[client] = str(reply.json()["access_token"])
        else:
            assert reply.status >= 500, reply.body
            await pause(_PAUSE_SECONDS)


@dataclass(slots=True)
class Caller:
    """A client with a connection to every service; like a load balancer it skips services that do not listen."""

    tenant: str
    ports: Sequence[int]
    tokens: Tokens
    history: History
    rng: random.Random
    spend: Callable[[], Awaitable[None]]  # counts all calls of the load, and keeps its pace
    _wires: list[Wire] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._wires = [Wire(port) for port in self.ports]

    def close(self) -> None:
        """Drop the connections."""
        for wire in self._wires:
            wire.close()

    async def post(self, kind: str, path: str, body: Any, *, client: str = "till", **headers: str) -> Answer:
        """POST JSON; see `call`."""
        return await self.call(kind, "POST", path, body, client=client, **headers)

    async def call(
        self, kind: str, method: str, path: str, body: Any = None, *, client: str = "till", **headers: str
    ) -> Answer:
        """Send one request and return its result; ``headers`` have underscores for dashes."""
        await self.spend()
        sent = {"authorization": f"Bearer {await self.tokens.of(f'{self.tenant}-{client}')}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if content is not None:
            sent.setdefault("content-type", "application/json")
        began = time.monotonic()
        reply = await self._sent(method, path, sent, content)
        if reply is not None and reply.status == 401:  # hours have passed
            self.tokens.forget(f"{self.tenant}-{client}")
            sent["authorization"] = f"Bearer {await self.tokens.of(f'{self.tenant}-{client}')}"
            reply = await self._sent(method, path, sent, content)
        outcome, code = _read(kind, reply)
        status = reply.status if reply is not None else 0
        ended = time.monotonic()
        self.history.calls.append(Call(kind, self.tenant, outcome, status, code, began, ended - began))
        if outcome == "unknown":
            await pause(_WAIT_SECONDS)
        headers_of, body_of = (reply.headers, reply.body) if reply else ({}, b"")
        return Answer(outcome, status, code, headers_of, body_of, began, ended)

    async def _sent(self, method: str, path: str, headers: dict[str, str], content: bytes | None) -> Reply | None:
        """Return the answer, or None if the connection broke. A service that does not listen is skipped."""
        first = self.rng.randrange(len(self._wires))
        for turn in range(_TRIES):
            try:
                return await self._wires[(first + turn) % len(self._wires)].request(method, path, headers, content)
            except NotSentError:
                self.history.not_sent += 1
                if turn % len(self._wires) == len(self._wires) - 1:
                    await pause(_PAUSE_SECONDS)
            except BrokenError:
                return None
        raise AssertionError("no service came back")


def _read(kind: str, reply: Reply | None) -> tuple[Outcome, str]:
    if reply is None:
        return "unknown", ""
    if reply.status >= 500:
        return "unknown", no_code(reply)
    if reply.status >= 400:
        return "refused", no_code(reply)
    flag = _SAYS_YES.get(kind)
    if flag is None:
        return "ok", ""
    answer = reply.json()
    return ("ok", "") if answer[flag] else ("refused", str(answer["reason"]))


def no_code(reply: Reply) -> str:
    """Return the code of an error in any format, or the status if there is none."""
    try:
        said = reply.json()
    except ValueError:
        return str(reply.status)
    error = said.get("error", said)
    return str(error.get("code", reply.status))
