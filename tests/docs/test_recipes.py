"""The recipes of docs/recipes: each is applied to a tenant, and its baskets cost there what its page says."""

from __future__ import annotations

import asyncio
import re
import shutil
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from promenade.engine.basket import BasketLine, Customer, Payment
from promenade.engine.outcome import LineOutcome, Outcome
from promenade.store.driver.cache import LocalCache
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.store.pricing.catalogue import Catalogues
from promenade.worker import Worker
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.context import Context
from promenade.workflows.documents.applying import Author, apply_all
from promenade.workflows.pricing.evaluate import PricedIteration, PricingRequest, evaluate
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm
from tests.kit.databases import Databases
from tests.workflows.authoring.desk import Desk
from tests.workflows.documents.pair import documents_of, lines_of

FOLDER = Path(__file__).parent.parent.parent / "docs/recipes"
INDEX = FOLDER / "README.md"
PAGES = sorted(set(FOLDER.glob("*.md")) - {INDEX})

TENANT = "shop"
ZONE = ZoneInfo("Europe/Vienna")
MONDAY = datetime(2026, 6, 1, tzinfo=ZONE)
NOW = MONDAY + timedelta(days=2, hours=12)  # of a basket without a time
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Table = list[list[str]]

_RECIPES = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_DOCUMENTS = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BASKETS = re.compile(r"^\*\*Basket:\*\*(.*)\n\n((?:\|.*\n)+)(?:\n\*\*Also:\*\* (.+)\n)?", re.MULTILINE)
_TABLES = re.compile(r"^\| .*\n\|[-:| ]+\n((?:\|.*\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    """A basket of a page: what is said of it, its table without the heading, and what comes besides."""

    words: list[str]
    table: Table
    also: list[str]


@dataclass(frozen=True)
class Recipe:
    title: str
    page: str
    documents: str
    baskets: list[Told]


def words_of(text: str | None) -> list[str]:
    return [one.strip() for one in (text or "").split(",") if one.strip()]


def tables_of(text: str) -> list[Table]:
    """Return the rows of all tables of a text, without their headings."""
    tables = _TABLES.findall(text)
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in one.splitlines()] for one in tables]


def recipes_of(page: Path) -> Iterator[Recipe]:
    for title, text in _RECIPES.findall(page.read_text()):
        told = [
            Told(words_of(words), tables_of(table)[0], words_of(also)) for words, table, also in _BASKETS.findall(text)
        ]
        (documents,) = _DOCUMENTS.findall(text)
        assert len(told) == len(tables_of(text)) == text.count("**Basket:**") > 0, f"{title}: a basket is not read"
        assert sum(bool(one.also) for one in told) == text.count("**Also:**"), (
            f"{title}: what else it gives is not read"
        )
        yield Recipe(title, page.name, documents, told)


RECIPES = [recipe for page in PAGES for recipe in recipes_of(page)]
ARTICLES, GROUPS = tables_of(INDEX.read_text())
NAMES = {number: name for number, name, *_ in ARTICLES}


# --- a shop with the assortment ---------------------------------------------------------------------------------------


async def furnish_tenant(database: Database) -> None:
    """Create the tenant, its two stores, and the assortment of the index."""
    await create_tenant(database, TENANT, settings={"pointsPerCurrencyUnit": "1"}, at=NOW, user="tests")
    desk = desk_of(database)
    places = [{"code": code, "name": code, "currency": "EUR", "timeZone": ZONE.key} for code in ("WIEN", "GRAZ")]
    await desk.create_many("PosGroups", places)
    ids: dict[str, str] = {}
    for group, name, above, reason in GROUPS:
        values = {"name": name, "parent_ID": ids.get(above), "neverDiscounted": reason or None}
        ids[group] = await desk.create("ArticleGroups", groupId=group, **values)
    articles = []
    for number, name, group, price, maker in ARTICLES:
        amount, _, unit = price.partition(" per ")
        facts: dict[str, Any] = {"name": name, "articleGroup_ID": ids[group], "manufacturer": maker}
        facts |= {"basePrice": Decimal(amount), "unit": "KGM" if unit == "kg" else "PCE"}
        articles.append({"articleNumber": number} | facts)
    await desk.create_many("Articles", articles)


def desk_of(database: Database) -> Desk:
    desk = Desk(database, TENANT)
    desk.now = NOW
    return desk


@dataclass
class Shop:
    """The tenant, which gets a recipe and prices its baskets."""

    context: Context

    async def apply(self, documents: str) -> None:
        author = Author("planner", NOW, self.context.new_id)
        plans = await apply_all(self.context.database, TENANT, documents_of(documents), author)
        assert not [line for plan in plans for line in lines_of(plan.faults)]

    async def price(self, told: Told) -> Outcome:
        """Price a basket; if its words say that it is sold, sell it, as often as they say."""
        sold = [word for word in told.words if word.startswith("sold")]
        request = await self._request([word for word in told.words if word not in sold], told.table[:-1])
        for _ in range(int(re.sub(r"\D", "", sold[0]) or 1) if sold else 1):
            priced = await evaluate(self.context, TENANT, request)
            if sold:
                await self._sell(priced, request.customer)
        return priced.outcome

    async def _sell(self, priced: PricedIteration, customer: Customer | None) -> None:
        granted = tuple(ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied)
        named = customer.customer_id if customer else None
        assert priced.transaction_counter is not None
        command = ConfirmCommand(priced.transaction_id, priced.transaction_counter, granted, b"", customer_id=named)
        await confirm(self.context, TENANT, command)

    async def _request(self, words: Sequence[str], rows: Table) -> PricingRequest:
        request = PricingRequest(
            lines=tuple(line_of(reference, row) for reference, row in enumerate(rows, 1)), pos_group_code="WIEN"
        )
        for word in words:
            if word == "the coupon earned":
                request = replace(request, coupons=(*request.coupons, await self._earned()))
            else:
                request = with_word(request, word)
        return request

    async def _earned(self) -> str:
        """Let the worker issue what was earned, and return the code."""
        worker = Worker(self.context)
        while await worker.run_once():
            pass
        (row,) = await desk_of(self.context.database).rows("CouponCodes")
        return str(row["code"])

    async def also(self, outcome: Outcome) -> list[str]:
        """Return what a basket gets besides its prices: points of promotions, gifts, coupons; and what was refused."""
        found = [f"{outcome.points} points"] if any(one.points for one in outcome.applied) else []
        for gift in outcome.granted:
            article = f"{gift.article_number} {NAMES[gift.article_number]}"
            found.append(f"gift {gift.quantity} x {article} worth {money(gift.give_away_value_minor)}")
        for key in [key for one in outcome.applied for key in one.post_purchase_coupon_type_ids]:
            (row,) = await desk_of(self.context.database).rows("CouponTypes", ID=key)
            found.append(f"earns {row['code']}")
        found += [f"coupon refused {one.reason}" for one in outcome.coupons_refused]
        return [*found, *(f"budget refused {one.reason}" for one in outcome.budget_limited)]


def line_of(reference: int, row: Sequence[str]) -> BasketLine:
    article, pieces, price, _, _ = row
    quantity = Decimal(pieces.removesuffix(" kg"))
    return BasketLine(str(reference), article.split()[0], int(quantity * 1000), int(Decimal(price) * 100))


def with_word(request: PricingRequest, word: str) -> PricingRequest:
    """Return a request with what one of the words before a basket says."""
    name, _, value = word.rpartition(" ")
    customer, payment = request.customer or Customer(), request.payment or Payment()
    match name:
        case "customer":
            return replace(request, customer=replace(customer, customer_id=value))
        case "customer group":
            return replace(request, customer=replace(customer, customer_group=value))
        case "tier":
            return replace(request, customer=replace(customer, loyalty_tier=value))
        case "points":
            return replace(request, customer=replace(customer, loyalty_points=int(value)))
        case "payment":
            return replace(request, payment=replace(payment, payment_means=value))
        case "card type":
            return replace(request, payment=replace(payment, card_type=value))
        case "card number":
            return replace(request, payment=replace(payment, card_prefix=value))
        case "coupon":
            return replace(request, coupons=(*request.coupons, value))
        case "channel":
            return replace(request, channel=value)
        case "store":
            return replace(request, pos_group_code=value)
        case "discount by hand":
            return replace(request, manual_discount=True, manual_discount_reason=value)
        case _ if name.startswith("field "):
            return replace(request, user_fields=((name.removeprefix("field "), value),))
        case _ if " of " in name:
            field, _, article = name.partition(" of ")
            return replace(request, lines=tuple(line_with(one, article, field, value) for one in request.lines))
    hour = time.fromisoformat(value)
    day = MONDAY.date() + timedelta(days=DAYS.index(name)) if name in DAYS else datetime.fromisoformat(name).date()
    return replace(request, timestamp=datetime.combine(day, hour, ZONE))


def line_with(line: BasketLine, article: str, field: str, value: str) -> BasketLine:
    """Return a line with what the till says of its article besides: its regular price, or an additional field."""
    if line.article_number != article:
        return line
    if field == "regular price":
        return replace(line, regular_price_hundredths=int(Decimal(value) * 100))
    return replace(line, fields=(*line.fields, (field, value)))


# --- what was priced, as a page tells it ------------------------------------------------------------------------------


def table_of(outcome: Outcome) -> Table:
    rows = [row_of(line) for line in outcome.lines]
    return [*rows, ["**To pay**", "", "", money(outcome.discount_minor), money(outcome.grand_total_minor)]]


def row_of(line: LineOutcome) -> list[str]:
    pieces = f"{Decimal(line.quantity_thousandths) / 1000:f}".rstrip("0").rstrip(".")
    if line.quantity_thousandths % 1000 == 0:
        pieces = str(line.quantity_thousandths // 1000)
    article = f"{line.article_number} {NAMES[line.article_number]}"
    amounts = (line.unit_price_hundredths, line.discount_minor, line.net_minor)
    return [article, f"{pieces} kg" if line.unit == "KGM" else pieces, *map(money, amounts)]


def money(minor: int) -> str:
    return f"{Decimal(minor) / 100:.2f}"


# --- the tests --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def furnished(databases: Databases) -> Iterator[Path]:
    """A database with the assortment, to be copied for each recipe: authoring it takes longer than all the rest."""
    url = databases.create("sqlite")

    async def furnish() -> None:
        database = await open_database(url)
        await furnish_tenant(database)
        await database.close()

    with ThreadPoolExecutor(1) as pool:  # an event loop may be running
        pool.submit(asyncio.run, furnish()).result()
    yield Path(url.removeprefix("sqlite:///"))
    databases.drop(url)


@pytest.fixture
async def shop(furnished: Path, tmp_path: Path) -> AsyncIterator[Shop]:
    database = await open_database(f"sqlite:///{shutil.copyfile(furnished, tmp_path / 'shop.sqlite3')}")
    yield Shop(
        Context(
            database=database,
            catalogues=Catalogues(database),
            cache=LocalCache(),
            clock=lambda: NOW,
            new_id=lambda: str(uuid.uuid4()),
            source="btp",
            instance_id="test",
        )
    )
    await database.close()


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.page}: {recipe.title}")
async def test_baskets_cost_what_the_page_says(shop: Shop, recipe: Recipe) -> None:
    await shop.apply(recipe.documents)
    for told in recipe.baskets:
        outcome = await shop.price(told)
        assert table_of(outcome) == told.table
        assert await shop.also(outcome) == told.also


def test_recipes_use_the_assortment() -> None:
    prices = {number: price.partition(" per ")[0] for number, _, _, price, _ in ARTICLES}
    for recipe in RECIPES:
        rows = [row for told in recipe.baskets for row in told.table[:-1]]
        assert [price for _, _, price, _, _ in rows] == [prices[article.split()[0]] for article, *_ in rows]
        assert set(re.findall(r'rticleNumber: "?(\w+)', recipe.documents)) <= set(NAMES)
        assert set(re.findall(r"rticleGroupId: (\w+)", recipe.documents)) <= {group for group, *_ in GROUPS}
        assert set(re.findall(r"manufacturer: (\w+)", recipe.documents)) <= {maker for *_, maker in ARTICLES}


def test_the_index_lists_every_recipe() -> None:
    listed = re.findall(r"^- \[(.+)\]\((.+)#.+\)$", INDEX.read_text(), re.MULTILINE)
    assert listed == [(recipe.title, recipe.page) for page in pages_in_order() for recipe in recipes_of(page)]


def pages_in_order() -> list[Path]:
    """Return the pages in the order of the index, which must have them all."""
    named = re.findall(r"^## \[.+\]\((.+)\)$", INDEX.read_text(), re.MULTILINE)
    assert sorted(named) == [page.name for page in PAGES]
    return [FOLDER / name for name in named]
