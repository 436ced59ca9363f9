"""Merged lists of drafts and active orders, compared with the same list built in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from odata_server.errors import ODataError
from tests.odata_server.draft.conftest import Counter
from tests.odata_server.draft.counter import ACTIVE, DRAFTS, USERS, Row

MERGING = "(IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null)"
EVERYTHING = "(IsActiveEntity eq true or IsActiveEntity eq false)"


def orders(user: str, *, merged: bool) -> list[Row]:
    """Return all orders as a user sees them."""
    own = {one["ID"] for one in DRAFTS["Order"] if one["owner"] == user}
    known = {one["ID"] for one in ACTIVE["Order"]}
    drafted = {one["ID"] for one in DRAFTS["Order"]}
    active = [
        one | {"IsActiveEntity": True, "HasActiveEntity": False, "HasDraftEntity": one["ID"] in drafted, "sibling": own}
        for one in ACTIVE["Order"]
        if not merged or one["ID"] not in own
    ]
    drafts = [
        one
        | {"IsActiveEntity": False, "HasActiveEntity": one["ID"] in known, "HasDraftEntity": False, "sibling": known}
        for one in DRAFTS["Order"]
        if one["owner"] == user
    ]
    found = [*active, *drafts]
    for one in found:
        rows = ACTIVE["Item"] if one["IsActiveEntity"] else DRAFTS["Item"]
        one["labels"] = [item["label"] for item in rows if item["order_ID"] == one["ID"]]
    return found


def _low(value: Any) -> tuple[bool, Any]:
    return value is not None, value


def _or_less(amount: int | None) -> int:
    return -1 if amount is None else amount


def _by(*names: str) -> Callable[[list[Row]], list[Row]]:
    def ordered(rows: list[Row]) -> list[Row]:
        for name in reversed(("ID", "IsActiveEntity")):
            rows = sorted(rows, key=lambda row, at=name: _low(row[at]))  # type: ignore[misc]
        for name in reversed(names):
            field, _, down = name.partition(" ")
            rows = sorted(rows, key=lambda row, at=field: _low(row[at]), reverse=bool(down))  # type: ignore[misc]
        return rows

    return ordered


ORDERS = [
    ("", _by()),
    ("amount", _by("amount")),
    ("amount desc", _by("amount desc")),
    ("name desc,amount", _by("name desc", "amount")),
    ("IsActiveEntity,name", _by("IsActiveEntity", "name")),
    ("HasDraftEntity desc,amount", _by("HasDraftEntity desc", "amount")),
    ("HasActiveEntity,amount desc", _by("HasActiveEntity", "amount desc")),
]
FILTERS: list[tuple[str, Callable[[Row], bool]]] = [
    ("", lambda row: True),
    ("amount gt 4", lambda row: row["amount"] is not None and row["amount"] > 4),
    ("amount eq null or name eq 'Draft 1'", lambda row: row["amount"] is None or row["name"] == "Draft 1"),
    ("HasDraftEntity", lambda row: row["HasDraftEntity"]),
    ("HasActiveEntity eq false", lambda row: not row["HasActiveEntity"]),
    ("DraftAdministrativeData/InProcessByUser ne null", lambda row: row["HasDraftEntity"] or not row["IsActiveEntity"]),
    (
        "DraftAdministrativeData/InProcessByUser eq null",
        lambda row: row["IsActiveEntity"] and not row["HasDraftEntity"],
    ),
    (
        "DraftAdministrativeData/InProcessByUser ne @nobody and DraftAdministrativeData/InProcessByUser ne ''",
        lambda row: row["HasDraftEntity"] or not row["IsActiveEntity"],
    ),
    (
        "DraftAdministrativeData/InProcessByUser eq @nobody or DraftAdministrativeData eq null",
        lambda row: row["IsActiveEntity"] and not row["HasDraftEntity"],
    ),
    ("DraftAdministrativeData/DraftUUID in (null)", lambda row: row["IsActiveEntity"] and not row["HasDraftEntity"]),
    ("SiblingEntity/name eq null", lambda row: row["ID"] not in row["sibling"]),
    ("customer/name eq null", lambda row: row["customer_ID"] is None),
    ("SiblingEntity eq null", lambda row: row["ID"] not in row["sibling"]),
    ("items/any(i:i/label eq 'item 2')", lambda row: "item 2" in row["labels"]),
    ("items/all(i:i/label ne 'item 2')", lambda row: "item 2" not in row["labels"]),
    ("items/$count eq 2", lambda row: len(row["labels"]) == 2),
    ("items/any(i:i/order/amount gt 4)", lambda row: bool(row["labels"]) and (row["amount"] or 0) > 4),
    ("customer/name eq 'Customer 1'", lambda row: row["customer_ID"] == 1),
    (
        "contains(name,'2') and not (amount lt 3)",
        lambda row: "2" in row["name"] and not -1 < _or_less(row["amount"]) < 3,
    ),
]


async def pages(counter: Counter, user: str, address: str, size: int) -> list[Row]:
    """Return all rows, page by page."""
    found: list[Row] = []
    rows = await counter.ask(user, address, page_size=size)
    found += rows.items
    while rows.next_token is not None:
        rows = await counter.ask(user, f"{address}&$skiptoken={rows.next_token}", page_size=size)
        found += rows.items
    return found


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize(("text", "ordered"), ORDERS, ids=[text for text, _ in ORDERS])
async def test_a_merged_list_is_sorted_across_drafts_and_active_rows(
    counter: Counter, text: str, ordered: Callable[[list[Row]], list[Row]], merged: bool
) -> None:
    address = f"Orders?$filter={MERGING if merged else EVERYTHING}{text and f'&$orderby={text}'}"
    for user in USERS:
        expected = [(one["ID"], one["IsActiveEntity"]) for one in ordered(orders(user, merged=merged))]
        found = await pages(counter, user, address, 7)
        assert [(one["ID"], one["IsActiveEntity"]) for one in found] == expected
        part = await counter.ask(user, f"{address}&$skip=3&$top=8")
        assert [(one["ID"], one["IsActiveEntity"]) for one in part.items] == expected[3:11]


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize(("text", "holds"), FILTERS, ids=[text for text, _ in FILTERS])
async def test_a_filter_selects_drafts_and_active_rows_alike(
    counter: Counter, text: str, holds: Callable[[Row], bool], merged: bool
) -> None:
    where = f"{MERGING if merged else EVERYTHING}{text and f' and ({text})'}"
    for user in USERS:
        expected = [one for one in _by()(orders(user, merged=merged)) if holds(one)]
        rows = await counter.ask(user, f"Orders?$filter={where}&$count=true")
        assert [(one["ID"], one["IsActiveEntity"]) for one in rows.items] == [
            (one["ID"], one["IsActiveEntity"]) for one in expected
        ]
        assert rows.count == len(expected)
        assert await counter.count(user, f"Orders?$filter={where}") == len(expected)


async def test_an_empty_page_still_has_the_total_count(counter: Counter) -> None:
    for how in ("$top=0", "$skip=1000"):
        rows = await counter.ask("ann", f"Orders?$filter={MERGING}&$count=true&{how}")
        assert (rows.items, rows.count) == ([], len(orders("ann", merged=True)))
    rows = await counter.ask("ann", f"Orders?$filter={MERGING}&$skip=2147483647")
    assert rows.items == []


async def test_navigations_of_drafts_and_of_active_rows_are_expanded_in_one_list(counter: Counter) -> None:
    expand = (
        "items($orderby=ID;$expand=order($select=name)),items/$count,customer,"
        "SiblingEntity($expand=items($orderby=ID)),DraftAdministrativeData"
    )
    for user in USERS:
        drafts = {one["ID"]: one for one in DRAFTS["Order"]}
        rows = await counter.ask(user, f"Orders?$filter={EVERYTHING}&$expand={expand.replace('items/$count,', '')}")
        expected = {(one["ID"], one["IsActiveEntity"]): one for one in orders(user, merged=False)}
        assert len(rows.items) == len(expected)
        for one in rows.items:
            like = expected[one["ID"], one["IsActiveEntity"]]
            assert [item["label"] for item in one["items"]] == like["labels"]
            assert all(item["order"]["name"] == one["name"] for item in one["items"])
            assert (one["customer"] or {}).get("ID") == like["customer_ID"]
            sibling = expected.get((one["ID"], not one["IsActiveEntity"]))
            assert (one["SiblingEntity"] and one["SiblingEntity"]["name"]) == (sibling and sibling["name"])
            if sibling is not None:
                assert [item["label"] for item in one["SiblingEntity"]["items"]] == sibling["labels"]
            making = drafts.get(one["ID"])
            found = one["DraftAdministrativeData"]
            assert (found and found["CreatedByUser"]) == (making and making["owner"])


async def test_expanded_rows_are_counted_and_limited_for_each_parent(counter: Counter) -> None:
    rows = await counter.ask("ann", f"Orders?$filter={EVERYTHING}&$expand=items($top=1;$count=true;$orderby=ID)")
    expected = {(one["ID"], one["IsActiveEntity"]): one["labels"] for one in orders("ann", merged=False)}
    for one in rows.items:
        labels = expected[one["ID"], one["IsActiveEntity"]]
        assert one["items@count"] == len(labels)
        assert [item["label"] for item in one["items"]] == labels[:1]


@pytest.mark.parametrize("text", ["draft", "NOT draft", "order"])
async def test_search_finds_words_in_merged_lists(counter: Counter, text: str) -> None:
    rows = await counter.ask("ben", f"Orders?$filter={MERGING}&$search={text}")
    wanted = text.rpartition(" ")[2]
    expected = [
        one["ID"] for one in orders("ben", merged=True) if (wanted in one["name"].lower()) != text.startswith("NOT")
    ]
    assert sorted(one["ID"] for one in rows.items) == sorted(expected)


async def test_compute_and_aggregate_work_on_merged_lists(counter: Counter) -> None:
    everything = orders("ann", merged=True)
    rows = await counter.ask("ann", f"Orders?$filter={MERGING}&$compute=amount mul 2 as twice&$select=ID,twice")
    twice = {one["ID"]: None if one["amount"] is None else one["amount"] * 2 for one in everything}
    assert {one["ID"]: one["twice"] for one in rows.items} == twice
    total = "aggregate(amount with sum as total,$count as n)"
    rows = await counter.ask("ann", f"Orders?$apply=filter({MERGING})/groupby((IsActiveEntity),{total})")
    expected = {
        flag: (sum(one["amount"] or 0 for one in of), len(of))
        for flag in (True, False)
        if (of := [one for one in everything if one["IsActiveEntity"] is flag])
    }
    assert {one["IsActiveEntity"]: (one["total"], one["n"]) for one in rows.items} == expected
    for condition, flag in (("IsActiveEntity eq false", False), ("IsActiveEntity eq true", True)):
        rows = await counter.ask("ann", f"Orders?$apply=filter({condition})/groupby((IsActiveEntity),{total})")
        of = [one for one in orders("ann", merged=False) if one["IsActiveEntity"] is flag]
        (one,) = rows.items
        assert (one["IsActiveEntity"], one["n"], one["total"]) == (flag, len(of), sum(row["amount"] or 0 for row in of))


async def test_a_computed_value_may_use_is_active_entity(counter: Counter) -> None:
    text = f"$filter={MERGING}&$compute=IsActiveEntity eq false as mine&$orderby=mine,ID&$select=ID,mine"
    rows = await counter.ask("ann", f"Orders?{text}")
    expected = sorted((not one["IsActiveEntity"], one["ID"]) for one in orders("ann", merged=True))
    assert [(one["mine"], one["ID"]) for one in rows.items] == expected


PATHS: Sequence[tuple[str, list[str]]] = [
    ("Orders(5)/items", ["item 1", "item 2"]),
    ("Orders(ID=5,IsActiveEntity=true)/items", ["item 1", "item 2"]),
    ("Orders(ID=5,IsActiveEntity=false)/items", ["item 1", "item 2"]),
    ("Orders(ID=13,IsActiveEntity=false)/items", ["item 1", "item 2"]),
    ("Orders(ID=9,IsActiveEntity=false)/items", ["item 1", "item 2"]),
    ("Orders(9)/items", []),
    ("Orders(9)/SiblingEntity/items", ["item 1", "item 2"]),
    ("Orders(ID=9,IsActiveEntity=false)/SiblingEntity/items", []),
    ("Orders(ID=10,IsActiveEntity=false)/items", []),
    ("Orders(10)/SiblingEntity/items", []),
    ("Orders(ID=9,IsActiveEntity=false)/items(ID=91,IsActiveEntity=false)/order/items", ["item 1", "item 2"]),
    ("Orders(ID=9,IsActiveEntity=false)/items(ID=91,IsActiveEntity=true)/order/items", []),
    ("Orders(ID=9,IsActiveEntity=false)/items(91)/order/items", ["item 1", "item 2"]),
    ("Orders(ID=9,IsActiveEntity=false)/items?$filter=IsActiveEntity eq true", []),
    ("Orders(ID=9,IsActiveEntity=false)/items?$filter=not IsActiveEntity and order/amount ne 9", ["item 1", "item 2"]),
    (f"Orders(ID=9,IsActiveEntity=false)/items?$filter={MERGING}", ["item 1", "item 2"]),
]  # fmt: skip


@pytest.mark.parametrize(("address", "labels"), PATHS, ids=[address for address, _ in PATHS])
async def test_navigation_paths_lead_from_drafts_and_active_rows_to_the_expected_items(
    counter: Counter, address: str, labels: list[str]
) -> None:
    address += ("&" if "?" in address else "?") + "$orderby=ID"
    assert [one["label"] for one in (await counter.ask("ann", address)).items] == labels


async def test_expanding_from_a_plain_entity_returns_active_rows_only(counter: Counter) -> None:
    rows = await counter.ask("ann", "Customers?$expand=orders($orderby=ID)&$orderby=ID")
    for customer in rows.items:
        expected = [one["ID"] for one in ACTIVE["Order"] if one["customer_ID"] == customer["ID"]]
        assert [one["ID"] for one in customer["orders"]] == expected
        assert all(one["IsActiveEntity"] for one in customer["orders"])


@pytest.mark.parametrize(
    "text",
    [
        "$filter=verdict eq 'ok'",
        "$filter=contains(verdict,'o') or amount gt 1",
        "$filter=SiblingEntity/verdict eq 'ok' and IsActiveEntity",
        "$orderby=verdict",
        "$compute=toupper(verdict) as loud",
        "$apply=groupby((verdict))",
        "$apply=aggregate(verdict with countdistinct as n)",
        "$expand=SiblingEntity($filter=verdict eq 'ok')",
    ],
)
async def test_a_virtual_field_cannot_be_used_in_a_condition(counter: Counter, text: str) -> None:
    with pytest.raises(ODataError) as refused:
        await counter.ask("ann", f"Orders?{text}")
    assert (refused.value.status, refused.value.code) == (400, "NOT_FILTERABLE")
    assert (refused.value.target or "").endswith("verdict")
    assert "verdict" in refused.value.message


async def test_a_virtual_field_is_read_but_not_searched(counter: Counter) -> None:
    rows = await counter.ask("ann", "Orders?$top=1&$select=verdict")
    assert rows.items[0]["verdict"] == "ok"
    assert (await counter.ask("ann", "Orders?$search=ok")).items == []
    assert len((await counter.ask("ann", "Orders?$apply=identity")).items) == len(ACTIVE["Order"])


CONDITIONS = [
    "IsActiveEntity in (true)",
    "IsActiveEntity in (null,false) or amount gt 1",
    "IsActiveEntity eq HasActiveEntity",
    "IsActiveEntity eq HasDraftEntity",
    "IsActiveEntity eq null",
    "IsActiveEntity ne null and not (IsActiveEntity in (false))",
    "IsActiveEntity gt false",
    "cast(IsActiveEntity,Edm.String) eq 'true'",
    "case(IsActiveEntity:amount,true:2) gt 1",
    "SiblingEntity/IsActiveEntity",
    "not SiblingEntity/IsActiveEntity",
    "SiblingEntity/IsActiveEntity ne true",
    "SiblingEntity/HasDraftEntity eq HasDraftEntity",
    "SiblingEntity/SiblingEntity/name eq name",
    "SiblingEntity/DraftAdministrativeData/CreatedByUser eq 'ann'",
    "DraftAdministrativeData/CreatedByUser in ('ann','ben')",
    "not (tolower(DraftAdministrativeData/CreatedByUser) ne 'ann')",
    "DraftAdministrativeData/CreatedByUser eq null or IsActiveEntity",
    "items/any(i:i/IsActiveEntity eq IsActiveEntity)",
    "items/any(i:i/SiblingEntity/label eq i/label)",
    "items/$count($filter=IsActiveEntity) gt 0",
    "customer/orders/any(o:o/ID eq ID and o/IsActiveEntity)",
]


@pytest.mark.parametrize("condition", CONDITIONS)
async def test_every_kind_of_list_takes_every_condition(counter: Counter, condition: str) -> None:
    """A condition selects the same rows from the merged list as from its two parts."""
    key = "$select=ID&$orderby=ID&$count=true"

    async def numbers(of: str) -> list[int]:
        rows = await counter.ask("ann", f"Orders?$filter={of} and ({condition})&{key}")
        assert rows.count == len(rows.items)
        return [one["ID"] for one in rows.items]

    active, drafts = await numbers("IsActiveEntity eq true"), await numbers("IsActiveEntity eq false")
    assert sorted(active + drafts) == await numbers(EVERYTHING)
    own = {one["ID"] for one in DRAFTS["Order"] if one["owner"] == "ann"}
    assert sorted([one for one in active if one not in own] + drafts) == await numbers(MERGING)
    again = await counter.ask("ann", f"Orders?$filter=IsActiveEntity eq false&$compute={condition} as x&$orderby=x")
    assert len(again.items) == len(own)
    expand = f"$expand=SiblingEntity($filter={condition})"
    rows = await counter.ask("ann", f"Orders?$filter={MERGING}&{expand}")
    assert sum(one["SiblingEntity"] is not None for one in rows.items) == len([one for one in active if one in own])
