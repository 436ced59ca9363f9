"""A line between a till and the service that fails as told, and an hour that passes when the till waits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

TOKEN_PATH = "/oauth/token"
Fault = Callable[[Callable[[], httpx2.Response]], httpx2.Response]
"""What happens to a request; it gets the function that passes the request on."""


def lost_before(_: Callable[[], httpx2.Response]) -> httpx2.Response:
    """The service gets nothing."""
    raise httpx2.ConnectError("refused")


def lost_answer(pass_on: Callable[[], httpx2.Response]) -> httpx2.Response:
    """The service carries the request out; its answer is lost."""
    pass_on()
    raise httpx2.ReadTimeout("lost")


def answer(status: int, body: Any = None, **headers: str) -> Fault:
    """Something between answers instead of the service: JSON, or a page if the body is a text."""

    def instead(_: Callable[[], httpx2.Response]) -> httpx2.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, str):
            return httpx2.Response(status, text=body, headers=sent)
        return httpx2.Response(status, json=body, headers=sent)

    return instead


class Line(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Passes requests on to the service, but for those that meet one of ``faults``, in order; tokens meet none."""

    def __init__(self, service: httpx2.BaseTransport, *faults: Fault) -> None:
        self._service = service
        self.faults: deque[Fault] = deque(faults)
        self.is_down = False
        self.requests: list[httpx2.Request] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if self.is_down:
            return lost_before(lambda: self._pass_on(request))
        if self.faults and request.url.path != TOKEN_PATH:
            return self.faults.popleft()(lambda: self._pass_on(request))
        return self._pass_on(request)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        response = await asyncio.to_thread(self.handle_request, request)
        return httpx2.Response(response.status_code, headers=response.headers, content=response.read())

    def _pass_on(self, request: httpx2.Request) -> httpx2.Response:
        response = self._service.handle_request(request)
        response.read()
        return response

    def paths(self) -> list[str]:
        """Return what the till has sent, without the requests for tokens."""
        return [request.url.path for request in self.requests if request.url.path != TOKEN_PATH]

    def tokens(self) -> int:
        """Return how many tokens were requested."""
        return sum(request.url.path == TOKEN_PATH for request in self.requests)

    @contextmanager
    def down(self) -> Iterator[None]:
        """Nothing gets through meanwhile."""
        self.is_down = True
        try:
            yield
        finally:
            self.is_down = False


@dataclass
class Hour:
    """A clock that only waiting moves, and the waits."""

    now: float = 1000.0
    waits: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)
