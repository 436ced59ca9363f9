"""Processor time of evaluate and confirm by layer, beside the null endpoint, over connections without sockets.

Every request passes the HTTP parser, the service and the database as in production; only the socket is left out. The
named functions of each layer are watched, and what they call in another layer counts for that one.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, cast

import uvicorn
import uvloop

from benchmarks.load import post
from benchmarks.measure import show
from benchmarks.null_app import WithNull
from benchmarks.roles import as_served
from benchmarks.scale import Scale
from benchmarks.shop import Shop, open_shop
from promenade.app import Cloud
from promenade.settings import Settings
from promenade.store.driver import unit
from promenade.store.driver.postgresql import database as postgresql
from promenade.store.driver.sqlite import database as sqlite
from promenade.store.driver.sqlite import line as sqlite_line
from promenade.web.access.auth import Authenticator
from promenade.web.http.connection import Connection, Connections
from promenade.web.http.endpoint import Edge
from promenade.web.http.server_config import server_config
from promenade.web.pricing import pos
from promenade.workflows.pricing import evaluate
from promenade.workflows.sales import confirm
from tests.kit.postgres import PostgresServer

__all__ = ["run"]

LINES = 20
BASKETS = 200
CLIENTS = 8
SALES = 400  # priced and then confirmed, twice; a process remembers some thousand prices
FIXED_BYTES = 20_000  # of the null endpoint's answer

SERVER = "HTTP parser, event loop"
EDGE = "edge: routing, metrics, answer"
ACCESS = "token"
BODY = "body"
DECODE = "decode"
LOOK_UPS = "look-ups"
ENGINE = "engine"
WORKFLOW = "workflow"
STORE = "store"
ENCODE = "encode"
TOTAL = "all, unwatched"
ORDER = (SERVER, EDGE, ACCESS, BODY, DECODE, LOOK_UPS, ENGINE, WORKFLOW, STORE, ENCODE, TOTAL)

_WATCHED: Sequence[tuple[str, Any, Sequence[str]]] = (
    (EDGE, Edge, ("__call__",)),
    (ACCESS, Authenticator, ("authenticate",)),
    (BODY, pos, ("read_body", "require_json")),
    (DECODE, pos, ("decode_evaluate", "decode_confirm")),
    (LOOK_UPS, evaluate._Pricing, ("_look_up", "_read_limits")),
    (LOOK_UPS, evaluate, ("learn_articles",)),
    (LOOK_UPS, confirm, ("_look_up",)),
    (LOOK_UPS, unit.Database, ("read",)),
    (ENGINE, evaluate, ("price", "select")),
    (WORKFLOW, pos, ("evaluate", "confirm")),
    (WORKFLOW, confirm, ("commit_sale",)),
    (STORE, evaluate, ("store_iteration",)),
    (STORE, unit.Database, ("write",)),
    (STORE, unit.Session, ("execute", "rowcount", "execute_many", "insert_together")),
    (STORE, sqlite_line.SqliteSession, ("hot", "run_kept")),
    (STORE, postgresql._PostgresqlSession, ("hot", "run_kept", "insert_together")),
    (STORE, sqlite._Writer, ("_commit",)),
    (STORE, sqlite.SqliteDatabase, ("_hand_over", "_read_now")),
    (ENCODE, pos, ("encode_evaluation",)),
)


class Layers:
    """Nanoseconds of processor time by layer, of all threads that call watched functions."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._of_thread = threading.local()

    def enter(self, layer: str) -> None:
        """Count for ``layer`` from now on, and no longer for the one around it."""
        now = time.thread_time_ns()
        mine = self._of_thread
        if not hasattr(mine, "around"):
            mine.around, mine.since = [], now
        if mine.around:
            self.spent[mine.around[-1]] += now - mine.since
        mine.around.append(layer)
        mine.since = now

    def leave(self) -> None:
        """Count for the layer around it again."""
        now = time.thread_time_ns()
        mine = self._of_thread
        self.spent[mine.around.pop()] += now - mine.since
        mine.since = now

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the functions of `_WATCHED`."""
        before = [(owner, name, vars(owner)[name]) for _, owner, names in _WATCHED for name in names]
        for layer, owner, names in _WATCHED:
            for name in names:
                setattr(owner, name, self._watched(vars(owner)[name], layer))
        try:
            yield
        finally:
            for owner, name, original in before:
                setattr(owner, name, original)

    def _watched(self, function: Callable[..., Any], layer: str) -> Callable[..., Any]:
        if iscoroutinefunction(function):

            async def stepped(*arguments: Any, **named: Any) -> Any:
                return await _Steps(self, layer, function(*arguments, **named))

            return stepped

        def called(*arguments: Any, **named: Any) -> Any:
            self.enter(layer)
            try:
                return function(*arguments, **named)
            finally:
                self.leave()

        return called


class _Steps:
    """Awaits a coroutine and counts the time of each of its steps, not of the waits between them."""

    def __init__(self, layers: Layers, layer: str, coroutine: Any) -> None:
        self._layers = layers
        self._layer = layer
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        step, given = self._coroutine.send, None
        while True:
            self._layers.enter(self._layer)
            try:
                awaited = step(given)
            except StopIteration as end:
                return end.value
            finally:
                self._layers.leave()
            try:
                step, given = self._coroutine.send, (yield awaited)
            except BaseException as error:  # also a cancellation: it is the coroutine's to handle
                step, given = self._coroutine.throw, cast("Any", error)


class _Transport(asyncio.Transport):
    """Takes the answers of a connection in place of a socket."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        super().__init__({"sockname": ("127.0.0.1", 8080), "peername": ("127.0.0.1", 40_000)})
        self._take = take

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._take(bytes(data))

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        return


class _Till:
    """One connection: each request is sent once the answer to the one before has come."""

    def __init__(self, connections: Connections, requests: list[bytes], answers: list[bytes]) -> None:
        self._requests = requests  # shared by all tills, the next one last
        self._answers = answers
        self._received = bytearray()
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()
        self._connection = connections.make(self._loop)
        self._connection.connection_made(_Transport(self._take))
        self._loop.call_soon(self._ask)

    def _ask(self) -> None:
        if self._requests:
            self._connection.data_received(self._requests.pop())
        else:
            self._connection.connection_lost(None)
            self.done.set_result(None)

    def _take(self, data: bytes) -> None:
        self._received += data
        head, mark, body = self._received.partition(b"\r\n\r\n")
        if not mark or len(body) < int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]):
            return
        if not head.startswith(b"HTTP/1.1 200"):
            if not self.done.done():
                self.done.set_exception(RuntimeError(f"a request failed:\n{self._received[:2_000].decode()}"))
            return
        self._answers.append(bytes(body))
        self._received.clear()
        self._loop.call_soon(self._ask)


class _Service:
    """The cloud edition in this process, without its worker."""

    def __init__(self, edition: Cloud, settings: Settings) -> None:
        config: uvicorn.Config = server_config(settings, WithNull(edition), factory=False)
        config.load()
        self._connections = Connections(config, Connection)
        self._connections.date()
        self.headers: dict[str, str] = {}

    async def sign_in(self, shop: Shop) -> None:
        """Use the token of a till from now on."""
        form = f"grant_type=client_credentials&client_id={shop.client_id}&client_secret={shop.client_secret}"
        asked = post("/oauth/token", form.encode(), {}).replace("application/json", "application/x-www-form-urlencoded")
        (answer,) = await self.answers([asked.encode()])
        self.headers = {"Authorization": f"Bearer {json.loads(answer)['access_token']}"}

    def request(self, path: str, body: bytes) -> bytes:
        """Return a request as it arrives."""
        return post(path, body, self.headers).encode()

    async def answers(self, requests: Sequence[bytes]) -> list[bytes]:
        """Send the requests over `CLIENTS` connections and return the bodies of the answers."""
        left, answers = list(reversed(requests)), list[bytes]()
        tills = [_Till(self._connections, left, answers) for _ in range(CLIENTS)]
        await asyncio.gather(*(till.done for till in tills))
        return answers

    async def spent(self, plain: Sequence[bytes], watched: Sequence[bytes]) -> Mapping[str, float]:
        """Return the microseconds of processor time of each request by layer, and without watching as ``total``."""
        total = await self._microseconds(plain)
        layers = Layers()
        with layers.watching():
            whole = await self._microseconds(watched)
        parts = {layer: time_ns / 1_000 / len(watched) for layer, time_ns in layers.spent.items()}
        parts[SERVER] = whole - sum(parts.values())
        return {TOTAL: total, **parts}

    async def _microseconds(self, requests: Sequence[bytes]) -> float:
        before = time.process_time_ns()
        await self.answers(requests)
        return (time.process_time_ns() - before) / 1_000 / len(requests)


def run(scale: Scale) -> None:
    """Print a table for each database."""
    count = scale.of(2_000, 400, 16)
    with tempfile.TemporaryDirectory(prefix="promenade-bench-") as directory:
        home = Path(directory)
        uvloop.run(_measure("SQLite", *_opened(f"sqlite:///{home / 'bench.db'}"), home, count))
        server = PostgresServer(home / "postgres.log")  # it need not wait for the disk: only processor time is measured
        server.start()
        try:
            uvloop.run(_measure("PostgreSQL", *_opened(server.url), home, count))
        finally:
            server.stop()


def _opened(database_url: str) -> tuple[str, Shop]:
    shop = open_shop(database_url)
    return as_served(database_url), shop


async def _measure(database: str, url: str, shop: Shop, home: Path, count: int) -> None:
    settings = Settings(database=url, data_dir=home)
    edition = Cloud(settings, run_worker=False)
    async with edition._lifespan(edition):
        service = _Service(edition, settings)
        await service.sign_in(shop)
        bodies = [shop.evaluate_body(number % BASKETS, LINES) for number in range(count)]
        asked = [service.request("/pos/v2/evaluate", body) for body in bodies]
        await service.answers(asked[:BASKETS])  # the catalogue is loaded, the articles are known
        nothing = [service.request(f"/null/{FIXED_BYTES}", body) for body in bodies]
        sold = asked[:SALES]
        confirms = [service.request("/pos/v2/confirm", sale) for sale in await _sales(service, shop, [*sold, *sold])]
        sales, nothings, evaluates = [
            await service.spent(confirms[: len(sold)], confirms[len(sold) :]),  # a sale is confirmed once
            await service.spent(nothing, nothing),
            await service.spent(asked, asked),
        ]
    show(
        f"Processor time by layer on {database}: us for each request of {LINES} lines, {CLIENTS} connections",
        ("layer", "null", "evaluate", "confirm"),
        [(layer, *(f"{one.get(layer, 0):,.0f}" for one in (nothings, evaluates, sales))) for layer in ORDER],
        "In one process, without sockets and without PostgreSQL's own processes. Watching costs about half a "
        "microsecond for each call, which the last row does not contain.",
    )


async def _sales(service: _Service, shop: Shop, asked: Sequence[bytes]) -> list[bytes]:
    """Price the baskets, and return the requests that confirm them."""
    return [shop.confirm_body(json.loads(answer)) for answer in await service.answers(asked)]
