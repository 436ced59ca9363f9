"""State machines as tables (data model, "State machines"): verbs, with their source and target states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from promenade.errors import Conflict, Detail
from promenade.workflows.authoring.unit import Verb


@dataclass(frozen=True, slots=True)
class Move:
    """A transition. ``sources`` None: any state. ``by_patch``: a client may make it by writing the status.

    ``never_patched_from``: states that can only be left by an action. ``when_binding``: further sources, for an action,
    where approval is binding.
    """

    verb: Verb
    sources: frozenset[str] | None
    target: Any
    by_patch: bool = True
    column: str = "status"
    never_patched_from: frozenset[str] = frozenset()
    when_binding: frozenset[str] = frozenset()

    def starts_at(self, state: Any, *, binding: bool = False) -> bool:
        return self.sources is None or state in self.sources or (binding and state in self.when_binding)


@dataclass(frozen=True, slots=True)
class Machine:
    """The state machine of an entity set. ``initial``: the allowed states of a new row."""

    initial: frozenset[str]
    moves: tuple[Move, ...]

    def patched(self, state: str, wanted: str) -> Move | None:
        """Return the transition when a client writes ``wanted`` in ``state``; None: not allowed."""
        for move in self.moves:
            if move.column == "status" and move.by_patch and move.target == wanted and move.starts_at(state):
                return None if state in move.never_patched_from else move
        return None

    def by_verb(self, verb: str) -> tuple[Move, ...]:
        """Return the transitions of a verb. Raises KeyError if there is none."""
        moves = tuple([move for move in self.moves if move.verb == verb])
        if not moves:
            raise KeyError(verb)
        return moves


def invalid_transition(set_name: str, state: Any, wanted: Any, target: str | None) -> Conflict:
    """Return the fault of a transition that the machine does not have."""
    message = f"One of {set_name} that is {state} cannot become {wanted} this way."
    return Conflict("INVALID_TRANSITION", message, target)


def invalid_initial(machine: Machine, wanted: Any, target: str) -> Detail:
    """Return the fault of a new row in a state that is not initial."""
    message = f"{target} of a new row must be {' or '.join(sorted(machine.initial))}, not {wanted}."
    return Detail("INVALID_INITIAL_STATUS", message, target)


def _move(
    verb: Verb, sources: str | None, target: str, *, by_patch: bool = True, but_from: str = "", when_binding: str = ""
) -> Move:
    before = None if sources is None else _states(sources)
    return Move(
        verb, before, target, by_patch, never_patched_from=_states(but_from), when_binding=_states(when_binding)
    )


def _states(names: str) -> frozenset[str]:
    return frozenset(names.split())


MACHINES: Mapping[str, Machine] = MappingProxyType(
    {
        "Promotions": Machine(
            _states("DRAFT INACTIVE ACTIVE"),
            (
                _move("submit", "DRAFT REJECTED", "PENDING_APPROVAL", when_binding="APPROVED INACTIVE EXPIRED"),
                _move("approve", "PENDING_APPROVAL", "APPROVED"),
                _move("reject", "PENDING_APPROVAL", "REJECTED"),
                _move("activate", None, "ACTIVE", but_from="PILOT"),
                _move("deactivate", None, "INACTIVE", but_from="PILOT"),
                _move("startPilot", "DRAFT APPROVED INACTIVE", "PILOT", by_patch=False),
                _move("promoteToActive", "PILOT", "ACTIVE", by_patch=False),
                _move("endPilot", "PILOT", "INACTIVE", by_patch=False),
                _move("expire", "ACTIVE PILOT", "EXPIRED", by_patch=False),
                _move("archive", "DRAFT REJECTED INACTIVE EXPIRED", "ARCHIVED"),
            ),
        ),
        "Campaigns": Machine(
            _states("DRAFT SCHEDULED ACTIVE"),
            (
                _move("schedule", "DRAFT CANCELLED", "SCHEDULED"),
                _move("cancel", "DRAFT SCHEDULED ACTIVE", "CANCELLED"),
                _move("start", "SCHEDULED", "ACTIVE", by_patch=False),
                _move("end", "ACTIVE", "COMPLETED", by_patch=False),
                Move("lock", None, True, by_patch=False, column="locked"),
                Move("unlock", None, False, by_patch=False, column="locked"),
            ),
        ),
        "Budgets": Machine(
            _states("DRAFT SCHEDULED ACTIVE"),
            (
                _move("activate", "DRAFT", "ACTIVE"),
                _move("activate", "DRAFT", "SCHEDULED"),
                _move("start", "SCHEDULED", "ACTIVE", by_patch=False),
                _move("exhaust", "ACTIVE", "EXHAUSTED", by_patch=False),
                _move("recharge", "EXHAUSTED", "ACTIVE", by_patch=False),
                _move("expire", "SCHEDULED ACTIVE EXHAUSTED", "EXPIRED", by_patch=False),
                _move("extend", "EXPIRED", "ACTIVE", by_patch=False),
                _move("extend", "EXPIRED", "SCHEDULED", by_patch=False),
            ),
        ),
        "BudgetRequests": Machine(
            _states("OPEN"),
            (
                _move("grant", "OPEN", "GRANTED", by_patch=False),
                _move("decline", "OPEN", "DECLINED", by_patch=False),
                _move("withdraw", "OPEN", "WITHDRAWN", by_patch=False),
            ),
        ),
        "CouponTypes": Machine(
            _states("INACTIVE ACTIVE"),
            (_move("activate", None, "ACTIVE"), _move("deactivate", None, "INACTIVE")),
        ),
        "CouponCodes": Machine(
            _states("CREATED ACTIVE"),
            (
                _move("cancel", "CREATED ACTIVE", "CANCELLED"),
                _move("activate", "CREATED", "ACTIVE", by_patch=False),
                _move("expire", "CREATED ACTIVE RESERVED", "EXPIRED", by_patch=False),
            ),
        ),
    }
)
