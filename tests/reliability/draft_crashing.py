"""Processes that die while they activate a draft: `python -m tests.reliability.draft_crashing new|replacement URL`.

For step 1, 2, 3 ... a forked process creates the draft of a promotion of its own, P1, P2, P3 ..., activates it, and
exits before the activation's n-th statement, as in a power failure. The last process has no n-th statement and
completes. Prints how many processes died.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from promenade.store.driver.session import open_database
from tests.reliability.crashing import DyingDatabase, die_before_each_statement, in_child
from tests.workflows.drafts.editor import Editor
from tests.workflows.shop import identity

__all__ = ["NEW", "OLD", "PLACES", "editor_at"]

OLD, NEW = "Old", "New"
PLACES = ("kept", "dropped", "added")
"""The first two are where a promotion of before runs; the draft drops one and adds one."""


@asynccontextmanager
async def editor_at(url: str) -> AsyncIterator[Editor]:
    """Open an editor of the database."""
    database = await open_database(url)
    try:
        yield Editor(database)
    finally:
        await database.close()


async def prepare(url: str) -> None:
    async with editor_at(url) as editor:
        for name in PLACES:
            await editor.create("PosGroups", ID=identity(name), code=name, name=name, currency="EUR")


async def begin(editor: Editor, verb: str, number: int) -> str:
    """Create a draft that is ready to be activated; return the ID of its promotion."""
    promotion_id = identity(f"P{number}")
    parts = [{"posGroup_ID": identity(name)} for name in PLACES[:2]]
    if verb == "new":
        await editor.begin("Promotions", ID=promotion_id, name=NEW, code=f"P{number}", posGroups=parts)
        return promotion_id
    row = {"ID": promotion_id, "name": OLD, "code": f"P{number}", "posGroups": parts}
    await editor.create_row("Promotions", {**row, "calculationConfig": {}})
    await editor.edit("Promotions", promotion_id)
    await editor.change("Promotions", promotion_id, name=NEW, calculationConfig=None)
    for part in await editor.draft_rows("PromotionPosGroups", promotion_ID=promotion_id):
        if part["posGroup_ID"] == identity("dropped"):
            await editor.discard("PromotionPosGroups", part["ID"])
    added = {"promotion_ID": promotion_id, "posGroup_ID": identity("added")}
    await editor.begin("PromotionPosGroups", **added)
    return promotion_id


async def activate(url: str, verb: str, step: int) -> None:
    async with editor_at(url) as editor:
        promotion_id = await begin(editor, verb, step)
        editor.database = DyingDatabase(editor.database, step)
        await editor.activate("Promotions", promotion_id)


def main(verb: str, url: str) -> None:
    assert in_child(lambda: prepare(url)) == 0
    die_before_each_statement(lambda step: activate(url, verb, step))


if __name__ == "__main__":
    main(*sys.argv[1:])
