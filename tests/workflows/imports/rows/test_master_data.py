"""Rows of master data: articles are stored, items without a known action code are errors of the job."""

from __future__ import annotations

from msgspec import json

from tests.workflows.imports.rows.dock import Dock


async def test_items_without_a_known_action_code_are_refused_and_the_others_stored(dock: Dock) -> None:
    rows = [
        {"articleNumber": "A-1", "name": "Milk"},
        {"ActionCode": "99", "articleNumber": "A-2", "name": "Cheese"},
        {"name": "No number"},
        {"ActionCode": ""},
        {"articleNumber": "A-3", "name": "Butter"},
    ]
    portion = await dock.bring("Articles", rows, source="MASTER_DATA_SOAP")
    assert [one.name for one in portion.stored] == ["A-1", "A-3"]
    assert [(one.number, one.property, one.code, one.name) for one in portion.faults] == [
        (2, "ActionCode", "UNKNOWN_ACTION_CODE", "A-2"),
        (3, "articleNumber", "REQUIRED", ""),
        (4, "ActionCode", "UNKNOWN_ACTION_CODE", ""),
    ]
    assert "It has 99." in portion.faults[0].message
    assert "It has none." in portion.faults[2].message
    assert portion.faults[0].payload is not None
    assert json.decode(portion.faults[0].payload) == rows[1]
