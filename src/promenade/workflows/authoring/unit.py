"""The state of one authoring unit: its user and time, its faults so far, and its writes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, cast

from promenade.errors import Conflict, Detail, Invalid
from promenade.model.access.groups import Outside
from promenade.model.declare import Service
from promenade.store.authoring.statements import Columns, Delta, Row
from promenade.store.authoring.trail import Action
from promenade.store.driver.unit import Session
from promenade.workflows.authoring.shapes import MANAGED, Shape

__all__ = ["Act", "Decision", "Delta", "Faults", "Row", "Unit", "Verb", "Write", "action_of"]


class Act(StrEnum):
    """The kind of write."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


Verb = Literal[
    "activate", "addPromotions", "approve", "archive", "ask", "cancel", "copy", "deactivate", "decline", "end",
    "endPilot", "enrol", "exhaust", "expire", "extend", "generateCodes", "grant", "issueCoupon", "lock",
    "promoteToActive", "recharge", "reject", "removePromotion", "schedule", "start", "startPilot", "submit", "unlock",
    "withdraw", "withdrawTokens",
]  # fmt: skip
"""What is done to a row beside being written."""


def action_of(verb: Verb) -> Action:
    """Return what the audit trail tells of a verb: ``startPilot`` becomes START_PILOT."""
    code = "".join(f"_{letter}" if letter.isupper() else letter for letter in verb).upper()
    return cast("Action", code)  # a test has them all


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of somebody who may decide about a submitted promotion: ``approve`` or ``reject``."""

    verb: str
    reason: str | None


@dataclass(slots=True, eq=False)
class Write:
    """A row that is created, changed or deleted.

    ``before`` is None for a new row, ``after`` is empty for a deleted one. ``path`` leads to the row in the request
    (``posGroups/0/``), ``given`` are the columns in the request. ``is_named``: the caller asked for this row itself;
    others come with it. ``is_touched``: something that it owns changes. ``emptied``: entity sets, each with its
    owner column, from which everything that this row owns is deleted.
    """

    shape: Shape
    act: Act
    id: str
    path: str
    before: Columns | None
    after: Columns
    given: frozenset[str] = frozenset()
    is_named: bool = False
    is_touched: bool = False
    has_own_id: bool = False  # new row: the client chose its ID
    verb: Verb | None = None  # of its state transition
    note: str | None = None  # in the audit trail, instead of the names of the changed fields
    emptied: list[tuple[str, str]] = field(default_factory=list)
    top: tuple[Shape, Columns] | None = None  # the topmost row that it is part of

    @property
    def set_name(self) -> str:
        return self.shape.set_name

    @property
    def place(self) -> str:
        """The first part of the path: the index among many rows; empty for a single row."""
        return self.path.partition("/")[0]

    def target(self, column: str) -> str:
        """Return the path to a property in the request."""
        return f"{self.path}{self.shape.wires.get(column, column)}"

    def differs(self, *columns: str) -> bool:
        """Return whether any of ``columns`` changes; for a new row, whether any has a value."""
        if self.before is None:
            return any(self.after.get(column) is not None for column in columns)
        if self.act is Act.DELETE:
            return True
        return any(self.before[column] != self.after[column] for column in columns)

    @property
    def changed(self) -> tuple[str, ...]:
        """The columns of an updated row that change, except its time stamps."""
        before = self.before
        if before is None or self.act is Act.DELETE:
            return ()
        return tuple([name for name, value in self.after.items() if name not in MANAGED and before[name] != value])

    @property
    def verb_code(self) -> Action:
        """The verb in the audit trail: ``startPilot`` becomes START_PILOT; without a transition the act."""
        if self.verb is None:
            return self.act.value
        return action_of(self.verb)

    @property
    def is_effective(self) -> bool:
        """Whether there is anything to write."""
        return self.act is not Act.UPDATE or self.is_touched or bool(self.emptied or self.changed)


class Faults:
    """All faults of one request, reported together: invalid values before conflicts."""

    def __init__(self) -> None:
        self.told_max = 50  # details in one error; with many rows all are reported
        self.in_turn = False  # rows are checked as if they came one after the other
        self._invalid: list[Detail] = []
        self._conflicts: list[Conflict] = []

    def add(self, fault: Detail | Conflict) -> None:
        """Add a fault: a detail makes the request invalid (400); conflicts give a 409 if nothing is invalid."""
        if isinstance(fault, Detail):
            self._invalid.append(fault)
        else:
            self._conflicts.append(fault)

    def extend(self, faults: Iterable[Detail]) -> None:
        """Add details, which make the request invalid."""
        self._invalid += faults

    @contextmanager
    def telling_all(self, *, in_turn: bool = False) -> Iterator[None]:
        """Report all faults, however many there are: for many rows at once.

        ``in_turn``: each row gets the faults it would have if it came alone after the valid ones before it.
        """
        before = self.told_max, self.in_turn
        self.told_max, self.in_turn = sys.maxsize, in_turn
        try:
            yield
        finally:
            self.told_max, self.in_turn = before

    @property
    def faulty(self) -> set[str]:
        """The places (`Write.place`) of all rows with faults."""
        return self.invalid | {_place(one.target) for one in self._conflicts}

    @property
    def invalid(self) -> set[str]:
        """The places of rows that are invalid in themselves."""
        return {_place(one.target) for one in self._invalid}

    def forget(self) -> None:
        """Drop all faults."""
        self._invalid, self._conflicts = [], []

    def raise_unsafe(self) -> None:
        """Raise at once if a value must not even be sent to the database."""
        unsafe = [one for one in self._invalid if one.code in ("INVALID_CHARACTER", "TOO_LONG")]
        if unsafe and self.in_turn:  # the other rows' faults are reported once these rows are removed
            places = {_place(one.target) for one in unsafe}
            self._invalid = [one for one in self._invalid if _place(one.target) in places]
        if unsafe:
            self.raise_any()

    def __bool__(self) -> bool:
        return bool(self._invalid or self._conflicts)

    def raise_any(self) -> None:
        """Raise Invalid or Conflict if there are faults, and drop them."""
        invalid, conflicts = self._invalid, self._conflicts
        if invalid and self.in_turn:
            others = self.invalid
            invalid += [_detail(one) for one in conflicts if _place(one.target) not in others]
        self._invalid, self._conflicts = [], []
        if invalid:
            first = invalid[0]
            raise Invalid(first.code, first.message, first.target, invalid[: self.told_max] if len(invalid) > 1 else ())
        if conflicts:
            one = conflicts[0]
            details = [_detail(each) for each in conflicts[: self.told_max]]
            raise Conflict(one.code, one.message, one.target, details if len(details) > 1 else ())


def _detail(fault: Conflict) -> Detail:
    return Detail(fault.code, fault.message, fault.target)


def _place(target: str | None) -> str:
    return (target or "").partition("/")[0]


@dataclass(slots=True)
class Unit:
    """The state of one unit of work.

    ``http_hosts`` may be called with plain http; ``by_clock``: caused by time, not by a user; ``outside``: what an
    outside issuer says of the user; ``written``: the writes that have reached the database, ``planned``: the number
    of rows requested.
    """

    session: Session
    user: str
    at: datetime
    new_id: Callable[[], str]
    service: Service
    importing: bool = False
    http_hosts: frozenset[str] = frozenset()
    by_clock: bool = False
    outside: Outside | None = None
    faults: Faults = field(default_factory=Faults)
    written: list[Write] = field(default_factory=list)
    planned: int = 0
    subjects: dict[tuple[str, str], list[Write]] = field(default_factory=dict)  # what affects prices, with its writes
    decisions: dict[str, Decision] = field(default_factory=dict)  # by promotion
    shown_once: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    @property
    def tenant(self) -> str:
        if self.session.tenant is None:
            raise ValueError("authoring needs a session with a tenant")
        return self.session.tenant

    def ids_of(self, kind: str) -> list[str]:
        """The rows of a kind of `pricing.changes` that this unit has changed, or something that belongs to them."""
        return sorted(key for one, key in self.subjects if one == kind)

    def row_of(self, shape: Shape, row_id: str) -> Columns:
        """Return a new row with its defaults and time stamps."""
        row: Columns = {**shape.defaults, "id": row_id}
        if shape.entity.managed:
            row |= {"created_at": self.at, "created_by": self.user, "modified_at": self.at, "modified_by": self.user}
        return row

    def stamps(self, shape: Shape) -> Columns:
        """Return the columns that every change of a row sets."""
        return {"modified_at": self.at, "modified_by": self.user} if shape.entity.managed else {}
