"""A store erases the customers who were erased in its cloud, and hears nobody's ID."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from promenade.errors import Conflict
from promenade.store.access import erasures as requests
from promenade.store.access.customers import walked_tables
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.web.access.auth import Caller
from promenade.web.sync.erasures import SyncErasures
from promenade.workflows.access.erasures import erase_customer, forget_erasure, list_erasures
from promenade.workflows.replica import erasing
from promenade.workflows.replica.erasing import hear_erasures, keep_erased, search_customers
from promenade.workflows.sync import erasures as told
from promenade.workflows.sync.deployments import StoreCard, register
from promenade.workflows.uplink import CloudRefused, CloudUnreachable, Uplink
from tests.kit.databases import Databases
from tests.workflows.clockwork.erasures.ledgers import (
    ERASED,
    OTHERS,
    ask,
    books,
    branches,
    live,
    naming,
    pseudonym_of,
    run,
    sell,
    settle,
    stored,
)
from tests.workflows.shop import Shop


@dataclass
class Line:
    """The line between a store and its cloud: what was asked and answered, and what fails next."""

    cloud: Shop
    asked: list[Mapping[str, str]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    failing: list[Exception] = field(default_factory=list)

    async def authenticate(self, scope: object) -> Caller:
        return Caller(self.cloud.tenant, "store", "store", frozenset({"svc.Sync"}), 2e9)

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        assert path == "/sync/erasures"
        self.asked.append(query)
        if self.failing:
            raise self.failing.pop(0)
        (endpoint,) = SyncErasures(self.cloud.context, self).endpoints()  # type: ignore[arg-type]
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        text = "&".join(f"{name}={value}" for name, value in query.items())
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": text.encode(),
            "headers": [],
            "promenade.correlation_id": b"test",
        }
        await endpoint(scope, None, send)  # type: ignore[arg-type]
        answer: dict[str, Any] = msgspec.json.decode(sent[1]["body"])
        if sent[0]["status"] != 200:
            raise CloudRefused(sent[0]["status"], answer["error"]["code"], answer["error"]["message"])
        self.answers.append(answer)
        return answer

    async def post(self, path: str, body: object, **how: Any) -> dict[str, Any]:
        raise AssertionError(path)


@dataclass
class Retailer:
    """A cloud, and a store with the sales of some customers."""

    cloud: Shop
    store: Shop
    line: Line

    async def sync(self) -> None:
        """Hear of erasures, and begin them."""
        uplink = self.store.context.uplink
        assert uplink is not None
        assert uplink.deployment_id is not None
        await keep_erased(self.store.context, self.store.tenant, self.line, uplink.deployment_id)

    async def hear(self) -> None:
        uplink = self.store.context.uplink
        assert uplink is not None
        assert uplink.deployment_id is not None
        await hear_erasures(self.store.context, self.store.tenant, self.line, uplink.deployment_id)

    async def carry_out(self) -> None:
        """Let the erasures of the store come to their end."""
        await settle(self.store)
        self.store.later(hours=2)
        await run(self.store, "customers.erase")

    async def forget(self) -> None:
        """Let the cloud forget the erasure, which has ended there."""
        self.cloud.later(hours=2)
        await run(self.cloud, "customers.erase")
        await forget_erasure(self.cloud.context.database, self.cloud.tenant, ERASED)

    async def statuses(self) -> list[str]:
        found = await self.store.context.database.read(requests.read_erasures, tenant=self.store.tenant)
        return [one.status for one in found]

    async def digests(self) -> int:
        """Return how many digests the store has."""

        async def work(session: Session) -> int:
            return len(await session.execute(sa.select(table("customer_erasures"))))

        return await self.store.context.database.read(work, tenant=self.store.tenant)

    def restart(self) -> None:
        """Start the store's program again: what it had in memory is gone."""
        uplink = self.store.context.uplink
        assert uplink is not None
        fresh = Uplink(client=self.line, deployment_id=uplink.deployment_id)
        self.store.context = replace(self.store.context, uplink=fresh)


@pytest.fixture
async def retailer(database: Database, databases: Databases, seed: int) -> AsyncIterator[Retailer]:
    """A cloud on both databases that knows nobody yet, and a store on SQLite with a history of three customers."""
    (cloud,) = await branches(database, "retailer")
    line = Line(cloud)
    known = await register(cloud.context, cloud.tenant, StoreCard("S1", "S1", None, "1"), user="tests")
    url = databases.create("sqlite")
    here = await open_database(url)
    (store,) = await branches(here, "local")
    uplink = Uplink(client=line, deployment_id=known.deployment_id)
    store.context = replace(store.context, source="local-store", uplink=uplink)
    await live([store], seed)
    yield Retailer(cloud, store, line)
    await here.close()
    databases.drop(url)


async def test_a_store_erases_whom_its_cloud_has_erased_and_all_sums_stay(retailer: Retailer, seed: int) -> None:
    before = await stored(retailer.store)
    await ask(retailer.cloud)
    await retailer.sync()
    await retailer.carry_out()
    found = await stored(retailer.store)
    assert naming(found, ERASED) == []
    assert books(found, (pseudonym_of(found), ERASED)) == books(before)
    for other in OTHERS:
        assert naming(found, other) == naming(before, other)
    (ended,) = await list_erasures(retailer.store.context.database, retailer.store.tenant)
    assert (ended.status, ended.customer_id, ended.pseudonym) == ("COMPLETED", None, None)


@pytest.mark.parametrize("has_heard", [True, False])
async def test_a_customer_who_is_just_being_forgotten_is_erased_all_the_same(
    retailer: Retailer, has_heard: bool
) -> None:
    """A store that has heard of no erasure has a key of its own then, and knows the customer by two digests."""
    store, at = retailer.store, retailer.store.now[0]
    if has_heard:
        await ask(retailer.cloud, "Kd-of-another-store")
        await retailer.sync()

    async def begin(session: Session) -> None:
        assert await requests.begin_idle(session, ERASED, at, new_id=store.context.new_id, at=at)

    await store.context.database.write(begin, tenant=store.tenant)
    await ask(retailer.cloud)
    await retailer.sync()
    await sell(store, "back", ERASED)
    await retailer.carry_out()
    assert naming(await stored(store), ERASED) == []


async def test_no_id_crosses_the_line_and_the_cloud_hears_of_no_customer(retailer: Retailer) -> None:
    await ask(retailer.cloud)
    await ask(retailer.cloud, "Kd-of-another-store")
    await retailer.sync()
    said = repr((retailer.line.asked, retailer.line.answers))
    assert not any(one in said for one in (ERASED, *OTHERS, "Kd-of-another-store"))
    (page,) = retailer.line.answers
    assert page["total"] == len(page["digests"]) == 2
    assert {name for one in retailer.line.asked for name in one} == {"deploymentId"}
    assert naming(await stored(retailer.store), "Kd-of-another-store") == []


async def test_whom_the_store_does_not_know_yet_is_recognised_when_they_come(retailer: Retailer) -> None:
    await ask(retailer.cloud, "late")
    await retailer.sync()
    assert await retailer.statuses() == []
    await sell(retailer.store, "afterwards", "late")
    await settle(retailer.store)
    assert await retailer.statuses() == ["PENDING"]
    await retailer.carry_out()
    assert naming(await stored(retailer.store), "late") == []


async def test_what_comes_after_the_end_is_erased_anew(retailer: Retailer) -> None:
    await ask(retailer.cloud)
    await retailer.sync()
    await retailer.carry_out()
    await sell(retailer.store, "afterwards", ERASED)
    await retailer.carry_out()
    assert naming(await stored(retailer.store), ERASED) == []


async def test_hearing_nothing_new_asks_once_and_writes_nothing(
    retailer: Retailer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(retailer.cloud)
    await retailer.sync()
    retailer.line.asked.clear()

    async def writes(*given: object, **named: object) -> None:
        raise AssertionError("it writes")

    with monkeypatch.context() as broken:
        broken.setattr(retailer.store.context.database, "write", writes)
        await retailer.sync()
    assert len(retailer.line.asked) == 1
    assert retailer.line.answers[-1]["digests"] == []


async def test_a_tenant_that_has_erased_nobody_leaves_no_trace_in_the_store(retailer: Retailer) -> None:
    await retailer.sync()
    assert len(retailer.line.asked) == 1
    assert await retailer.store.rows("customer_erasure_keys") == []


@pytest.mark.parametrize("dies", ["write_told", "notice", "note_searched"])
async def test_a_store_that_dies_at_any_point_loses_nothing(
    retailer: Retailer, monkeypatch: pytest.MonkeyPatch, dies: str
) -> None:
    monkeypatch.setattr(told, "DIGESTS_MAX", 2)
    for number in range(4):
        await ask(retailer.cloud, f"Kd-unknown-{number}")
    await ask(retailer.cloud)
    with monkeypatch.context() as broken:
        kept = getattr(erasing, dies)

        async def killed(session: Session, *given: Any, **named: Any) -> None:
            await kept(session, *given, **named)
            raise Killed

        broken.setattr(erasing, dies, killed)
        with pytest.raises(Killed):
            await retailer.sync()
    retailer.restart()
    await retailer.sync()
    await retailer.carry_out()
    assert naming(await stored(retailer.store), ERASED) == []
    assert await retailer.digests() == 5


async def test_a_lost_line_is_gone_on_with_at_the_page_that_is_missing(
    retailer: Retailer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told, "DIGESTS_MAX", 2)
    for number in range(5):
        await ask(retailer.cloud, f"Kd-{number}")
    asked = retailer.line.get
    pages = 0

    async def get(path: str, query: Mapping[str, str]) -> dict[str, Any]:
        nonlocal pages
        pages += 1
        if pages == 2:
            raise CloudUnreachable("GONE", "The answer was lost.")
        return await asked(path, query)

    monkeypatch.setattr(retailer.line, "get", get)
    with pytest.raises(CloudUnreachable):
        await retailer.hear()
    assert await retailer.digests() == 2
    await retailer.hear()
    assert [len(one["digests"]) for one in retailer.line.answers] == [2, 2, 1]
    assert await retailer.digests() == 5


async def test_a_search_of_many_rounds_goes_on_where_it_was(
    retailer: Retailer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "PORTION", 1)
    monkeypatch.setattr(erasing, "Pacer", OnePortion)
    await ask(retailer.cloud, OTHERS[0])
    await retailer.hear()
    uplink = retailer.store.context.uplink
    assert uplink is not None
    places = []
    for _ in range(200):
        await search_customers(retailer.store.context, retailer.store.tenant)
        if uplink.searching is None:
            break
        places.append((uplink.searching.table, uplink.searching.after))
    assert len(places) == len(set(places)) > len(walked_tables())
    assert await retailer.statuses() == ["PENDING"]
    await search_customers(retailer.store.context, retailer.store.tenant)
    assert uplink.searching is None


class OnePortion:
    """A pace of one portion for each round."""

    def __init__(self, *given: object, **named: object) -> None:
        pass

    async def while_more(self, portion: Callable[[], Awaitable[tuple[int, bool]]]) -> bool:
        _, more = await portion()
        return not more


async def test_a_forgotten_erasure_is_forgotten_in_the_store_too(retailer: Retailer) -> None:
    await ask(retailer.cloud, "Kd-stays")
    await ask(retailer.cloud)
    await retailer.sync()
    await retailer.carry_out()
    await retailer.forget()
    await retailer.sync()
    assert await retailer.digests() == 1
    await sell(retailer.store, "as-a-new-customer", ERASED)
    await retailer.carry_out()
    assert "calculation_logs.customer_id" in naming(await stored(retailer.store), ERASED)


async def test_an_erasure_that_is_under_way_ends_before_it_is_forgotten(retailer: Retailer) -> None:
    await ask(retailer.cloud)
    await retailer.sync()
    await retailer.forget()
    await retailer.sync()
    assert await retailer.statuses() == ["PENDING"]
    await retailer.carry_out()
    assert naming(await stored(retailer.store), ERASED) == []
    await retailer.sync()
    assert await retailer.digests() == 0


async def test_a_store_does_not_forget_what_its_cloud_remembers(retailer: Retailer) -> None:
    await ask(retailer.cloud)
    await retailer.sync()
    await retailer.carry_out()
    with pytest.raises(Conflict) as refused:
        await forget_erasure(retailer.store.context.database, retailer.store.tenant, ERASED)
    assert refused.value.code == "ERASURE_OF_CLOUD"


async def test_the_stores_own_command_and_the_cloud_are_one_erasure(retailer: Retailer) -> None:
    shop = retailer.store
    await erase_customer(
        shop.context.database, shop.tenant, ERASED, secret=b"o" * 32, new_id=shop.context.new_id, at=shop.now[0]
    )
    await ask(retailer.cloud)
    await retailer.sync()
    assert await retailer.statuses() == ["PENDING"]
    await retailer.carry_out()
    await sell(shop, "afterwards", ERASED)
    await retailer.carry_out()
    assert naming(await stored(shop), ERASED) == []
    assert (await retailer.statuses()).count("PENDING") == 0


async def test_a_cloud_with_another_key_starts_over(retailer: Retailer) -> None:
    await ask(retailer.cloud, "Kd-1")
    await retailer.sync()

    async def work(session: Session) -> None:
        await session.rowcount(sa.delete(table("customer_erasures")))
        await session.rowcount(sa.delete(table("customer_erasure_keys")))

    shop = retailer.cloud
    await shop.context.database.write(work, tenant=shop.tenant)
    await erase_customer(
        shop.context.database, shop.tenant, ERASED, secret=b"n" * 32, new_id=shop.context.new_id, at=shop.now[0]
    )
    await retailer.sync()
    assert retailer.line.answers[-1]["full"]
    assert await retailer.digests() == 1
    await retailer.carry_out()
    assert naming(await stored(retailer.store), ERASED) == []


async def test_an_older_cloud_that_tells_nothing_is_no_error(retailer: Retailer) -> None:
    retailer.line.failing = [CloudRefused(404, "NOT_FOUND", "There is nothing at this address.")]
    await retailer.sync()
    retailer.line.failing = [CloudRefused(404, "DEPLOYMENT_NOT_FOUND", "There is no such deployment.")]
    with pytest.raises(CloudRefused):
        await retailer.sync()


PAGE = {"key": "aw==", "full": True, "digests": ["0" * 64], "cursor": "c", "hasMore": False, "total": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"key": None},
        {"key": "%"},
        {"digests": ["0" * 63]},
        {"digests": ["Z" * 64]},
        {"digests": None},
        {"cursor": "c" * 201},
        {"digests": [], "hasMore": True},
        {"cursor": "", "hasMore": True},
        {"total": "1"},
    ],
)
async def test_an_answer_that_makes_no_sense_changes_nothing(
    retailer: Retailer, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    async def get(path: str, query: Mapping[str, str]) -> dict[str, Any]:
        return PAGE | change

    monkeypatch.setattr(retailer.line, "get", get)
    with pytest.raises(CloudUnreachable):
        await retailer.sync()
    assert await retailer.digests() == 0


class Killed(Exception):
    """The process ends."""
