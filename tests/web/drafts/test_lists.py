"""Which rows a list shows to whom: own drafts, active rows, others' work; sorted, counted and paged together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from tests.web.drafts.desk import ANNA, BEN, ZOE, Desk, Part, draft, key_of

MERGED = "IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null"
BY_ANOTHER = "IsActiveEntity eq true and SiblingEntity/IsActiveEntity eq null"
IN_PROCESS = "DraftAdministrativeData/InProcessByUser"
Keys = Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Floor:
    """Promotions in every state of editing; their names begin with ``mark`` and sort as the fields do here.

    Anna's draft of ``taken`` has a name that sorts last.
    """

    mark: str
    untouched: str
    left_by_ben: str
    locked_by_ben: str
    new_of_anna: str
    new_of_ben: str
    taken_by_anna: str


@pytest.fixture(scope="module")
def floor(desk: Desk) -> Floor:
    mark = desk.unique("F")
    left = desk.promotion(name=f"{mark} b", priority=2)
    assert desk.edit(left, user=BEN).status_code == 201
    desk.later(minutes=16)
    locked = desk.promotion(name=f"{mark} c", priority=3)
    assert desk.edit(locked, user=BEN).status_code == 201
    taken = desk.promotion(name=f"{mark} f", priority=6)
    assert desk.edit(taken).status_code == 201
    desk.patch(draft(taken), {"name": f"{mark} z", "priority": 99}, status=200)
    floor = Floor(
        mark=mark,
        untouched=desk.promotion(name=f"{mark} a", priority=1),
        left_by_ben=left,
        locked_by_ben=locked,
        new_of_anna=desk.promotion(name=f"{mark} d", priority=4, active=False),
        new_of_ben=desk.promotion(name=f"{mark} e", priority=5, active=False, user=BEN),
        taken_by_anna=taken,
    )
    desk.make("Promotions", user=ZOE, name=f"{mark} of another tenant")
    desk.make("Promotions", user=ZOE, name=f"{mark} draft of another tenant", active=False)
    return floor


def rows_of(desk: Desk, floor: Floor, condition: str, *, user: str, form: str, order: str = "name") -> Keys:
    """Return the keys in a list, and check that every way of counting agrees."""
    chosen = f"startswith(name,'{floor.mark}')" + (f" and ({condition})" if condition else "")
    listed, counted = desk.batch(
        [
            Part("GET", f"Promotions?$filter={chosen}&$orderby={order}&$count=true&$select=name"),
            Part("GET", f"Promotions?$filter={chosen}&$count=true&$top=0"),
        ],
        form=form,
        user=user,
    )
    assert (listed.status, counted.status) == (200, 200), listed.body
    rows = [key_of(row) for row in listed.body["value"]]
    assert int(listed.body["@odata.count"]) == int(counted.body["@odata.count"]) == len(rows)
    number = desk.call("GET", f"Promotions/$count?$filter={chosen}".replace(" ", "%20"), user=user)
    assert (number.status_code, number.text) == (200, str(len(rows)))
    return rows


def test_a_list_shows_active_rows_by_default(desk: Desk, floor: Floor, form: str) -> None:
    active = [(one, True) for one in (floor.untouched, floor.left_by_ben, floor.locked_by_ben, floor.taken_by_anna)]
    for user in (ANNA, BEN):
        assert rows_of(desk, floor, "", user=user, form=form) == active
        assert rows_of(desk, floor, "IsActiveEntity eq true", user=user, form=form) == active


def test_the_merged_list_shows_own_drafts_and_the_other_active_rows(desk: Desk, floor: Floor, form: str) -> None:
    of_anna = [
        (floor.untouched, True),
        (floor.left_by_ben, True),
        (floor.locked_by_ben, True),
        (floor.new_of_anna, False),
        (floor.taken_by_anna, False),
    ]
    of_ben = [
        (floor.untouched, True),
        (floor.left_by_ben, False),
        (floor.locked_by_ben, False),
        (floor.new_of_ben, False),
        (floor.taken_by_anna, True),
    ]
    other_way_round = "SiblingEntity/IsActiveEntity eq null or IsActiveEntity eq false"
    for condition in (MERGED, other_way_round):
        assert rows_of(desk, floor, condition, user=ANNA, form=form) == of_anna
        assert rows_of(desk, floor, condition, user=BEN, form=form) == of_ben
    assert rows_of(desk, floor, MERGED, user=ANNA, form=form, order="name desc") == of_anna[::-1]
    assert rows_of(desk, floor, MERGED, user=ANNA, form=form, order="priority desc,name") == of_anna[::-1]


def test_own_drafts_are_shown_to_nobody_else(desk: Desk, floor: Floor, form: str) -> None:
    of_anna = [(floor.new_of_anna, False), (floor.taken_by_anna, False)]
    of_ben = [(floor.left_by_ben, False), (floor.locked_by_ben, False), (floor.new_of_ben, False)]
    assert rows_of(desk, floor, "IsActiveEntity eq false", user=ANNA, form=form) == of_anna
    assert rows_of(desk, floor, "IsActiveEntity eq false", user=BEN, form=form) == of_ben


def test_the_unchanged_filter_shows_rows_without_a_draft(desk: Desk, floor: Floor, form: str) -> None:
    for user in (ANNA, BEN):
        condition = "IsActiveEntity eq true and HasDraftEntity eq false"
        assert rows_of(desk, floor, condition, user=user, form=form) == [(floor.untouched, True)]


def test_locked_and_unsaved_by_another_are_told_apart_by_the_lock(desk: Desk, floor: Floor, form: str) -> None:
    locked, unsaved = f"{BY_ANOTHER} and {IN_PROCESS} ne ''", f"{BY_ANOTHER} and {IN_PROCESS} eq ''"
    assert rows_of(desk, floor, locked, user=ANNA, form=form) == [(floor.locked_by_ben, True)]
    assert rows_of(desk, floor, unsaved, user=ANNA, form=form) == [(floor.left_by_ben, True)]
    assert rows_of(desk, floor, locked, user=BEN, form=form) == [(floor.taken_by_anna, True)]
    assert rows_of(desk, floor, unsaved, user=BEN, form=form) == []
    by_ben = f"IsActiveEntity eq true and {IN_PROCESS} eq '{BEN}'"
    assert rows_of(desk, floor, by_ben, user=ANNA, form=form) == [(floor.locked_by_ben, True)]


def test_asking_for_both_lists_all_active_rows_and_own_drafts(desk: Desk, floor: Floor, form: str) -> None:
    both = rows_of(desk, floor, "IsActiveEntity eq true or IsActiveEntity eq false", user=ANNA, form=form)
    assert both == [
        (floor.untouched, True),
        (floor.left_by_ben, True),
        (floor.locked_by_ben, True),
        (floor.new_of_anna, False),
        (floor.taken_by_anna, True),
        (floor.taken_by_anna, False),
    ]


def test_another_tenant_sees_nothing_of_it(desk: Desk, floor: Floor, form: str) -> None:
    for condition in ("", MERGED, "IsActiveEntity eq false", f"{BY_ANOTHER} and {IN_PROCESS} ne ''"):
        found = {key for key, _ in rows_of(desk, floor, condition, user=ZOE, form=form)}
        assert found.isdisjoint(vars_of(floor))
        assert found or "InProcess" in condition


def vars_of(floor: Floor) -> set[str]:
    """Return every ID of the floor."""
    return {getattr(floor, name) for name in Floor.__slots__ if name != "mark"}


def test_a_filter_uses_the_values_of_the_shown_row(desk: Desk, floor: Floor, form: str) -> None:
    """The draft's values count where the draft replaces its active row."""
    assert rows_of(desk, floor, f"priority ge 6 and ({MERGED})", user=ANNA, form=form) == [(floor.taken_by_anna, False)]
    assert rows_of(desk, floor, f"priority eq 6 and ({MERGED})", user=ANNA, form=form) == []
    assert rows_of(desk, floor, f"priority eq 6 and ({MERGED})", user=BEN, form=form) == [(floor.taken_by_anna, True)]
    assert rows_of(desk, floor, "priority eq 6", user=ANNA, form=form) == [(floor.taken_by_anna, True)]


def test_skip_and_top_over_drafts_and_active_rows_leave_no_gaps(desk: Desk, floor: Floor, form: str) -> None:
    whole = rows_of(desk, floor, MERGED, user=ANNA, form=form)
    chosen = f"startswith(name,'{floor.mark}') and ({MERGED})"
    windows = [
        Part("GET", f"Promotions?$filter={chosen}&$orderby=name&$top=2&$skip={skip}&$count=true&$select=name")
        for skip in range(0, 6, 2)
    ]
    answers = desk.batch(windows, form=form)
    assert [key_of(row) for answer in answers for row in answer.body["value"]] == whole
    assert {int(answer.body["@odata.count"]) for answer in answers} == {len(whole)}


@pytest.mark.parametrize("order", ["name", "priority desc", ""])
def test_pages_over_drafts_and_active_rows_leave_no_gaps(desk: Desk, floor: Floor, order: str) -> None:
    chosen = f"startswith(name,'{floor.mark}') and ({MERGED})".replace(" ", "%20")
    path = f"Promotions?$filter={chosen}&$select=name" + (f"&$orderby={order}".replace(" ", "%20") if order else "")
    found: list[tuple[str, bool]] = []
    pages = 0
    while path:
        answer = desk.read(path, user=ANNA, prefer="odata.maxpagesize=2")
        found += [key_of(row) for row in answer["value"]]
        pages += 1
        link = urlsplit(answer.get("@odata.nextLink", ""))
        path = f"{link.path}?{link.query}".rpartition("/admin/")[2] if link.query else ""
    assert pages == 3
    whole = rows_of(desk, floor, MERGED, user=ANNA, form="plain")
    if order == "priority desc":
        whole = list(whole)[::-1]
    assert found == list(whole) if order else sorted(found) == sorted(whole)


def test_a_list_shows_the_editing_status_of_each_row(desk: Desk, floor: Floor) -> None:
    chosen = f"startswith(name,'{floor.mark}') and ({MERGED})".replace(" ", "%20")
    expand = "$expand=DraftAdministrativeData,SiblingEntity($select=name)"
    rows = desk.read(f"Promotions?$filter={chosen}&$orderby=name&{expand}", user=ANNA)["value"]
    flags = [(row["IsActiveEntity"], row["HasActiveEntity"], row["HasDraftEntity"]) for row in rows]
    assert flags == [
        (True, False, False),
        (True, False, True),
        (True, False, True),
        (False, False, False),
        (False, True, False),
    ]
    siblings = [row["SiblingEntity"] and row["SiblingEntity"]["name"] for row in rows]
    assert siblings == [None, None, None, None, f"{floor.mark} f"]
    data = [row["DraftAdministrativeData"] for row in rows]
    assert data[0] is None
    told = [(one["CreatedByUser"], one["DraftIsCreatedByMe"], one["InProcessByUser"]) for one in data[1:]]
    assert told == [(BEN, False, ""), (BEN, False, BEN), (ANNA, True, ANNA), (ANNA, True, ANNA)]
    assert [one["DraftIsProcessedByMe"] for one in data[1:]] == [False, False, True, True]
