"""Any promotion that the service accepts goes to another tenant as a document, and is equal there."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, assume, event, given, settings

from promenade.errors import PromenadeError
from promenade.store.driver.session import open_database
from promenade.workflows.authoring import Authoring
from promenade.workflows.documents.schema import schema_text
from promenade.workflows.documents.shape import definition_nodes, node_of
from tests.kit.examples import examples
from tests.workflows.documents.made_up import CODES, promotions
from tests.workflows.documents.pair import Pair, open_pair

SCHEMA = jsonschema.Draft7Validator(json.loads(schema_text()))
NUMBERS = itertools.count(1)
Row = dict[str, Any]
Made = tuple[Row, Mapping[str, list[Row]]]


async def write(pair: Pair, made: Made, code: str) -> bool:
    """Write a promotion as a client of the public API does; return whether it is accepted."""
    row, beside = made

    async def work(authoring: Authoring) -> None:
        key = await authoring.create("Promotions", row | {"code": code})
        for set_name, rows in beside.items():
            for one in rows:
                await authoring.create(set_name, one | {"promotion_ID": key})

    try:
        await pair.source.unit(work)
    except PromenadeError as error:
        event(f"refused: {error.code}")
        return False
    return True


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    """A loop for the examples of one test: Hypothesis calls them, and cannot await."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def pair(database_url: str, loop: asyncio.Runner) -> Iterator[Pair]:
    """Tenants of which only the source has budgets, campaigns and the like."""
    database = loop.run(open_database(database_url))
    opened = loop.run(open_pair(database))
    loop.run(furnish(opened))
    yield opened
    loop.run(database.close())


async def furnish(pair: Pair) -> None:
    """Create what promotions refer to in the source tenant."""
    source = pair.source
    for code in CODES["Stakeholders"]:
        await pair.make(source, "Stakeholders", code=code, name=f"The {code}", email="a@example.com")
    for code in CODES["Campaigns"]:
        owner = pair.ids["Stakeholders", "ACME"]
        places = [{"posGroup_ID": pair.ids["PosGroups", "no"]}]
        await pair.make(source, "Campaigns", code=code, name=code, ownerStakeholder_ID=owner, posGroups=places)
    for code in CODES["Budgets"]:
        await pair.make(source, "Budgets", code=code, name=code, currency="EUR", totalAmount=1000, status="ACTIVE")
        budget = pair.ids["Budgets", code]
        await source.create("BudgetNotifications", budget_ID=budget, thresholdPercentage=80)
        stakeholder = pair.ids["Stakeholders", "- x"]
        await source.create("BudgetStakeholders", budget_ID=budget, stakeholder_ID=stakeholder, sharePercentage=50)
    for code in CODES["CouponTypes"]:
        await pair.make(source, "CouponTypes", code=code, name=code, status="ACTIVE")
        await source.create("CouponCodeConfigurations", couponType_ID=pair.ids["CouponTypes", code], prefix="P-")
    for set_name in ("PriorityGroups", "MutualExclusionGroups"):
        for code in CODES[set_name]:
            await pair.make(source, set_name, code=code, name=code)


IN_ONE_DATABASE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def test_any_accepted_promotion_is_equal_in_another_tenant(pair: Pair, loop: asyncio.Runner) -> None:
    @settings(max_examples=examples(100), suppress_health_check=IN_ONE_DATABASE)
    @given(promotions(pair.ids))
    def check(made: Made) -> None:
        loop.run(_check(made))

    async def _check(made: Made) -> None:
        code = f"P{next(NUMBERS)}"
        assume(await write(pair, made, code))
        (text,) = await pair.export(pair.source, code, definitions=True)
        SCHEMA.validate(yaml.safe_load(text))
        assert (await pair.applied(text))[0].is_new
        assert await pair.export(pair.target, code, definitions=True) == [text]
        assert await pair.stored(pair.target, code) == await pair.stored(pair.source, code)
        for desk in (pair.source, pair.target):
            (again,) = await pair.applied(text, desk=desk)
            assert again.is_needless, again.changes

    check()


def test_any_promotion_becomes_any_other(pair: Pair, loop: asyncio.Runner) -> None:
    @settings(max_examples=examples(60), suppress_health_check=IN_ONE_DATABASE)
    @given(promotions(pair.ids), promotions(pair.ids))
    def check(first: Made, second: Made) -> None:
        loop.run(_check(first, second))

    async def _check(first: Made, second: Made) -> None:
        codes = [f"P{next(NUMBERS)}" for _ in range(2)]
        assume(await write(pair, first, codes[0]) and await write(pair, second, codes[1]))
        old, new = [text for code in codes for text in await pair.export(pair.source, code)]
        await pair.applied((await pair.export(pair.source, codes[0], definitions=True))[0])
        definitions = (await pair.export(pair.source, codes[1], definitions=True))[0]
        wanted = definitions.replace(f"code: {codes[1]}\n", f"code: {codes[0]}\n", 1)
        (plan,) = await pair.apply(wanted)
        found = await pair.export(pair.target, codes[0])
        if plan.faults:  # such as the last condition of a promotion that runs
            event(f"refused: {plan.faults[0].message[:40]}")
            assert found == [old]
            return
        kept = new.replace(f"code: {codes[1]}\n", f"code: {codes[0]}\n", 1)
        if "status" not in second[0] or second[0]["status"] == "DRAFT":
            found, kept = [without_status(found[0])], without_status(kept)
        assert found == [kept]
        assert (await pair.applied(wanted))[0].is_needless

    check()


def without_status(text: str) -> str:
    """Return a document without its wish for a state."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("status: "))


def test_definitions_are_made_up_of_every_set_that_can_be_defined() -> None:
    assert {one.set_name for one in definition_nodes().values()} < CODES.keys()
    assert {part.node.set_name for part in node_of("Promotions").parts.values()} >= {"Conditions", "BudgetPromotions"}
