"""Small sequential models of a coupon, used by a single till without interference; histories are checked against them.

The service takes the time of a call somewhere between request and answer, so near the end of a reservation two answers
can be right; a model then allows both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf

from tests.reliability.fights.history import Call

__all__ = ["Hold", "IndividualCode", "Use", "check_limits", "held_or_spent", "spent"]

_CLAIMED = "COUPON_ALREADY_CLAIMED"


@dataclass(frozen=True, slots=True)
class Hold:
    """A reservation. ``id`` is empty if its answer was lost."""

    id: str
    transaction: str
    until: datetime

    def may_live(self, call: Call) -> bool:
        return call.since < self.until

    def may_have_ended(self, call: Call) -> bool:
        return call.until >= self.until

    def is_named(self, call: Call) -> bool:
        return not self.id or self.id == str(call.said["reservationId"])


def _made(call: Call) -> Hold:
    """Return the reservation made by a reserve call."""
    ends = call.answer.get("expiresAt")
    until = datetime.fromisoformat(ends) if ends else datetime.max.replace(tzinfo=call.until.tzinfo)
    return Hold(call.answer.get("reservationId", ""), call.said["transactionId"], until)


@dataclass(frozen=True, slots=True)
class IndividualCode:
    """An individual code: free, reserved, or spent by a transaction, perhaps through its reservation."""

    hold: Hold | None = None
    spent_by: str = ""
    spent_with: str = ""

    def step(self, call: Call) -> Iterable[IndividualCode]:
        """See `history.Step`."""
        after: IndividualCode | None = getattr(self, f"_{call.kind}")(call)
        return () if after is None else (after,)

    def _is_free_for(self, call: Call, transaction: str = "") -> bool:
        """Return whether the call may find the code available."""
        hold = self.hold
        return not self.spent_by and (hold is None or hold.transaction == transaction or hold.may_have_ended(call))

    def _is_refused(self, call: Call, reason: str, transaction: str = "") -> IndividualCode | None:
        """Return this state if it can refuse the presented code for that reason, else None."""
        if self.spent_by:
            return self if reason in {"ALREADY_REDEEMED", "REDEEMED_BEFORE", _CLAIMED} else None
        hold = self.hold
        if hold is not None and hold.transaction != transaction and hold.may_live(call):
            return self if reason in {"RESERVED_ELSEWHERE", _CLAIMED} else None
        return None

    def _found(self, call: Call) -> IndividualCode | None:
        """Return this state if the row of the code matches it; an expired reservation may have been swept."""
        spent_by, held_by = call.answer["redeemed_transaction_id"], call.answer["reservation_ref"]
        if (spent_by or "") != self.spent_by:
            return None
        if self.spent_by or self.hold is None:
            return self if self.spent_by or held_by is None else None
        is_held = held_by is not None and self.hold.id in {"", held_by}
        return self if is_held or (held_by is None and self.hold.may_have_ended(call)) else None

    def _validate(self, call: Call) -> IndividualCode | None:
        if call.outcome == "refused":
            return self._is_refused(call, call.code)
        return self if self._is_free_for(call) else None

    def _evaluate(self, call: Call) -> IndividualCode | None:
        transaction = call.said["header"]["transactionId"]
        refused = call.answer.get("invalidCoupons", ())
        if call.outcome == "unknown" or self.spent_by == transaction:
            return self
        if refused:
            return self._is_refused(call, refused[0]["reason"], transaction)
        return self if self._is_free_for(call, transaction) else None

    def _reserve(self, call: Call) -> IndividualCode | None:
        transaction = call.said["transactionId"]
        if call.outcome == "refused":
            return self._is_refused(call, call.code, transaction)
        made, hold = _made(call), self.hold
        if self.spent_by:
            return None
        if hold is not None and hold.transaction == transaction and hold.id in {"", made.id}:
            return replace(self, hold=made if made.id else hold)  # the same reservation again
        return replace(self, hold=made) if hold is None or hold.may_have_ended(call) else None

    def _redeem(self, call: Call) -> IndividualCode | None:
        hold, transaction = self.hold, call.said["transactionId"]
        is_its_own = hold is not None and hold.is_named(call) and hold.transaction == transaction
        if call.outcome == "refused":
            return self if self._refuses_to_redeem(call, is_its_own) else None
        if not is_its_own or hold is None or self.spent_by or not hold.may_live(call):
            return None
        return IndividualCode(None, transaction, call.said["reservationId"])

    def _refuses_to_redeem(self, call: Call, is_its_own: bool) -> bool:
        if call.code == "REDEEMED_BEFORE":
            return self.spent_by == str(call.said["transactionId"])
        if self.spent_by:
            return call.code in {"ALREADY_REDEEMED", "RESERVATION_NOT_FOUND", "WRONG_TRANSACTION"}
        hold = self.hold
        if hold is None or not hold.is_named(call):
            return call.code == "RESERVATION_NOT_FOUND"
        if call.code == "WRONG_TRANSACTION":
            return not is_its_own
        return call.code == "RESERVATION_EXPIRED" and hold.may_have_ended(call)

    def _cancel(self, call: Call) -> IndividualCode | None:
        hold = self.hold
        is_there = hold is not None and hold.is_named(call) and not self.spent_by
        if call.outcome == "refused":
            return self if not is_there or (hold is not None and hold.may_have_ended(call)) else None
        return replace(self, hold=None) if is_there else None

    def _confirm(self, call: Call) -> IndividualCode | None:
        transaction = call.said["transactionId"]
        if call.outcome == "refused":
            return self._is_refused(call, call.code, transaction)
        if self.spent_by == transaction:
            return self  # already redeemed or confirmed
        return IndividualCode(None, transaction) if self._is_free_for(call, transaction) else None


@dataclass(frozen=True, slots=True)
class Use:
    """One use counted against a limit: certainly in use for a time, possibly a little longer."""

    customer: str
    perhaps_from: float
    surely_from: float
    surely_until: float = inf
    perhaps_until: float = inf

    def may_be_at(self, moment: float) -> bool:
        return self.perhaps_from <= moment <= self.perhaps_until

    def is_at(self, moment: float) -> bool:
        return self.surely_from <= moment < self.surely_until


def held_or_spent(calls: Iterable[Call]) -> list[Use]:
    """Return the uses that count against the total limit: reservations until they are cancelled, and sales."""
    known = list(calls)
    back = {call.said["reservationId"]: call for call in known if call.kind == "cancel" and call.outcome == "ok"}
    made = [call for call in known if call.kind in {"reserve", "confirm"} and call.outcome == "ok"]
    found = []
    for call in made:
        given_back = back.get(call.answer.get("reservationId"))
        until = (given_back.began, given_back.ended) if given_back is not None else (inf, inf)
        found.append(Use(call.said["customerId"], call.began, call.ended, *until))
    return found


def spent(calls: Iterable[Call]) -> list[Use]:
    """Return the uses that count against the limit per customer."""
    done = [call for call in calls if call.kind in {"redeem", "confirm"} and call.outcome == "ok"]
    return [Use(call.said["customerId"], call.began, call.ended) for call in done]


def check_limits(calls: Sequence[Call], most: int, most_per_customer: int) -> None:
    """Check that the limits were never exceeded and that no call was refused while there was certainly room.

    ``said`` of every call names the customer. Whoever holds a code is not refused it because of others.
    """
    all_uses, spent_uses = held_or_spent(calls), spent(calls)
    for moment in [use.surely_from for use in all_uses + spent_uses]:
        assert sum(use.is_at(moment) for use in all_uses) <= most
        by_customer = Counter(use.customer for use in spent_uses if use.is_at(moment))
        assert max(by_customer.values(), default=0) <= most_per_customer
    for call in calls:
        if call.outcome != "refused":
            continue
        theirs = [use for use in spent_uses if use.customer == call.said["customerId"]]
        others = [] if call.kind == "redeem" else all_uses
        assert _may_reach(theirs, most_per_customer, call) or _may_reach(others, most, call), f"room for {call}"


def _may_reach(uses: Sequence[Use], limit: int, call: Call) -> bool:
    """Return whether that many uses are possible at some moment during a call."""
    moments = [call.began, *(use.perhaps_from for use in uses if call.began <= use.perhaps_from <= call.ended)]
    return any(sum(use.may_be_at(moment) for use in uses) >= limit for moment in moments)
