"""An imported row is validated exactly like a create of it: the same codes, messages and properties, in both modes."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from promenade import model
from promenade.errors import Invalid
from promenade.workflows.imports.rows import importer_for
from tests.workflows.authoring.desk import Desk
from tests.workflows.imports.rows.dock import Dock, Fault, faults_of, text_of
from tests.workflows.imports.rows.wrongs import given_fields, wrong_rows

TWELVE = {
    "Articles", "Promotions", "Budgets", "Stakeholders", "CouponTypes", "CouponCodeConfigurations", "CouponCodes",
    "Conditions", "ArticleGroups", "PosGroups", "PriorityGroups", "MutualExclusionGroups",
}  # fmt: skip


def test_twelve_entity_sets_take_imports() -> None:
    assert {entity.set_name for entity in model.entities() if entity.importable} == TWELVE


async def test_other_entity_sets_refuse_imports(dock: Dock) -> None:
    def of(set_name: str) -> Any:
        return importer_for(set_name, dock.context, tenant_id=dock.tenant, user="ann", source="BULK_IMPORT")

    with pytest.raises(Invalid, match="Campaigns cannot be imported") as caught:
        of("Campaigns")
    assert caught.value.code == "NOT_IMPORTABLE"
    with pytest.raises(KeyError):
        of("NoSuchSet")


async def sample(desk: Desk, set_name: str, *, full: bool = False) -> dict[str, Any]:
    """Return a valid row as clients write it."""
    row = await desk.sample(set_name, full=full)
    if set_name == "CouponCodes":
        row |= {"code": f"SECRET-{row['couponType_ID']}"}
    found: dict[str, Any] = msgspec.json.decode(text_of(row))
    return found


def hushed(faults: list[Fault]) -> list[Fault]:
    """Convert a create's errors to the form stored with the job, which others can read.

    Secrets are not quoted, and messages name the row instead of the body.
    """
    quoting = "TYPE_MISMATCH", "genericCode"
    hush = "genericCode: It has the wrong type."
    return [
        (code, hush, target) if (code, target) == quoting else (code, re.sub(r"^The body ", "The row ", told), target)
        for code, told, target in faults
    ]


@pytest.mark.parametrize("set_name", sorted(TWELVE))
async def test_invalid_rows_get_the_errors_of_creates(dock: Dock, set_name: str) -> None:
    first = await dock.bring(set_name, [await sample(dock.desk, set_name)])
    wrongs = list(wrong_rows(set_name, await sample(dock.desk, set_name), first.stored[0].id))
    answers = {one.about: (await dock.post(set_name, one.row))[1] for one in wrongs if set_name != "CouponCodes"}
    before = await dock.desk.rows(set_name)

    # Good rows among bad ones; then each bad one alone, where one error rolls back everything.
    good = [await sample(dock.desk, set_name) for _ in range(2)]
    portion = await dock.bring(set_name, [good[0], *[one.row for one in wrongs], good[1]])
    assert [one.number for one in portion.stored] == [1, len(wrongs) + 2]
    for number, wrong in enumerate(wrongs, 2):
        found = faults_of(portion, number)
        assert wrong.target in {target for _, _, target in found}, (wrong.about, found)
        if set_name != "CouponCodes":
            assert found == hushed(answers[wrong.about]), wrong.about
    assert len(await dock.desk.rows(set_name)) == len(before) + 2
    for wrong in wrongs[::5]:
        portion = await dock.bring(set_name, [await sample(dock.desk, set_name), wrong.row], keep_good=False)
        assert portion.stored == ()
        assert {one.number for one in portion.faults} == {2}
        if set_name != "CouponCodes":
            assert faults_of(portion, 2) == hushed(answers[wrong.about]), wrong.about
    assert len(await dock.desk.rows(set_name)) == len(before) + 2


async def test_complete_rows_are_stored_unchanged(dock: Dock) -> None:
    """Every property that a client may write, with client-made IDs and ignored annotations."""
    for set_name in sorted(TWELVE):
        rows = [await dock.desk.sample(set_name, full=True) for _ in range(3)]
        if set_name == "CouponCodes":
            rows = [row | {"code": f"WHOLE-{place}"} for place, row in enumerate(rows)]
        sent = [row | {"@odata.context": "x", "name@note": 1, "minorVersion": 13} for row in rows]
        portion = await dock.bring(set_name, sent)
        assert portion.faults == (), set_name
        assert [(one.number, one.is_new) for one in portion.stored] == [(1, True), (2, True), (3, True)]
        for row, stored in zip(rows, portion.stored, strict=True):
            there = await dock.desk.row(set_name, stored.id)
            assert {name: there[name] for name in row} == row, set_name
            assert (there["version"], there["createdBy"], there["createdAt"]) == (1, "ann", dock.desk.now)


async def test_omitted_fields_get_defaults_and_the_source_is_recorded(dock: Dock) -> None:
    for set_name in sorted(TWELVE):
        row = await sample(dock.desk, set_name)
        (stored,) = (await dock.bring(set_name, [row])).stored
        there = await dock.desk.row(set_name, stored.id)
        for field in given_fields(model.entity(set_name)):
            if field.wire not in row:
                imported = field.wire == "source"
                assert there[field.wire] == ("IMPORTED" if imported else field.default), (set_name, field.wire)
    (code,) = await dock.desk.rows("CouponCodes")
    assert (code["source"], code["issuanceChannel"], code["status"]) == ("EXTERNAL", "EXTERNAL", "ACTIVE")


@pytest.mark.parametrize("set_name", sorted(TWELVE - {"Articles"}))
async def test_each_row_is_in_the_audit_trail(dock: Dock, set_name: str) -> None:
    rows = [await sample(dock.desk, set_name) for _ in range(2)]
    stored = (await dock.bring(set_name, rows)).stored
    trail = [one for one in await dock.desk.rows("AuditLogs", entityType=set_name) if one["actor"] == "ann"]
    assert {one.id for one in stored} <= {one["entityId"] for one in trail if one["action"] == "CREATE"}
