"""Writes reach the database set-wise and in an order that its constraints admit at every moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from promenade.store.authored import delete_rows, insert_rows, update_rows
from promenade.workflows.authoring.unit import Act, Unit, Write

__all__ = ["flush"]


async def flush(unit: Unit, writes: Sequence[Write]) -> None:
    """What goes first, so that its keys are free; owners before what they own."""
    by_set: dict[str, dict[Act, list[Write]]] = {}
    emptied: dict[tuple[str, str], list[str]] = {}
    for write in writes:
        by_set.setdefault(write.set_name, {act: [] for act in Act})[write.act].append(write)
        for part in write.emptied:
            emptied.setdefault(part, []).append(write.id)
    for (set_name, column), owners in emptied.items():
        await delete_rows(unit.session, set_name, owners, column=column)
    for set_name, acts in reversed(by_set.items()):
        if acts[Act.DELETE]:
            await delete_rows(unit.session, set_name, [write.id for write in acts[Act.DELETE]])
    # Rows of an import keep their keys, and one that was there may come to refer to one that is new.
    for act in (Act.CREATE, Act.UPDATE) if unit.faults.in_turn else (Act.UPDATE, Act.CREATE):
        for set_name, acts in by_set.items():
            if acts[act] and act is Act.UPDATE:
                await update_rows(unit.session, set_name, [(one.id, _new_values(unit, one)) for one in acts[act]])
            elif acts[act]:
                await insert_rows(unit.session, set_name, [one.after for one in _referred_first(acts[act])])


def _new_values(unit: Unit, write: Write) -> dict[str, Any]:
    return {name: write.after[name] for name in write.changed} | unit.stamps(write.shape)


def _referred_first(writes: Sequence[Write]) -> list[Write]:
    """New rows of one set, each after those of them that it refers to: a group after the group above it."""
    columns = [one.column for one in writes[0].shape.entity.links if one.target == writes[0].set_name]
    if not columns:
        return list(writes)
    rest = {write.id: write for write in writes}
    ordered: list[Write] = []
    for write in writes:
        chain: list[Write] = []
        one: Write | None = write
        while one is not None and rest.pop(one.id, None) is not None:
            chain.append(one)
            one = next((rest[key] for key in (one.after[column] for column in columns) if key in rest), None)
        ordered += reversed(chain)
    return ordered
