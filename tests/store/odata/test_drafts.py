"""The views of two users of the same promotions while each of them edits one and creates another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert

from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query, Rows
from odata_server.sql.connection import Kept
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import draft_table
from promenade.store.driver.session import Database, Session
from promenade.store.odata.services import reader_for

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
TENANT = "retailer"
UNFINISHED = "IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null"
LOCKED = "IsActiveEntity eq true and SiblingEntity/IsActiveEntity eq null and DraftAdministrativeData/InProcessByUser"


def uuid(kind: int, number: int) -> str:
    return f"{kind:08d}-0000-4000-8000-{number:012d}"


def promotion(number: int) -> str:
    return uuid(3, number)


async def draft(session: Session, number: int, owner: str, minutes: int, name: str, **row: Any) -> None:
    """Create a draft of a promotion, last changed this many minutes ago."""
    changed = NOW - timedelta(minutes=minutes)
    head = {"draft_uuid": uuid(9, number), "set_name": "Promotions", "root_id": promotion(number)}
    stamps = {"created_at": changed - timedelta(hours=1), "created_by": owner, "changed_at": changed}
    await session.execute_many(insert(draft_table("drafts")), [head | stamps])
    whole = {"id": promotion(number), "name": name, "draft_uuid": uuid(9, number), "draft_owner": owner} | row
    await session.execute_many(insert(draft_table("Promotions")), [whole])


async def group(session: Session, number: int, of: int, place: int, owner: str, *, removed: bool = False) -> None:
    """Create a POS group of a draft."""
    row = {"id": uuid(5, number), "promotion_id": promotion(of), "pos_group_id": uuid(1, place)}
    marks = {"draft_uuid": uuid(9, of), "draft_owner": owner, "removed": removed}
    await session.execute_many(insert(draft_table("PromotionPosGroups")), [row | marks])


async def author(session: Session) -> None:
    """1: active. 2: active, Ann is editing it. 3: active, Ben has left a draft. 4: Ann's, new. 5: Ben's, new."""
    places = [{"ID": uuid(1, n), "code": f"G{n}", "name": f"Group {n}", "currency": "EUR"} for n in (1, 2, 3)]
    promotions = [
        {"ID": promotion(n), "code": f"P{n}", "name": f"P{n}", "status": "ACTIVE", "modifiedAt": NOW - n * DAY}
        for n in (1, 2, 3)
    ]
    groups = [(1, 1, 1), (2, 2, 1), (3, 2, 2)]
    rows = [{"ID": uuid(5, n), "promotion_ID": promotion(of), "posGroup_ID": uuid(1, at)} for n, of, at in groups]
    sets: dict[str, list[dict[str, Any]]] = {"PosGroups": places, "Promotions": promotions, "PromotionPosGroups": rows}
    for set_name, of_set in sets.items():
        await insert_rows(session, set_name, of_set, at=NOW, by="author")
    await draft(session, 2, "ann", 5, "P2 of Ann", version=7, status="ACTIVE", modified_at=NOW - DAY / 2)
    await group(session, 2, 2, 1, "ann")
    await group(session, 3, 2, 2, "ann", removed=True)
    await group(session, 4, 2, 3, "ann")
    await draft(session, 3, "ben", 20, "P3 of Ben", modified_at=NOW)
    await draft(session, 4, "ann", 1, "P4 of Ann", modified_at=NOW - 2 * DAY - DAY / 2)
    await draft(session, 5, "ben", 1, "P5 of Ben", modified_at=NOW)


DAY = timedelta(days=1)


@pytest.fixture
async def promotions(database: Database) -> Database:
    await database.write(author, tenant=TENANT)
    return database


async def ask(database: Database, user: str | None, address: str, tenant: str = TENANT, **how: Any) -> Rows:
    """Return the answer to a user; a repeated request must get the same answer."""
    path, _, text = address.partition("?")
    options = parse_options(text.replace(" ", "%20"))
    target = resolve(edm_for(Service.ADMIN), parse_path(path), options.aliases).target
    assert target is not None
    query = Query(target=target, options=options, now=NOW, **how)

    async def work(session: Session) -> Rows:
        return await reader_for(Service.ADMIN).read(session, query)

    first = await database.read(work, tenant=tenant, user=user, at=NOW)
    for _ in range(2):  # with a cached plan
        assert await database.read(work, tenant=tenant, user=user, at=NOW) == first
    return first


async def names(database: Database, user: str | None, address: str) -> list[Any]:
    return [one["name"] for one in (await ask(database, user, address)).items]


LISTS = [
    ("", ["P1", "P2", "P3"], ["P1", "P2", "P3"]),
    ("IsActiveEntity eq true", ["P1", "P2", "P3"], ["P1", "P2", "P3"]),
    ("IsActiveEntity eq false", ["P2 of Ann", "P4 of Ann"], ["P3 of Ben", "P5 of Ben"]),
    (UNFINISHED, ["P1", "P2 of Ann", "P3", "P4 of Ann"], ["P1", "P2", "P3 of Ben", "P5 of Ben"]),
    ("IsActiveEntity eq true and HasDraftEntity eq false", ["P1"], ["P1"]),
    ("IsActiveEntity eq true and HasDraftEntity", ["P2", "P3"], ["P2", "P3"]),
    ("IsActiveEntity eq false and HasActiveEntity eq false", ["P4 of Ann"], ["P5 of Ben"]),
    (f"{LOCKED} ne ''", [], ["P2"]),
    (f"{LOCKED} eq ''", ["P3"], []),
    ("DraftAdministrativeData/CreatedByUser ne 'ann'", ["P3"], ["P3"]),
    ("DraftAdministrativeData/DraftIsCreatedByMe eq true", ["P2"], ["P3"]),
    ("DraftAdministrativeData/DraftIsProcessedByMe eq true", ["P2"], []),
    ("DraftAdministrativeData eq null", ["P1"], ["P1"]),
    (f"({UNFINISHED}) and contains(name,'P2')", ["P2 of Ann"], ["P2"]),
    ("SiblingEntity/name eq 'P2'", [], []),
    ("SiblingEntity/name eq 'P2' and IsActiveEntity eq false", ["P2 of Ann"], []),
    (f"({UNFINISHED}) and posGroups/any(g:g/posGroup/code eq 'G2')", [], ["P2"]),
    (f"({UNFINISHED}) and posGroups/$count eq 2", ["P2 of Ann"], ["P2"]),
    ("SiblingEntity/IsActiveEntity eq null", ["P1", "P3", "P4 of Ann"], ["P1", "P2", "P5 of Ben"]),
]


@pytest.mark.parametrize(("text", "to_ann", "to_ben"), LISTS, ids=[text for text, _, _ in LISTS])
async def test_each_user_sees_active_promotions_and_their_own_drafts_in_lists(
    promotions: Database, text: str, to_ann: Sequence[str], to_ben: Sequence[str]
) -> None:
    where = f"$filter={text}&" if text else ""
    for user, expected in (("ann", to_ann), ("ben", to_ben)):
        rows = await ask(promotions, user, f"Promotions?{where}$orderby=name&$count=true")
        assert [one["name"] for one in rows.items] == expected
        assert rows.count == len(expected)


async def test_a_list_of_both_is_sorted_and_paged_together(promotions: Database) -> None:
    address = f"Promotions?$filter={UNFINISHED}&$orderby=modifiedAt desc&$select=name&$count=true"
    assert await names(promotions, "ann", address) == ["P2 of Ann", "P1", "P4 of Ann", "P3"]
    found: list[Any] = []
    token = ""
    for left in (2, 1, 0, None):
        rows = await ask(promotions, "ann", address + token, page_size=1)
        assert rows.count == 4
        found += [one["name"] for one in rows.items]
        assert (rows.next_token is None) == (left is None)
        token = f"&$skiptoken={rows.next_token}"
    assert found == ["P2 of Ann", "P1", "P4 of Ann", "P3"]
    assert await names(promotions, "ann", f"{address}&$skip=1&$top=2") == ["P1", "P4 of Ann"]


@pytest.mark.parametrize(
    ("user", "number", "flags"),
    [
        ("ann", 1, (False, False)),
        ("ann", 2, (False, True)),
        ("ben", 2, (False, True)),
        ("ann", -2, (True, False)),
        ("ann", -4, (False, False)),
        ("ann", -3, None),
        ("ben", -2, None),
        (None, -2, None),
        ("ann", 4, None),
        ("ann", -1, None),
    ],
)
async def test_a_promotion_or_draft_is_read_by_its_key(
    promotions: Database, user: str, number: int, flags: tuple[bool, bool] | None
) -> None:
    """A negative number requests the draft with that number."""
    is_active = number > 0
    key = f"ID={promotion(abs(number))},IsActiveEntity={str(is_active).lower()}"
    rows = await ask(promotions, user, f"Promotions({key})")
    if flags is None:
        assert rows.items == []
        return
    (row,) = rows.items
    assert row["IsActiveEntity"] is is_active
    assert (row["HasActiveEntity"], row["HasDraftEntity"]) == flags
    if is_active:
        assert (await ask(promotions, user, f"Promotions({promotion(number)})")).items == [row]


async def test_active_rows_and_drafts_use_one_cached_plan_each(promotions: Database) -> None:
    options = parse_options("$select=name")
    found: dict[tuple[int, bool], list[Any]] = {}
    kept: dict[bool, set[str]] = {True: set(), False: set()}

    async def read(session: Session, query: Query, is_active: bool) -> Rows:
        run_kept = session.run_kept

        class Noting:
            dialect = session.dialect
            execute = session.execute

            async def run_kept(self, one: Kept, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
                kept[is_active].add(str(one.statement))
                return await run_kept(one, values)

        return await reader_for(Service.ADMIN).read(Noting(), query)  # type: ignore[arg-type]

    for number in (1, 2, 3, 4, 2):
        for is_active in (True, False):
            path = parse_path(f"Promotions(ID={promotion(number)},IsActiveEntity={str(is_active).lower()})")
            target = resolve(edm_for(Service.ADMIN), path, {}).target
            assert target is not None
            query = Query(target=target, options=options, now=NOW)
            rows = await promotions.read(
                lambda session, query=query, is_active=is_active: read(session, query, is_active),  # type: ignore[misc]
                tenant=TENANT,
                user="ann",
                at=NOW,
            )
            found[number, is_active] = [one["name"] for one in rows.items]
    assert {key: names[0] for key, names in found.items() if names} == {
        (1, True): "P1", (2, True): "P2", (3, True): "P3", (2, False): "P2 of Ann", (4, False): "P4 of Ann",
    }  # fmt: skip
    assert [len(one) for one in kept.values()] == [1, 1]
    assert kept[True] != kept[False]


async def test_a_draft_has_its_own_etag(promotions: Database) -> None:
    (row,) = (await ask(promotions, "ann", f"Promotions(ID={promotion(2)},IsActiveEntity=false)")).items
    (active,) = (await ask(promotions, "ann", f"Promotions({promotion(2)})")).items
    assert (row["@etag"], active["@etag"]) == ('W/"7"', 'W/"1"')


async def codes(database: Database, user: str, address: str) -> list[str]:
    rows = await ask(database, user, f"{address}?$expand=posGroup($select=code)&$orderby=posGroup/code")
    return [one["posGroup"]["code"] for one in rows.items]


async def test_a_draft_has_its_own_parts(promotions: Database) -> None:
    drafted, active = (f"Promotions(ID={promotion(2)},IsActiveEntity={flag})" for flag in ("false", "true"))
    assert await codes(promotions, "ann", f"{drafted}/posGroups") == ["G1", "G3"]
    assert await codes(promotions, "ann", f"{active}/posGroups") == ["G1", "G2"]
    assert await codes(promotions, "ann", f"{drafted}/SiblingEntity/posGroups") == ["G1", "G2"]
    assert await codes(promotions, "ann", f"{active}/SiblingEntity/posGroups") == ["G1", "G3"]
    assert await codes(promotions, "ben", f"{drafted}/posGroups") == []
    assert await codes(promotions, "ben", f"{active}/SiblingEntity/posGroups") == []
    key = f"(ID={uuid(5, 4)},IsActiveEntity=false)"
    assert await codes(promotions, "ann", f"{drafted}/posGroups{key}/promotion/posGroups") == ["G1", "G3"]
    assert await codes(promotions, "ann", f"{active}/posGroups{key}/promotion/posGroups") == []


async def test_every_navigation_of_a_merged_list_is_expanded(promotions: Database) -> None:
    expand = (
        "$expand=posGroups($expand=posGroup($select=code),promotion($select=name);$orderby=posGroup/code;$count=true),"
        "SiblingEntity($select=name),DraftAdministrativeData($select=CreatedByUser,InProcessByUser,DraftIsCreatedByMe)"
    )
    rows = await ask(promotions, "ann", f"Promotions?$filter={UNFINISHED}&$orderby=name&{expand}")
    found = {
        one["name"]: (
            [(part["posGroup"]["code"], part["promotion"]["name"]) for part in one["posGroups"]],
            one["posGroups@count"],
            one["SiblingEntity"] and one["SiblingEntity"]["name"],
            one["DraftAdministrativeData"] and tuple(one["DraftAdministrativeData"].values())[1:],
        )
        for one in rows.items
    }
    ann, ben = ("ann", True, "ann"), ("ben", False, "")
    assert found == {
        "P1": ([("G1", "P1")], 1, None, None),
        "P2 of Ann": ([("G1", "P2 of Ann"), ("G3", "P2 of Ann")], 2, "P2", ann),
        "P3": ([], 0, None, ben),
        "P4 of Ann": ([], 0, None, ann),
    }
    rows = await ask(promotions, "ben", f"Promotions({promotion(2)})?{expand}")
    assert rows.items[0]["SiblingEntity"] is None
    assert rows.items[0]["DraftAdministrativeData"]["InProcessByUser"] == "ann"


async def test_a_filter_inside_of_expand_applies_to_drafts_and_active_rows(promotions: Database) -> None:
    for user, count in (("ann", [2, 0]), ("ben", [0, 0])):
        expand = "posGroups($filter=HasActiveEntity;$count=true)"
        rows = await ask(promotions, user, f"Promotions?$filter=IsActiveEntity eq false&$orderby=name&$expand={expand}")
        assert [one["posGroups@count"] for one in rows.items] == ([1, 0] if user == "ann" else count)


async def test_drafts_are_visible_only_to_their_tenant(promotions: Database) -> None:
    for address in ("Promotions?$filter=IsActiveEntity eq false", "DraftAdministrativeData"):
        assert (await ask(promotions, "ann", address, tenant="other")).items == []
    assert len((await ask(promotions, "ann", "DraftAdministrativeData")).items) == 4


async def test_a_draft_lock_lasts_a_quarter_of_an_hour(promotions: Database) -> None:
    async def process(session: Session, minutes: int) -> None:
        await draft(session, 100 + minutes, "cid", minutes, "P")

    for minutes in (14, 15, 16):
        await promotions.write(lambda session, at=minutes: process(session, at), tenant=TENANT)  # type: ignore[misc]
    select = "$select=InProcessByUser&$filter=CreatedByUser eq 'cid'&$orderby=LastChangeDateTime"
    rows = await ask(promotions, "ann", f"DraftAdministrativeData?{select}")
    assert [one["InProcessByUser"] for one in rows.items] == ["", "", "cid"]


@pytest.mark.parametrize("flag", ["true", "false"])
async def test_rows_read_for_a_change_are_locked(promotions: Database, flag: str) -> None:
    address = f"Promotions(ID={promotion(2)},IsActiveEntity={flag})?$expand=posGroups,DraftAdministrativeData"
    path, _, text = address.partition("?")
    target = resolve(edm_for(Service.ADMIN), parse_path(path), {}).target
    assert target is not None
    query = Query(target=target, options=parse_options(text), now=NOW, lock=True)

    async def work(session: Session) -> Rows:
        return await reader_for(Service.ADMIN).read(session, query)

    rows = await promotions.write(work, tenant=TENANT, user="ann", at=NOW)
    assert rows.items[0]["IsActiveEntity"] is (flag == "true")
    assert len(rows.items[0]["posGroups"]) == 2
