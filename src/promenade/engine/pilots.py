"""Which arm of a pilot or an experiment a POS group is in (pricing semantics, sections 2.4 and 9).

The choice is a stable hash, so every process and every replay makes the same one, whatever else changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from promenade.engine.definition import PilotRow


def treated_groups(pilot: PilotRow) -> frozenset[str]:
    """The part of the pilot arm that gets the promotion: the first ceil(share x n) by hash of (config, group)."""
    count = -(-pilot.share_hundredths * len(pilot.pilot_pos_groups) // 100)
    return frozenset(_by_hash(pilot.config_id, pilot.pilot_pos_groups)[:count])


def control_groups(pilot: PilotRow) -> frozenset[str]:
    """The control arm, capped at ``control_group_size`` (0 = no cap) by the same hash; never a treated group."""
    ordered = _by_hash(pilot.config_id, pilot.control_pos_groups)
    capped = ordered[: pilot.control_group_size] if pilot.control_group_size > 0 else ordered
    return frozenset(capped) - treated_groups(pilot)


def _by_hash(config_id: str, groups: Iterable[str]) -> list[str]:
    return sorted(groups, key=lambda group: sha256(f"{config_id}/{group}".encode()).digest())
