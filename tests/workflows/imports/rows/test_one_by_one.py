"""Rows imported in one job each, all in one, or sent as separate requests give the same database contents."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promenade.store.driver.unit import Database
from tests.kit.databases import Dialect
from tests.kit.examples import examples
from tests.workflows.imports.rows.dock import Dock, Fault

Row = dict[str, Any]

_NOT_COMPARED = {"version", "tenantId", "ID"}


def key(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


IDS = [key(f"new {number}") for number in range(4)]
KEYS = st.sampled_from(["k1", "k2", "k3", "k4"])
NAMES = st.sampled_from(["a name", "another", " ", None, "x" * 300])
MAYBE_ID = st.sampled_from([None, None, None, *IDS])
PARENTS = st.sampled_from([None, None, key("there"), key("nobody"), *IDS])


def rows(required: Mapping[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]) -> Any:
    one = st.fixed_dictionaries(dict(required), optional={"ID": st.sampled_from(IDS), **optional})
    return st.lists(one, min_size=1, max_size=9)


GROUPS = rows({"groupId": KEYS}, name=NAMES, parent_ID=PARENTS, type=st.sampled_from(["BRAND", "NO"]))
PLACES = rows({"code": KEYS}, name=NAMES, currency=st.sampled_from(["EUR", "X"]), parent_ID=PARENTS)
PROMOTIONS = rows(
    {"code": KEYS, "name": st.sampled_from(["a name", "another", " "])},
    status=st.sampled_from(["DRAFT", "ACTIVE", "ARCHIVED"]),
    campaign_ID=st.sampled_from([None, key("open"), key("locked")]),
    posGroups=st.lists(
        st.fixed_dictionaries({"posGroup_ID": st.sampled_from([key("shop"), key("there")])}), max_size=2
    ),
    calculationConfig=st.sampled_from([None, {}, {"precision": 9}]),
)
CONDITIONS = rows(
    {
        "promotion_ID": st.sampled_from([key("live"), key("draft"), key("frozen"), key("nobody")]),
        "conditionType": st.sampled_from(["CHANNEL", "RECEIPT_AMOUNT", "NO"]),
        "value": st.sampled_from(["SHOP", "1.50", None]),
    },
    valueListItems=st.lists(st.fixed_dictionaries({}, optional={"value": st.just("v"), "ID": st.sampled_from(IDS)})),
)
BUDGETS = rows(
    {"code": KEYS, "name": NAMES, "currency": st.just("EUR"), "totalAmount": st.sampled_from([0, "1.10", -1, "1.005"])},
    status=st.sampled_from(["DRAFT", "ACTIVE", "SCHEDULED", "EXPIRED"]),
    validFrom=st.sampled_from(["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"]),
)
TYPES = rows(
    {"code": KEYS, "name": NAMES},
    codeType=st.sampled_from(["GENERIC", "INDIVIDUAL"]),
    genericCode=st.sampled_from(["g1", "g2", "taken", None]),
)
SETS = {
    "ArticleGroups": (GROUPS, "groupId"),
    "PosGroups": (PLACES, "code"),
    "Promotions": (PROMOTIONS, None),
    "Conditions": (CONDITIONS, None),
    "Budgets": (BUDGETS, None),
    "CouponTypes": (TYPES, None),
}
LOOKED_AT = ("ArticleGroups", "PosGroups", "Promotions", "PromotionPosGroups", "CalculationConfigs", "Conditions",
             "ConditionValueListItems", "Budgets", "CouponTypes")  # fmt: skip


# A change that can never be stored, whatever other errors it has.
POISON: Mapping[str, Row] = {"ArticleGroups": {"source": "EXTERNAL"}, "PosGroups": {"timeZone": "Nowhere"}}


async def furnished(dock: Dock) -> Dock:
    desk = dock.desk
    await desk.create("ArticleGroups", ID=key("there"), groupId="k4", name="there")
    for name in ("shop", "there"):
        await desk.create("PosGroups", ID=key(name), code="k4" if name == "there" else name, name=name, currency="EUR")
    for name in ("open", "locked"):
        await desk.create("Campaigns", ID=key(name), code=name, name=name)
    for name, status, campaign in (("live", "ACTIVE", None), ("draft", "DRAFT", None), ("frozen", "DRAFT", "locked")):
        link = {"campaign_ID": key(campaign)} if campaign else {}
        await desk.create("Promotions", ID=key(name), code=name, name=name, status=status, **link)
    await desk.transition("Campaigns", key("locked"), "lock")
    kind = await desk.given("CouponTypes", code="pool", name="pool")
    await desk.put("CouponCodes", coupon_type_id=kind, code="taken", status="ACTIVE")
    return dock


async def by_requests(dock: Dock, set_name: str, natural: str | None, rows: Sequence[Row]) -> set[Any]:
    """Send each row as a create, or as a change of the existing row with its key where imports upsert."""
    faults: set[Any] = set()
    for number, row in enumerate(rows, 1):
        there = await dock.desk.rows(set_name, **{natural: row[natural]}) if natural else []
        found: list[Fault]
        if there and row.get("ID", there[0]["ID"]) != there[0]["ID"]:
            # Errors of the change itself come before the conflict with the other row's ID.
            _, found = await dock.send("PATCH", f"{set_name}({there[0]['ID']})", row | POISON[set_name])
            found = [one for one in found if one[2] not in POISON[set_name]] or [("ALREADY_EXISTS", "", "ID")]
        elif there:
            _, found = await dock.send("PATCH", f"{set_name}({there[0]['ID']})", row)
        else:
            _, found = await dock.post(set_name, row)
        faults |= {(number, code, target) for code, _, target in found}
    return faults


async def by_imports(dock: Dock, set_name: str, portions: Sequence[Sequence[Row]]) -> set[Any]:
    faults: set[Any] = set()
    done = 0
    for portion in portions:
        found = await dock.bring(set_name, portion)
        stored, failed = {one.number for one in found.stored}, {one.number for one in found.faults}
        assert (stored | failed, stored & failed) == (set(range(1, len(portion) + 1)), set())
        faults |= {(done + one.number, one.code, one.property) for one in found.faults}
        done += len(portion)
    return faults


async def contents(dock: Dock) -> dict[str, list[str]]:
    """Return the database contents, with generated IDs replaced by the key of their row."""
    found = {set_name: await dock.desk.rows(set_name) for set_name in LOOKED_AT}
    names = {row["ID"]: str(row.get("code") or row.get("groupId") or "") for each in found.values() for row in each}

    def shown(name: str, value: Any) -> Any:
        return names.get(value, value) if name.endswith("_ID") else value

    return {
        set_name: sorted(
            repr([(name, shown(name, value)) for name, value in sorted(row.items()) if name not in _NOT_COMPARED])
            for row in each
        )
        for set_name, each in found.items()
    }


@pytest.mark.parametrize("set_name", ["ArticleGroups", "PosGroups"])
async def test_two_new_groups_that_name_each_other_are_unknown_and_no_cycle(database: Database, set_name: str) -> None:
    natural = SETS[set_name][1]
    assert natural
    own = {"name": "a name"} | ({"currency": "EUR"} if set_name == "PosGroups" else {})
    example = [
        {natural: "k1", "ID": IDS[0], "parent_ID": IDS[1], **own},
        {natural: "k2", "ID": IDS[1], "parent_ID": IDS[0], **own},
    ]
    one_by_one, all_at_once = [await furnished(Dock(database, f"tenant-{way}")) for way in range(2)]
    faults = await by_requests(one_by_one, set_name, natural, example)
    assert faults == {(number, "UNKNOWN_REFERENCE", "parent_ID") for number in (1, 2)}
    assert await by_imports(all_at_once, set_name, [example]) == faults


@pytest.mark.parametrize("set_name", sorted(SETS))
async def test_all_ways_of_importing_store_the_same_rows(database: Database, dialect: Dialect, set_name: str) -> None:
    strategy, natural = SETS[set_name]
    found: list[list[Row]] = []

    @settings(
        max_examples=examples(16 if dialect == "sqlite" else 8), suppress_health_check=list(HealthCheck), database=None
    )
    @given(strategy)
    def collect(example: list[Row]) -> None:
        found.append(example)

    collect()
    for number, example in enumerate(found):
        ways = [await furnished(Dock(database, f"tenant-{number}-{way}")) for way in range(3)]
        faults = [
            await by_requests(ways[0], set_name, natural, example),
            await by_imports(ways[1], set_name, [[row] for row in example]),
            await by_imports(ways[2], set_name, [example]),
        ]
        assert faults[1] == faults[0], example
        assert faults[2] == faults[0], example
        there = [await contents(dock) for dock in ways]
        if set_name == "ArticleGroups":  # the only trace of imports
            there = [{name: [row.replace("'IMPORTED'", "'MANUAL'") for row in each] for name, each in one.items()}
                     for one in there]  # fmt: skip
        assert there[1] == there[0], example
        assert there[2] == there[0], example
