"""The service in the test's own process: no second interpreter to start, no socket to call.

It does not cover what a network connection adds: header limits, malformed requests, clients that disconnect, signals, a
separate log. Tests of those use `tests.kit.service`, and every family of routes has a smoke test there.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Self

import httpx2
import uvloop

from promenade import app
from promenade.settings import Settings
from promenade.web.odata import source as odata
from promenade.worker import Clockwork, Imports, Worker
from promenade.workflows.context import Context

__all__ = ["SERVICE_THREAD", "InProcess"]

SERVICE_THREAD = "service"

_QUERY_SECONDS, _USUAL_QUERY_SECONDS = 60.0, odata.QUERY_SECONDS
_PORTION = 64 * 1024  # of a body: as much as a server reads at a time
_WITHOUT_BODY = frozenset({204, 304})
_ASGI = {"version": "3.0", "spec_version": "2.3"}


_running: set[InProcess] = set()


class InProcess:
    """The cloud edition on a migrated database, with the interface of `Service` where possible.

    It runs on an event loop in its own thread, with its worker, and handles calls from several threads concurrently.
    Nothing is delivered to subscribers, as tests cannot reach other hosts, and the query timeout allows for a busy
    machine. ``clock`` is the service's clock; ``settings`` are the arguments of `Settings`.
    """

    url = "http://127.0.0.1:8080"

    def __init__(
        self,
        database_url: str,
        *,
        has_worker: bool = True,
        clock: Callable[[], datetime] | None = None,
        **settings: Any,
    ) -> None:
        self._app = app.Cloud(Settings(database=database_url, **settings), run_worker=has_worker)
        self._clock = clock or app.clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._end: asyncio.Event | None = None
        self._is_ready = threading.Event()
        self._failure: BaseException | None = None

    def start(self) -> Self:
        """Start the service and wait until it is ready; raise the error that prevented the start."""
        usual = {name: vars(app)[name] for name in ("clock", "run_worker", "set_aside")}
        thresholds = gc.get_threshold()  # the service sets them for its process, which here is the test process
        vars(app).update(clock=self._clock, run_worker=_work, set_aside=lambda: None)
        _running.add(self)
        vars(odata).update(QUERY_SECONDS=_QUERY_SECONDS)
        try:
            self._thread = threading.Thread(target=self._run, name=SERVICE_THREAD, daemon=True)
            self._thread.start()
            self._is_ready.wait()
        finally:
            vars(app).update(usual)
            gc.set_threshold(*thresholds)
        if self._failure is not None:
            self._tidy()
        self._raise_failure()
        return self

    def stop(self) -> None:
        """Stop the service, its worker first; raise any error it failed with."""
        assert self._thread is not None
        assert self._loop is not None
        assert self._end is not None
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        self._tidy()
        self._raise_failure()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def client(self, **how: Any) -> httpx2.Client:
        """Return a client that calls it from this machine."""
        return httpx2.Client(base_url=self.url, transport=self.transport(), **how)

    def transport(self) -> httpx2.BaseTransport:
        """Return what takes the place of the network for a client of its own."""
        return _Transport(self._carry_out)

    def _tidy(self) -> None:
        _running.remove(self)
        if not _running:
            vars(odata).update(QUERY_SECONDS=_USUAL_QUERY_SECONDS)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                self._loop = runner.get_loop()
                runner.run(self._live())
        except BaseException as error:
            self._failure = error
        finally:
            self._is_ready.set()

    async def _live(self) -> None:
        """Run the application's lifespan."""
        self._end = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not self._is_ready.is_set():
                return {"type": "lifespan.startup"}
            assert self._end is not None
            await self._end.wait()
            return {"type": "lifespan.shutdown"}

        async def send(message: Any) -> None:
            if message["type"] == "lifespan.startup.complete":
                self._is_ready.set()

        await self._app({"type": "lifespan", "asgi": _ASGI, "state": {}}, receive, send)

    def _carry_out(self, scope: dict[str, Any], body: bytes) -> _Answer:
        """Run one request on the service's loop; raise what the application raises."""
        assert self._loop is not None
        answer = _Answer(scope["method"])
        asyncio.run_coroutine_threadsafe(self._app(scope, _receiving(body), answer.send), self._loop).result()
        answer.require_whole()
        return answer


async def _work(context: Context, stop: asyncio.Event) -> None:
    """Do what `promenade.worker.run_worker` does in a new process, except deliveries."""
    await asyncio.gather(Worker(context).run(stop), Clockwork(context).run(stop), Imports(context).run(stop))


def _receiving(body: bytes) -> Callable[[], Any]:
    portions = [body[start : start + _PORTION] for start in range(0, len(body), _PORTION)] or [b""]
    left = iter(enumerate(portions, start=1))

    async def receive() -> dict[str, Any]:
        for number, portion in left:
            return {"type": "http.request", "body": portion, "more_body": number < len(portions)}
        await asyncio.Event().wait()  # the client never disconnects
        raise AssertionError("nobody sets it")

    return receive


class _Answer:
    """The messages sent by the application, checked as a server checks them."""

    def __init__(self, method: str) -> None:
        self._has_body = method != "HEAD"
        self._is_whole = False
        self._length = 0
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = bytearray()

    async def send(self, message: Any) -> None:
        if not self.status:
            assert message["type"] == "http.response.start", message
            self.status = message["status"]
            self.headers = list(message.get("headers", []))
            return
        assert message["type"] == "http.response.body", message
        assert not self._is_whole, "sent after the end"
        part = message.get("body", b"")
        self._length += len(part)
        if self._has_body:
            self.body += part
        self._is_whole = not message.get("more_body", False)

    def require_whole(self) -> None:
        assert self._is_whole, "the answer has no end"
        for name, value in self.headers:
            assert name == name.lower(), name
            assert not set(value) & set(b"\r\n\0"), value
            if name == b"content-length" and self._has_body and self.status not in _WITHOUT_BODY:
                assert int(value) == self._length, (value, self._length)


class _Transport(httpx2.BaseTransport):
    """Passes requests on as a server would."""

    def __init__(self, carry_out: Callable[[dict[str, Any], bytes], _Answer]) -> None:
        self._carry_out = carry_out

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        raw_path, _, query = request.url.raw_path.partition(b"?")
        scope = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": "1.1",
            "method": request.method,
            "headers": [(name.lower(), value.strip(b" \t")) for name, value in request.headers.raw],
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "server": ("127.0.0.1", 8080),
            "client": ("127.0.0.1", 49152),
            "state": {},
        }
        answer = self._carry_out(scope, request.read())
        return httpx2.Response(answer.status, headers=answer.headers, stream=_Body(bytes(answer.body)))


class _Body(httpx2.SyncByteStream):
    """A request body that has been received completely."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self._content
