"""The administration writes every entity set in its mode: directly, by drafts, and parts through their root."""

from __future__ import annotations

from promenade import model
from promenade.errors import Forbidden, NotAllowed
from promenade.model.declare import DRAFT, DRAFT_NODE, NONE, PLAIN, RO
from promenade.store.drafts.rows import parts_of
from tests.workflows.drafts.editor import Editor, refusal

STORED = [entity for entity in model.entities() if entity.stored and entity.key == ("id",)]
OF_AN_OUTSIDE_ISSUER = {"GroupRoles"}  # its users alone write them: tests/web/access/tokens/test_group_roles.py
DIRECT = sorted({entity.set_name for entity in STORED if entity.admin in (PLAIN, DRAFT)} - OF_AN_OUTSIDE_ISSUER)
NODES = [entity.set_name for entity in STORED if entity.admin is DRAFT_NODE]
CLOSED = [entity.set_name for entity in STORED if entity.admin in (NONE, RO)]


async def test_active_rows_are_written_directly(ann: Editor) -> None:
    for set_name in DIRECT:
        key = await ann.given(set_name)
        await ann.update(set_name, key)
        await ann.remove(set_name, key)
        assert await ann.rows(set_name, ID=key) == [], set_name


async def test_parts_of_active_rows_are_written_through_their_root(ann: Editor) -> None:
    for set_name in NODES:
        await down_and_up_again(ann, set_name)


async def down_and_up_again(ann: Editor, set_name: str) -> None:
    """Change a part only through its root, in both directions; never address the part directly."""
    row = await ann.sample(set_name)
    chain = [set_name]
    while (owner := model.entity(chain[-1]).owner) is not None:
        chain.append(owner.target)
        (part,) = [one for one in parts_of(owner.target) if one.parent == owner.target and one.set_name == chain[-2]]
        row.pop(owner.property_wire, None)
        value = [row] if part.composition.many else row
        row = await ann.sample(owner.target) | {part.composition.wire: value}
    before = {one["ID"] for one in await ann.rows(set_name)}
    root = await ann.create_row(chain[-1], row)
    assert len({one["ID"] for one in await ann.rows(set_name)} - before) == 1
    await ann.remove(chain[-1], root)
    assert {one["ID"] for one in await ann.rows(set_name)} == before
    error = await refusal(
        ann.draft_unit(lambda drafts: drafts.admit_active_write(set_name, root, removing=False)), Forbidden
    )
    assert error.code == "ONLY_THROUGH_DRAFT"


async def test_sets_closed_to_the_administration_are_read_only(ann: Editor) -> None:
    for set_name in CLOSED:
        assert (await refusal(ann.create(set_name), NotAllowed)).code == "READ_ONLY", set_name


def test_the_model_fulfils_the_assumptions_of_drafts() -> None:
    """A part has one owner, given by its composition, and roots have none."""
    for entity in STORED:
        if entity.admin is DRAFT:
            assert entity.owner is None
            parts = parts_of(entity.set_name)
            assert len({one.set_name for one in parts}) == len(parts)
            for part in parts:
                owner = model.entity(part.set_name).owner
                assert (owner and owner.column, model.entity(part.set_name).admin) == (part.column, DRAFT_NODE)
    covered = {one.set_name for entity in STORED if entity.admin is DRAFT for one in parts_of(entity.set_name)}
    assert covered == set(NODES)
