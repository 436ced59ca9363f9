"""The tills of a fight: every call over HTTP is recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import httpx2

from tests.kit.api_client import SECRET
from tests.kit.moved_clock import MovedClock
from tests.reliability.fights.history import Call, Outcome

__all__ = ["NOT_SENT", "SAYS_YES", "Tills", "all_at_once"]

SAYS_YES = {
    "validate": "valid",
    "reserve": "reserved",
    "redeem": "redeemed",
    "cancel": "cancelled",
    "activate": "activated",
    "confirm": "confirmed",
}
"""The flag that tells whether a call succeeded; of other calls the status does."""
_PATHS = {"evaluate": "/pos/v2/evaluate", "confirm": "/pos/v2/confirm"}
NOT_SENT = "NOT_SENT"
_NOBODY = httpx2.Response(0)
_PATIENCE_SECONDS = 60
_CONNECTIONS = 64


@dataclass
class Tills:
    """Any number of tills that use one service, or several in turn; ``history`` has all their calls."""

    urls: Sequence[str]
    clock: MovedClock
    history: list[Call] = field(default_factory=list)
    _tokens: dict[str, str] = field(default_factory=dict)
    _http: list[httpx2.AsyncClient] = field(default_factory=list)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _turn: int = 0

    async def __aenter__(self) -> Tills:
        limits = httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
        self._http = [httpx2.AsyncClient(base_url=url, timeout=_PATIENCE_SECONDS, limits=limits) for url in self.urls]
        return self

    async def __aexit__(self, *_: object) -> None:
        for one in self._http:
            await one.aclose()

    async def call(
        self, kind: str, body: dict[str, Any] | None = None, *, client: str = "till", path: str = ""
    ) -> Call:
        """Make one call: a coupon operation by name, `evaluate`, `confirm`, or anything else with its ``path``.

        A call that was not sent because nobody listened is recorded as refused with the code NOT_SENT.
        """
        address = path or _PATHS.get(kind) or f"/pos/coupons/{kind}"
        said = body or {}
        sent = {"request": said} if kind in _PATHS else body
        token = await self.token(client)
        since, began = self.clock(), time.perf_counter()
        told = await self._told(address, sent, token)
        if told is not None and told.status_code == 401:  # the clock was moved past the token's expiry
            if self._tokens.get(client) == token:
                del self._tokens[client]
            return await self.call(kind, body, client=client, path=path)
        outcome, code, answer = ("refused", NOT_SENT, {}) if told is _NOBODY else _read(kind, told)
        ended = inf if outcome == "unknown" else time.perf_counter()
        status, wait = (told.status_code, told.headers.get("retry-after", "")) if told is not None else (0, "")
        call = Call(kind, said, began, ended, since, self.clock(), outcome, status, code, answer, wait)
        self.history.append(call)
        return call

    async def _told(self, address: str, sent: dict[str, Any] | None, token: str) -> httpx2.Response | None:
        """Return the answer of the next service; None: the connection broke."""
        self._turn += 1
        http = self._http[self._turn % len(self._http)]
        headers = {"authorization": f"Bearer {token}"}
        try:
            if sent is None:
                return await http.get(address, headers=headers)
            return await http.post(address, json=sent, headers=headers)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            return _NOBODY
        except httpx2.TransportError:
            return None

    async def token(self, client: str) -> str:
        """Return a client's token, requesting it on first use."""
        async with self._asking:
            if client not in self._tokens:
                form = {"grant_type": "client_credentials", "client_id": client, "client_secret": SECRET}
                told = await self._http[0].post("/oauth/token", data=form)
                assert told.status_code == 200, told.text
                self._tokens[client] = told.json()["access_token"]
            return self._tokens[client]

    async def price(
        self, transaction_id: str, article: str, price: str, *, coupons: Sequence[str] = (), customer: str | None = None
    ) -> Call:
        """Evaluate a basket with one piece of an article."""
        request: dict[str, Any] = {
            "header": {"transactionId": transaction_id},
            "posGroupCode": "BERLIN",
            "items": [{"articleNumber": article, "quantity": 1, "unitPrice": price}],
            "coupons": [{"code": code} for code in coupons],
        }
        if customer is not None:
            request["customer"] = {"customerId": customer}
        return await self.call("evaluate", request)

    async def confirm(self, priced: Call) -> Call:
        """Confirm an evaluation as it was offered."""
        offered = priced.answer["totals"]["savingsSummary"]["promotionBreakdown"]
        header = priced.answer["meta"]["header"]
        request = {
            "header": {name: header[name] for name in ("transactionId", "transactionCounter")},
            "transactionId": header["transactionId"],
            "appliedPromotions": [{"promotionId": one["promotionId"]} for one in offered],
        }
        return await self.call("confirm", request)

    def of(self, *kinds: str, outcome: Outcome | None = None) -> list[Call]:
        """Return the calls of these kinds, in the order of their answers."""
        return [call for call in self.history if call.kind in kinds and outcome in {None, call.outcome}]


def _read(kind: str, told: httpx2.Response | None) -> tuple[Outcome, str, dict[str, Any]]:
    """Return how a call ended. After a 503 (temporarily unavailable) the outcome is unknown."""
    if told is None or told.status_code == 503:
        return "unknown", "", {}
    answer = told.json() if told.content else {}
    assert told.status_code < 500, (kind, told.status_code, answer)
    if told.status_code >= 400:
        code = answer["error"]["code"] if "error" in answer else answer["code"]
        return "refused", str(code), answer
    flag = SAYS_YES.get(kind)
    if flag is None or answer[flag]:
        return "ok", "", answer
    return "refused", str(answer["reason"]), answer


async def all_at_once(number: int, one: Callable[[int], Awaitable[object]]) -> None:
    """Run this many clients concurrently; the first failure ends them all."""
    async with asyncio.TaskGroup() as clients:
        for client in range(number):
            clients.create_task(_whole(one(client)))


async def _whole(part: Awaitable[object]) -> None:
    await part
