"""The transitions of coupon codes and of reservations, as data: from, to, condition, and what the log says.

Each is one conditional update whose row count is the answer. Whether something has run out is part of the condition, so
nothing depends on a sweeper (reliability C1 to C3). The statements of both databases are made from these rows: by
SQLAlchemy, or as text for the hot statements of `store.coupons.edges`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from sqlalchemy import ColumnElement, Dialect, Table, and_, case, func, literal_column, or_, select, true, update
from sqlalchemy.dialects import sqlite

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
_USAGE = table("coupon_usage")
_RESERVATIONS = table("coupon_reservations")

ALWAYS: ColumnElement[bool] = true()


@dataclass(frozen=True, eq=False)
class Transition:
    """Rows go from one of the states ``sources`` to ``target``; what varies are the parameters named below.

    ``sources`` has what must hold in each state, besides ``condition``. ``sets`` are the columns that are written along
    with the state. ``log`` is the action in RedemptionLogs; empty: the transition has no entry of its own.
    """

    sources: Mapping[str, ColumnElement[bool]]
    target: str | ColumnElement[str]
    condition: ColumnElement[bool] = ALWAYS
    sets: Mapping[str, Any] = field(default_factory=dict)
    log: str = ""
    rows: Table = _CODES

    @property
    def _state(self) -> ColumnElement[Any]:
        return self.rows.c.status if self.rows is _CODES else self.rows.c.state

    @property
    def where(self) -> ColumnElement[bool]:
        """Whether a row can make the transition."""
        # So written, no index is used for the state: a table that was never analyzed looks as if few rows had it.
        state = func.coalesce(self._state, "")
        return and_(or_(*(and_(state == source, extra) for source, extra in self.sources.items())), self.condition)

    def in_state(self, source: str) -> ColumnElement[bool]:
        """Whether a row can make the transition from this state; for queries that find such rows by an index."""
        return and_(self._state == source, self.sources[source], self.condition)

    @property
    def values(self) -> dict[str, Any]:
        """The columns that are written."""
        return {str(self._state.key): self.target, **self.sets}

    @cached_property
    def one(self) -> Kept:
        """The statement for the row with the ID ``id``."""
        its = self.rows.c.id == _given("id", self.rows.c.id)
        return Kept(update(self.rows).where(its, self.where).values(self.values))

    def where_text(self, dialect: str, places: Mapping[str, int], source: str = "") -> str:
        """`where`, or `in_state` of a ``source``, in a hot statement whose parameters are at these ``places``."""
        return _text(self.in_state(source) if source else self.where, dialect, places)

    def set_text(self, dialect: str, places: Mapping[str, int], **instead: str) -> str:
        """`values` as part of a hot statement; ``instead`` has the text of single columns."""
        texts = {name: instead.get(name) or _text(value, dialect, places) for name, value in self.values.items()}
        return ", ".join(f"{name} = {text}" for name, text in texts.items())


@cache
def _dialect(name: str) -> Dialect:
    if name == "sqlite":
        return sqlite.dialect(paramstyle="named")
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - takes long to load, and a server on SQLite needs none

    return postgresql.dialect(paramstyle="pyformat")  # type: ignore[no-untyped-call]


_PLACES = {"postgresql": re.compile(r"%\((\w+)\)s"), "sqlite": re.compile(r":(\w+)")}


def _text(value: object, dialect: str, places: Mapping[str, int]) -> str:
    """An expression or a value as text, its parameters as $1 or :p1 and so on."""
    if not isinstance(value, ColumnElement):
        return _literal(value)
    compiled = value.compile(dialect=_dialect(dialect))
    mark = "$" if dialect == "postgresql" else ":p"

    def placed(found: re.Match[str]) -> str:
        name = found[1]
        return f"{mark}{places[name]}" if name in places else _literal(compiled.params[name])

    return f"({_PLACES[dialect].sub(placed, str(compiled))})"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) and "'" not in value:
        return f"'{value}'"
    raise TypeError(f"{value!r} cannot be written into the text of a statement")


# ---- conditions -----------------------------------------------------------------------------------------------------


def _given(name: str, column: ColumnElement[Any]) -> ColumnElement[Any]:
    return parameter(name, column.type)


_AT = _given("at", _CODES.c.modified_at)
_TRANSACTION = _given("transaction", _CODES.c.reserved_by_transaction_id)
_CUSTOMER = _given("customer", _CODES.c.customer_id)
_RESERVATION = _given("reservation", _CODES.c.reservation_ref)  # or the ID of a store's lease

_UNSPENT = _CODES.c.redeemed_transaction_id.is_(None)
_RUN_OUT = or_(_CODES.c.reserved_until.is_(None), _CODES.c.reserved_until <= _AT)
_NOT_OVER = or_(_CODES.c.valid_until.is_(None), _CODES.c.valid_until > _AT)
HAS_RUN_OUT = and_(_CODES.c.status == "RESERVED", _UNSPENT, _RUN_OUT)
"""A code was reserved, nobody spent it, and the reservation has run out."""


def _runs(rows: Table, end: str) -> ColumnElement[bool]:
    begins, ends = rows.c.valid_from, rows.c[end]
    return and_(or_(begins.is_(None), begins <= _AT), or_(ends.is_(None), ends > _AT))


_TYPE_RUNS = and_(_TYPES.c.status == "ACTIVE", _runs(_TYPES, "valid_to"))
_RUNS = and_(
    _runs(_CODES, "valid_until"),
    select(_TYPES.c.id)
    .where(
        _TYPES.c.tenant_id == _given("tenant", _TYPES.c.tenant_id),
        _TYPES.c.id == _given("type", _TYPES.c.id),
        _TYPE_RUNS,
    )
    .exists(),
)


def _outer(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A column of a statement around a query; SQLAlchemy would make the query read the column's table itself."""
    return literal_column(str(column), column.type)


def _has_room(limit: ColumnElement[Any], customer: Any) -> ColumnElement[bool]:
    uses = select(_USAGE.c["count"]).where(
        _USAGE.c.tenant_id == _outer(_TYPES.c.tenant_id),
        _USAGE.c.coupon_type_id == _outer(_TYPES.c.id),
        _USAGE.c.customer_id == customer,
    )
    return or_(limit.is_(None), func.coalesce(uses.scalar_subquery(), 0) < limit)


_TAKEABLE = and_(  # of a code with its type
    _UNSPENT,
    or_(_CUSTOMER.is_(None), _CODES.c.customer_id.is_(None), _CODES.c.customer_id == _CUSTOMER),
    _runs(_CODES, "valid_until"),
    _TYPES.c.code_type != "GENERIC",
    _TYPE_RUNS,
    _has_room(_TYPES.c.max_redemptions, ""),
    _has_room(_TYPES.c.max_redemptions_per_customer, func.coalesce(_CUSTOMER, _outer(_CODES.c.customer_id))),
)

# ---- what is written ------------------------------------------------------------------------------------------------

_COUNTED = {"version": _CODES.c.version + 1}
_WRITTEN = {**_COUNTED, "modified_at": _AT}
_RESERVED = {
    "reservation_ref": _RESERVATION,
    "reserved_until": _given("until", _CODES.c.reserved_until),
    "reserved_by_transaction_id": _TRANSACTION,
    **_WRITTEN,
}
_FREED = {"reservation_ref": None, "reserved_until": None, "reserved_by_transaction_id": None, **_WRITTEN}
_USED = {"redeemed_at": _AT, "redemption_count": _CODES.c.redemption_count + 1}
_CLAIMED = {
    "reservation_ref": case(
        (_CODES.c.reserved_by_transaction_id == _TRANSACTION, _CODES.c.reservation_ref), else_=None
    ),
    "reserved_until": None,
    "reserved_by_transaction_id": _TRANSACTION,
    "redeemed_transaction_id": _TRANSACTION,
    **_WRITTEN,
}

# ---- codes of a pool ------------------------------------------------------------------------------------------------

ISSUE = Transition(
    {"ACTIVE": _CODES.c.issued_at.is_(None)},
    _given("status", _CODES.c.status),
    and_(_CODES.c.source != "EXTERNAL", _NOT_OVER),
    {
        "customer_id": _CUSTOMER,
        "issued_at": _AT,
        "issuing_promotion_id": _given("promotion", _CODES.c.issuing_promotion_id),
        "issuing_transaction_id": _given("issued_under", _CODES.c.issuing_transaction_id),
        "issuance_channel": _given("channel", _CODES.c.issuance_channel),
        "issue_reason": _given("reason", _CODES.c.issue_reason),
        "issue_metadata": _given("metadata", _CODES.c.issue_metadata),
        # Without an end of its own, the code keeps the one it may have from the pool.
        "valid_until": func.coalesce(_given("ends", _CODES.c.valid_until), _CODES.c.valid_until),
        "modified_by": _given("user", _CODES.c.modified_by),
        **_WRITTEN,
    },
    "ISSUED",
)
"""To a customer or to nobody in particular: ACTIVE, or CREATED until the customer activates it."""

# ---- codes at the till ----------------------------------------------------------------------------------------------

TAKE = Transition({"ACTIVE": ALWAYS}, "RESERVED", _TAKEABLE, _RESERVED, "RESERVED")
HOLD = Transition(
    {"ACTIVE": ALWAYS, "RESERVED": _RUN_OUT},
    "RESERVED",
    and_(_UNSPENT, _CODES.c.reservation_ref.is_not_distinct_from(_given("seen", _CODES.c.reservation_ref)), _RUNS),
    _RESERVED,
    "RESERVED",
)
_LIVES = and_(_CODES.c.reservation_ref == _RESERVATION, _CODES.c.reserved_until > _AT)
REDEEM = Transition(
    {"RESERVED": and_(_LIVES, _CODES.c.reserved_by_transaction_id == _TRANSACTION)},
    "REDEEMED",
    and_(_UNSPENT, _RUNS),
    {**_USED, "redeemed_transaction_id": _TRANSACTION, **_WRITTEN},
    "REDEEMED",
)
CANCEL = Transition({"RESERVED": _LIVES}, "ACTIVE", _UNSPENT, _FREED, "CANCELLED")
ACTIVATE = Transition({"CREATED": ALWAYS}, "ACTIVE", _NOT_OVER, _WRITTEN, "ACTIVATED")

# ---- codes of a confirmed sale: claimed in its unit of work, finished by its worker ---------------------------------

CLAIM = Transition(
    {"ACTIVE": ALWAYS, "RESERVED": _CODES.c.reserved_by_transaction_id == _TRANSACTION},
    "RESERVED",
    and_(_UNSPENT, _NOT_OVER),
    _CLAIMED,
)
CLAIM_RUN_OUT = replace(CLAIM, sources={"RESERVED": _RUN_OUT})
FINISH = Transition(
    {"RESERVED": _CODES.c.redeemed_transaction_id == _TRANSACTION},
    "REDEEMED",
    sets={**_USED, **_WRITTEN},
    log="REDEEMED",
)
COUNT = Transition(
    {"ACTIVE": ALWAYS}, "ACTIVE", _NOT_OVER, {**_USED, "redeemed_transaction_id": _TRANSACTION}, "REDEEMED"
)
"""A code that many share stays as it is, and counts."""

# ---- codes whose sale is undone -------------------------------------------------------------------------------------

_OF_SALE = _CODES.c.redeemed_transaction_id == _TRANSACTION
_NEVER_SPENT = {"redeemed_at": None, "redeemed_transaction_id": None, **_FREED}
REACTIVATE = Transition({"REDEEMED": _OF_SALE, "RESERVED": _OF_SALE}, "ACTIVE", _RUNS, {
    "redemption_count": case((_CODES.c.status == "REDEEMED", _CODES.c.redemption_count - 1),
                             else_=_CODES.c.redemption_count),
    **_NEVER_SPENT,
}, "REACTIVATED")  # fmt: skip
"""Of a code that was spent in the sale, finished or not: as if it had not been spent."""
UNCOUNT = Transition({"ACTIVE": ALWAYS}, "ACTIVE", _CODES.c.redemption_count > 0, {
    "redemption_count": _CODES.c.redemption_count - 1, **_WRITTEN,
}, "REACTIVATED")  # fmt: skip
"""A code that many share is spent once less."""
END_EARNED = Transition(
    {"CREATED": ALWAYS, "ACTIVE": ALWAYS, "RESERVED": ALWAYS}, "CANCELLED", _UNSPENT, _FREED, "CANCELLED"
)
"""Of a code that the sale had earned; a till that has reserved it cannot redeem it any more."""

# ---- codes and time -------------------------------------------------------------------------------------------------

EXPIRE = Transition({"CREATED": ALWAYS, "ACTIVE": ALWAYS, "RESERVED": _UNSPENT}, "EXPIRED", log="EXPIRED")
"""Of a code that is over. One that a sale has claimed is spent, whatever its validity; a worker is to finish that."""
RELEASE = Transition({"RESERVED": and_(_UNSPENT, _CODES.c.reserved_until <= _AT)}, "ACTIVE", log="CANCELLED")

# ---- codes that stores hold -----------------------------------------------------------------------------------------

_LEASED = {**_RESERVED, "reserved_by_transaction_id": None}
LEASE = Transition({"ACTIVE": ALWAYS, "CREATED": ALWAYS, "RESERVED": _RUN_OUT}, "RESERVED", _UNSPENT, _LEASED)
LEASE_AGAIN = Transition({"RESERVED": ALWAYS}, "RESERVED", _UNSPENT, _LEASED)
RETURN = Transition(
    {"RESERVED": ALWAYS},
    _given("status", _CODES.c.status),
    and_(_CODES.c.reservation_ref == _RESERVATION, _CODES.c.reserved_by_transaction_id.is_(None), _UNSPENT),
    _FREED,
)
RETURN_TO_SALE = replace(RETURN, sources={"RESERVED": ALWAYS, "EXPIRED": ALWAYS}, target="ACTIVE")
"""A sale of the store spends it, whose time counts: what has ended since is ACTIVE again."""
REVIVE = Transition({"EXPIRED": ALWAYS}, "ACTIVE", and_(_UNSPENT, _NOT_OVER), _COUNTED)

# ---- reservations of shared codes -----------------------------------------------------------------------------------

_ENDED = {"ended_at": _AT}
_STILL = _RESERVATIONS.c.reserved_until > _AT
REDEEM_SHARED = Transition({"HELD": _STILL}, "REDEEMED", sets=_ENDED, log="REDEEMED", rows=_RESERVATIONS)
CANCEL_SHARED = Transition({"HELD": _STILL}, "CANCELLED", sets=_ENDED, log="CANCELLED", rows=_RESERVATIONS)
SETTLE_SHARED = Transition({"HELD": ALWAYS}, "REDEEMED", sets=_ENDED, rows=_RESERVATIONS)
END_SHARED = Transition({"HELD": ~_STILL}, "CANCELLED", sets=_ENDED, log="CANCELLED", rows=_RESERVATIONS)

TRANSITIONS: Mapping[str, Transition] = {
    name: value for name, value in list(globals().items()) if isinstance(value, Transition)
}
"""All of them by name."""
