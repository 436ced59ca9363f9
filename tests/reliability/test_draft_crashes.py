"""Activation is atomic: whenever its process dies, either the old active row and its draft exist, or only the new
row.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.kit.databases import Dialect
from tests.kit.service import Service
from tests.reliability.draft_crashing import NEW, OLD, editor_at
from tests.web.drafts.desk import ANNA, BEN, Desk, active, draft, furnish
from tests.workflows.drafts.editor import Editor
from tests.workflows.shop import identity

STATEMENTS_MIN = 8  # an activation with fewer writes has lost a part
KILLS = 3
DRAFTS = 6
PARTS = 12


def die_at_every_statement(verb: str, url: str) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.draft_crashing", verb, url],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return int(done.stdout)


@pytest.mark.parametrize("verb", ["new", "replacement"])
async def test_an_activation_that_dies_before_any_statement_leaves_all_as_it_was(verb: str, database_url: str) -> None:
    died = die_at_every_statement(verb, database_url)
    assert died >= STATEMENTS_MIN
    async with editor_at(database_url) as editor:
        begun = {row["root_id"] for row in await editor.drafts()}
        assert begun == {identity(f"P{number}") for number in range(1, died + 1)}
        for number in range(1, died + 1):
            promotion_id = identity(f"P{number}")
            await check_before(editor, verb, promotion_id)
            assert await editor.activate("Promotions", promotion_id) is (verb == "new")
        for number in range(1, died + 2):
            await check_after(editor, verb, identity(f"P{number}"))
        assert await editor.drafts() == []
        for set_name in ("Promotions", "PromotionPosGroups", "CalculationConfigs"):
            assert await editor.draft_rows(set_name) == []


async def check_before(editor: Editor, verb: str, promotion_id: str) -> None:
    """Check the state before the activation."""
    names = [row["name"] for row in await editor.rows("Promotions", ID=promotion_id)]
    parts = await editor.rows("PromotionPosGroups", promotion_ID=promotion_id)
    settings = await editor.rows("CalculationConfigs", promotion_ID=promotion_id)
    if verb == "new":
        assert (names, parts, settings) == ([], [], [])
        return
    assert names == [OLD]
    assert {part["posGroup_ID"] for part in parts} == {identity("kept"), identity("dropped")}
    assert len(settings) == 1


async def check_after(editor: Editor, verb: str, promotion_id: str) -> None:
    """Check the state after the activation."""
    assert [row["name"] for row in await editor.rows("Promotions", ID=promotion_id)] == [NEW]
    parts = await editor.rows("PromotionPosGroups", promotion_ID=promotion_id)
    left = ("kept", "dropped") if verb == "new" else ("kept", "added")
    assert {part["posGroup_ID"] for part in parts} == {identity(name) for name in left}
    assert await editor.rows("CalculationConfigs", promotion_ID=promotion_id) == []


# ---- a server that is killed --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Begun:
    """A draft to be activated, with or without an active version."""

    entity_id: str
    is_new: bool
    user: str


@pytest.fixture
async def served(database_url: str, dialect: Dialect, logs: Path) -> Any:
    """The service and a client desk for it."""
    await furnish(database_url)
    service = Service(logs / f"draft-crashes-{dialect}.log", "--database-url", database_url).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield service, Desk(service_url=service.url, database_url=database_url, dialect=dialect, http=http)
    service.kill()


def test_a_killed_server_leaves_the_old_row_and_its_draft_or_the_new_row_alone(
    served: tuple[Service, Desk], seed: int
) -> None:
    service, desk = served
    chance = random.Random(seed)
    places = [desk.pos_group() for _ in range(2 * PARTS)]
    begun = [begin(desk, places, number) for number in range(DRAFTS)]
    seconds = time_of_one(desk, begun.pop(0))
    activated = 0
    for _ in range(KILLS):
        begun += [begin(desk, places, number) for number in range(len(begun), DRAFTS)]
        acknowledged = activate_and_kill(service, desk, begun, chance.uniform(0, seconds * len(begun)))
        service.restart()
        left = [one for one in begun if not is_activated(desk, places, one)]
        assert acknowledged.isdisjoint(one.entity_id for one in left)
        activated += len(begun) - len(left)
        begun = left
    for one in begun:
        assert desk.activate(one.entity_id, user=one.user).status_code == (201 if one.is_new else 200)
        assert is_activated(desk, places, one)
    print(f"{activated} activated before {KILLS} kills")


def begin(desk: Desk, places: list[str], number: int) -> Begun:
    """Create a draft with `PARTS` parts: new, or one that replaces all parts of the active version."""
    user = (ANNA, BEN)[number % 2]
    first, second = ([{"posGroup_ID": place} for place in half] for half in (places[:PARTS], places[PARTS:]))
    if number % 3 == 0:
        return Begun(desk.promotion(active=False, user=user, name=NEW, posGroups=second), True, user)
    entity_id = desk.promotion(user=user, name=OLD, posGroups=first)
    assert desk.edit(entity_id, user=user).status_code == 201
    desk.patch(draft(entity_id), {"name": NEW, "posGroups": second}, user=user, status=200)
    return Begun(entity_id, False, user)


def time_of_one(desk: Desk, one: Begun) -> float:
    """Return the duration of an activation in seconds."""
    answer = desk.activate(one.entity_id, user=one.user)
    assert answer.status_code in {200, 201}, answer.text
    return answer.elapsed.total_seconds()


def activate_and_kill(service: Service, desk: Desk, begun: list[Begun], seconds: float) -> set[str]:
    """Kill the server ``seconds`` after the first activation; return the IDs of the acknowledged ones."""
    acknowledged: set[str] = set()
    for user in (ANNA, BEN):
        desk.token(user)

    def activate(one: Begun) -> None:
        with contextlib.suppress(httpx2.TransportError):
            answer = desk.activate(one.entity_id, user=one.user)
            assert answer.status_code in {200, 201}, answer.text
            acknowledged.add(one.entity_id)

    killer = threading.Timer(seconds, service.kill)
    killer.start()
    with ThreadPoolExecutor(2) as clients:
        for done in [clients.submit(activate, one) for one in begun]:
            done.result()
    killer.join()
    return acknowledged


def is_activated(desk: Desk, places: list[str], one: Begun) -> bool:
    """Return whether only the new row exists; fail unless it does, or the old row with the complete draft does."""
    paths = (active(one.entity_id), draft(one.entity_id))
    answers = [desk.get(f"{path}?$expand=posGroups", user=one.user) for path in paths]
    row, its_draft = (answer.json() if answer.status_code == 200 else {} for answer in answers)
    if not its_draft:
        assert (row["name"], parts_of(row)) == (NEW, set(places[PARTS:]))
        assert row["HasDraftEntity"] is False
        return True
    assert (its_draft["name"], parts_of(its_draft)) == (NEW, set(places[PARTS:]))
    if one.is_new:
        assert not row
    else:
        assert (row["name"], parts_of(row), row["HasDraftEntity"]) == (OLD, set(places[:PARTS]), True)
    return False


def parts_of(row: dict[str, Any]) -> set[str]:
    """Return the POS groups of a promotion, which must be distinct."""
    found = [part["posGroup_ID"] for part in row["posGroups"]]
    assert len(found) == len(set(found))
    return set(found)
