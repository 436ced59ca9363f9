"""Two users act at random; after each step every user must see what a small Python model predicts."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.web.drafts.desk import ANNA, BEN, Desk, active, draft, key_of

STEPS = 60
MERGED = "(IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null)"
BY_ANOTHER = "IsActiveEntity eq true and SiblingEntity/IsActiveEntity eq null"
IN_PROCESS = "DraftAdministrativeData/InProcessByUser"


@dataclass
class Row:
    """The state of one promotion: the name of its active row, and its draft's owner, name and time."""

    active: str | None = None
    owner: str | None = None
    name: str = ""
    has_named: bool = False
    changed: int = 0


@dataclass
class Floor:
    """The expected state, and the desk that is tested against it."""

    desk: Desk
    chance: random.Random
    mark: str
    rows: dict[str, Row] = field(default_factory=dict)
    minutes: int = 0
    told: list[str] = field(default_factory=list)

    def new_name(self) -> str:
        return f"{self.mark} {self.chance.randrange(10**9):09}"

    def locked(self, row: Row) -> bool:
        return self.minutes - row.changed < 15

    def step(self) -> None:
        """Perform one random action of a user and check its response."""
        user = self.chance.choice((ANNA, BEN))
        acts: list[Callable[[str, str, Row], tuple[int, int]]] = [
            self.edit, self.edit, self.change, self.activate, self.discard, self.change_active, self.remove
        ]  # fmt: skip
        if len(self.rows) < 4 or self.chance.random() < 0.15:
            self.create(user)
        elif self.chance.random() < 0.15:
            self.minutes += 16
            self.desk.later(minutes=16)
            self.told.append("later")
        else:
            entity_id = self.chance.choice(sorted(self.rows))
            act = self.chance.choice(acts)
            said, expected = act(user, entity_id, self.rows[entity_id])
            self.told.append(f"{user} {act.__name__} {entity_id}: {said}")
            assert said == expected, self.told

    def create(self, user: str) -> None:
        name, is_active = self.new_name(), self.chance.random() < 0.5
        entity_id = self.desk.promotion(user=user, name=name, active=is_active)
        self.rows[entity_id] = Row(active=name) if is_active else Row(None, user, name, True, self.minutes)
        self.told.append(f"{user} creates {entity_id} {is_active}")

    def edit(self, user: str, entity_id: str, row: Row) -> tuple[int, int]:
        preserve = self.chance.random() < 0.5
        said = self.desk.edit(entity_id, preserve=preserve, user=user).status_code
        if row.active is None:
            return said, 404
        if row.owner is not None and (preserve or self.locked(row)):
            return said, 409
        row.owner, row.name, row.has_named, row.changed = user, row.active, False, self.minutes
        return said, 201

    def change(self, user: str, entity_id: str, row: Row) -> tuple[int, int]:
        name = self.new_name()
        said = self.desk.patch(draft(entity_id), {"name": name}, user=user).status_code
        if row.owner != user:
            return said, 403 if row.owner else 404
        row.name, row.has_named, row.changed = name, True, self.minutes
        return said, 200

    def activate(self, user: str, entity_id: str, row: Row) -> tuple[int, int]:
        said = self.desk.activate(entity_id, user=user).status_code
        if row.owner != user:
            return said, 403 if row.owner else 404
        expected = 201 if row.active is None else 200
        row.active, row.owner = (row.name if row.has_named else row.active), None
        return said, expected

    def discard(self, user: str, entity_id: str, row: Row) -> tuple[int, int]:
        said = self.desk.delete(draft(entity_id), user=user).status_code
        if row.owner != user:
            return said, 403 if row.owner else 404
        row.owner = None
        return said, 204

    def change_active(self, user: str, entity_id: str, row: Row) -> tuple[int, int]:
        name = self.new_name()
        said = self.desk.patch(active(entity_id), {"name": name}, user=user).status_code
        if row.active is None or row.owner is not None:
            return said, 404 if row.active is None else 409
        row.active = name
        return said, 200

    def remove(self, user: str, entity_id: str, row: Row) -> tuple[int, int]:
        said = self.desk.delete(active(entity_id), user=user).status_code
        if row.active is None or row.owner is not None:
            return said, 404 if row.active is None else 403
        row.active = None
        return said, 204

    def check(self, user: str) -> None:
        """Check every list that the user may read."""
        of_others = [
            (key, row) for key, row in self.rows.items() if row.active is not None and row.owner not in {None, user}
        ]
        own = [(row.name, key, False) for key, row in self.rows.items() if row.owner == user]
        all_active = [(row.active or "", key, True) for key, row in self.rows.items() if row.active is not None]
        expected = {
            "true": all_active,
            "IsActiveEntity eq false": own,
            MERGED: own + [one for one in all_active if self.rows[one[1]].owner != user],
            "IsActiveEntity eq true and HasDraftEntity eq false": [
                one for one in all_active if self.rows[one[1]].owner is None
            ],
            f"{BY_ANOTHER} and {IN_PROCESS} ne ''": [
                (row.active or "", key, True) for key, row in of_others if self.locked(row)
            ],
            f"{BY_ANOTHER} and {IN_PROCESS} eq ''": [
                (row.active or "", key, True) for key, row in of_others if not self.locked(row)
            ],
        }
        for condition, rows in expected.items():
            chosen = f"startswith(name,'{self.mark}') and {condition}"
            path = f"Promotions?$filter={chosen}&$orderby=name&$select=name&$count=true".replace(" ", "%20")
            found = self.desk.read(path, user=user)
            shown = [(row["name"], *key_of(row)) for row in found["value"]]
            assert shown == sorted(rows), f"{user} {condition}: {self.told}"
            assert int(found["@odata.count"]) == len(rows)


@pytest.mark.parametrize("number", [1, 2])
def test_two_users_always_see_the_rows_that_the_model_predicts(desk: Desk, seed: int, number: int) -> None:
    floor = Floor(desk, random.Random(seed + number), desk.unique("H"))
    for _ in range(STEPS):
        floor.step()
        floor.check(floor.chance.choice((ANNA, BEN)))
