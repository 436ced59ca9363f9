"""Binding approval: no customer gets anything whose exact content nobody but its authors has approved (decision 37).

Every authoring unit ends here, whatever it wrote and by whichever way: the promotions that it changed, or whose
campaign it changed, are compared with what was approved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from promenade.errors import Conflict, Forbidden, Invalid
from promenade.store.authoring import approvals as store
from promenade.store.authoring.approvals import CompletedForecast, Policy, read_policy
from promenade.store.authoring.statements import Columns, insert_rows, read_rows, update_rows
from promenade.store.driver.unit import Session
from promenade.store.pricing.definitions import read_contents
from promenade.workflows.authoring.shapes import shape_of
from promenade.workflows.authoring.unit import Act, Decision, Unit, Write

__all__ = [
    "DAYS_MIN",
    "DECISIONS",
    "ENDED_DAYS_MAX",
    "LIVE",
    "Policy",
    "decision_of",
    "read_policy",
    "settle_approvals",
    "take_stock",
]

DAYS_MIN = 28
"""Days that a forecast must cover to say what a promotion costs."""

ENDED_DAYS_MAX = 28
"""Days after its last one for which a forecast counts."""

DECISIONS = frozenset({"approve", "reject"})
LIVE = frozenset({"ACTIVE", "PILOT"})
_ON_THE_WAY = frozenset({"PENDING_APPROVAL", "APPROVED"})
_NOT_CONTENT = frozenset({"status", "code", "description", "external_reference"})
_CONTENT_OF_CAMPAIGNS = frozenset({"start_at", "end_at", "merge_promotion_pos_groups"})
_SET = "PromotionApprovals"


def decision_of(policy: Policy, verb: str, reason: str | None) -> Decision:
    """Return the decision of a user who may decide. Raises Invalid (REQUIRED) for a rejection without a reason."""
    said = (reason or "").strip() or None
    if policy.is_binding and verb == "reject" and said is None:
        raise Invalid("REQUIRED", "A rejection needs a reason: its author must know what to change.", "reason")
    return Decision(verb, said)


async def settle_approvals(unit: Unit) -> None:
    """Record submissions and decisions, withdraw what is out of date, and refuse what must not run.

    Adds Conflict (APPROVAL_REQUIRED) for each promotion that would run, or would be approved without a decision, and
    raises Forbidden (OWN_APPROVAL). Does nothing if the tenant's approval is not binding.
    """
    if not unit.ids_of("Promotions") and not unit.ids_of("Campaigns"):
        return
    policy = await read_policy(unit.session)
    if policy.is_binding:
        await _Settlement(unit, policy).settle()


async def take_stock(session: Session, *, at: datetime, user: str, new_id: Callable[[], str]) -> None:
    """Make the queue agree with the promotions when approval becomes binding: until then nothing kept it."""
    waiting, pending = await store.read_waiting(session)
    queued = {one["promotion_id"] for one in pending}
    await update_rows(
        session, _SET, [(one["id"], _withdrawn(at, user)) for one in pending if one["promotion_id"] not in set(waiting)]
    )
    missing = [key for key in waiting if key not in queued]
    contents = await read_contents(session, missing)
    submissions = [
        _submission(row, contents[row["id"]], row["modified_by"] or user, row["modified_at"], new_id)
        for row in await read_rows(session, "Promotions", "id", missing)
    ]
    await insert_rows(session, _SET, submissions)


@dataclass(slots=True)
class _Matter:
    """A promotion that the unit has changed. ``was``: its status before; None: it did not exist, or did not run."""

    id: str
    row: Columns | None
    own: Sequence[Write]
    writes: Sequence[Write]
    was: str | None
    has_new_content: bool
    content: str = ""

    @property
    def status(self) -> str | None:
        return None if self.row is None else str(self.row["status"])

    @property
    def verbs(self) -> set[str]:
        return {one.verb for one in self.own if one.act is Act.UPDATE and one.verb and one.differs("status")}

    @property
    def must_be_approved(self) -> bool:
        return self.status in LIVE and (self.was != self.status or self.has_new_content)


class _Settlement:
    """The comparison of one unit's promotions with what was approved."""

    def __init__(self, unit: Unit, policy: Policy) -> None:
        self._unit = unit
        self._session = unit.session
        self._policy = policy
        self._approved: set[str] = set()
        self._changes: dict[str, Columns] = {}
        self._submissions: list[Columns] = []

    async def settle(self) -> None:
        matters = await self._matters()
        contents = await read_contents(self._session, [one.id for one in matters if one.row is not None])
        for one in matters:
            one.content = contents.get(one.id, "")
        await self._note_authors(matters)
        known: dict[str, list[Columns]] = {one.id: [] for one in matters}
        for approval in await store.read_open(self._session, known):
            known[approval["promotion_id"]].append(approval)
        for one in matters:
            await self._settle(one, known[one.id])
        await update_rows(self._session, _SET, list(self._changes.items()))
        await self._add_costs(contents)
        await insert_rows(self._session, _SET, self._submissions)
        await self._require([one for one in matters if one.must_be_approved and one.id not in self._approved])

    async def _matters(self) -> list[_Matter]:
        """Return the promotions that the unit has changed itself or through their campaigns, locked."""
        unit = self._unit
        own = set(unit.ids_of("Promotions"))
        campaigns = {key: unit.subjects["Campaigns", key] for key in unit.ids_of("Campaigns")}
        changed = {key for key, writes in campaigns.items() if _changes_content(writes) or _is_revived(writes)}
        through = await store.read_promotions_of(self._session, changed) if changed else set()
        # Nobody else activates a promotion whose link or campaign this unit has changed, until it ends.
        rows = await read_rows(self._session, "Promotions", "id", own | through, lock="share")
        by_id = {row["id"]: row for row in rows}
        found = []
        for key in sorted(own | through):
            row = by_id.get(key)
            of_campaign = campaigns.get(row["campaign_id"], ()) if row is not None and key in through else ()
            found.append(_matter(key, row, unit.subjects.get(("Promotions", key), ()), of_campaign))
        return found

    async def _note_authors(self, matters: Sequence[_Matter]) -> None:
        user = self._unit.user
        written = [one for one in matters if one.row is not None and one.has_new_content]
        authors = {(one.id, user) for one in written if one.row and one.row["created_by"] != user}
        for one in matters:  # the submission is itself a change of the row, which hides who changed it before
            if "submit" in one.verbs and one.own[0].before and one.own[0].before["modified_by"]:
                authors.add((one.id, one.own[0].before["modified_by"]))
        await store.add_authors(self._session, authors)

    async def _settle(self, matter: _Matter, known: Sequence[Columns]) -> None:
        if matter.row is None:
            self._withdraw(known)
            await store.forget_authors(self._session, [matter.id])
            return
        verbs = matter.verbs
        is_submitted = "submit" in verbs and matter.status == "PENDING_APPROVAL"
        if verbs & DECISIONS:
            known = await self._decide(matter, known)
        held = [one for one in known if not is_submitted and _holds(one, matter)]
        self._withdraw([one for one in known if one not in held])
        if held:
            self._approved.update({matter.id} if any(one["status"] == "APPROVED" for one in held) else ())
        elif is_submitted:
            self._submissions.append(
                _submission(matter.row, matter.content, self._unit.user, self._unit.at, self._unit.new_id)
            )
        elif matter.status in _ON_THE_WAY and matter.id not in self._approved and (matter.has_new_content or known):
            await self._send_back(matter)

    async def _decide(self, matter: _Matter, known: Sequence[Columns]) -> list[Columns]:
        """Store a decision; return the approvals besides it."""
        unit, decision = self._unit, self._unit.decisions.get(matter.id)
        if matter.row is None or decision is None or decision.verb not in matter.verbs:
            self._refuse(matter, _not_decided())
            return list(known)
        if decision.verb == "approve":
            await self._refuse_authors(matter)
            await store.forget_authors(self._session, [matter.id])
            self._approved.add(matter.id)
        pending = [one for one in known if one["status"] == "PENDING"]
        values: Columns = {
            "status": "APPROVED" if decision.verb == "approve" else "REJECTED",
            "decided_at": unit.at,
            "decided_by": unit.user,
            "reason": decision.reason,
            "content_hash": matter.content,
        }
        if pending:
            self._changes[pending[-1]["id"]] = values | {"modified_at": unit.at, "modified_by": unit.user}
            return [one for one in known if one is not pending[-1]]
        before = matter.own[0].before or matter.row
        submitted = (before["modified_by"] or unit.user, before["modified_at"])
        self._submissions.append(_submission(matter.row, matter.content, *submitted, unit.new_id) | values)
        return list(known)

    async def _refuse_authors(self, matter: _Matter) -> None:
        """Raise Forbidden if the user has written, last changed or submitted the promotion."""
        unit = self._unit
        authors = await store.read_authors(self._session, matter.id)
        for row in (matter.own[0].before, matter.row):
            authors |= {row["created_by"]} if row else set()
        authors |= {row["modified_by"] for row in (matter.own[0].before,) if row}
        if "submit" in matter.verbs or unit.user in authors:
            message = "Nobody approves a promotion that they have created, changed or submitted: ask somebody else."
            raise Forbidden("OWN_APPROVAL", message)

    def _withdraw(self, approvals: Collection[Columns]) -> None:
        for one in approvals:
            self._changes[one["id"]] = _withdrawn(self._unit.at, self._unit.user)

    async def _send_back(self, matter: _Matter) -> None:
        """Make a promotion a draft again, whose content is not what was submitted or approved."""
        unit, before = self._unit, matter.row
        if before is None:
            return
        write = Write(
            shape_of("Promotions"), Act.UPDATE, matter.id, "", before, before | {"status": "DRAFT"}, is_named=True
        )
        write.verb = "withdraw"
        matter.row = write.after
        await update_rows(self._session, "Promotions", [(matter.id, {"status": "DRAFT"} | unit.stamps(write.shape))])
        unit.written.append(write)
        unit.subjects.setdefault(("Promotions", matter.id), []).append(write)

    async def _require(self, matters: Sequence[_Matter]) -> None:
        if not matters:
            return
        limit = self._policy.from_amount
        costs = {} if limit is None else await self._costs({one.id: one.content for one in matters})
        for one in matters:
            cost = costs.get(one.id)
            is_small = cost is not None and limit is not None and cost.amount < limit
            if not is_small or cost is None or cost.currency != self._policy.currency:
                self._refuse(one, _changed_while_running() if one.was == one.status else _not_approved())

    async def _add_costs(self, contents: dict[str, str]) -> None:
        wanted = {one["promotion_id"]: contents[one["promotion_id"]] for one in self._submissions}
        costs = await self._costs(wanted) if wanted else {}
        for one in self._submissions:
            cost = costs.get(one["promotion_id"])
            if cost is not None:
                one |= {"forecast_cost": cost.amount, "currency": cost.currency}

    async def _costs(self, contents: dict[str, str]) -> dict[str, _Cost]:
        """Return what promotions cost by their forecasts, of those of which it is known.

        Of coupons it is not: in the past there were others, or none.
        """
        since = (self._unit.at - timedelta(days=ENDED_DAYS_MAX)).date()
        forecasts = await store.read_latest_forecasts(self._session, contents, days_min=DAYS_MIN, ended_since=since)
        links = await read_rows(self._session, "CouponTypePromotions", "promotion_id", forecasts) if forecasts else ()
        with_coupons = {link["promotion_id"] for link in links}
        costs = {key: _cost_of(one) for key, one in forecasts.items() if key not in with_coupons}
        return {key: cost for key, cost in costs.items() if cost is not None}

    def _refuse(self, matter: _Matter, fault: Conflict) -> None:
        """Add the fault for each row of an import that is at fault, else once."""
        unit = self._unit
        if unit.faults.in_turn:
            targets = [f"{place}/" for place in sorted({one.place for one in matter.writes if one.place})]
        else:
            targets = [one.target("status") for one in matter.own if "status" in one.given][:1]
        for target in targets or (None,):
            unit.faults.add(Conflict(fault.code, fault.message, target))


def _not_approved() -> Conflict:
    message = (
        "The promotion needs an approval of exactly this content by somebody who has not written it: submit it for"
        " approval."
    )
    return Conflict("APPROVAL_REQUIRED", message)


def _changed_while_running() -> Conflict:
    message = (
        "The promotion is running, and this change of it is not approved: deactivate it, change it, and submit it for"
        " approval."
    )
    return Conflict("APPROVAL_REQUIRED", message)


def _not_decided() -> Conflict:
    message = "Approval is binding: only the actions approve and reject decide about a submitted promotion."
    return Conflict("APPROVAL_REQUIRED", message)


@dataclass(frozen=True, slots=True)
class _Cost:
    amount: Decimal
    currency: str


def _cost_of(forecast: CompletedForecast) -> _Cost | None:
    """Return the cost of a promotion by its forecast; None: the forecast does not say.

    It does not if the promotion applied to no sale, a sale could not be priced again, a budget held the cost down,
    the promotion grants points, or it costs something in several currencies.
    """
    row = forecast.row
    is_held_down = any(one["baskets_limited"] for one in forecast.budgets)
    if not row["baskets_affected"] or row["baskets_skipped"] or row["points"] or is_held_down:
        return None
    costs = [_Cost(one["discount"] + one["give_away_value"], one["currency"]) for one in forecast.amounts]
    real = [one for one in costs if one.amount] or costs[:1]
    return real[0] if len(real) == 1 else None


def _matter(key: str, row: Columns | None, writes: Sequence[Write], of_campaign: Sequence[Write]) -> _Matter:
    own = [one for one in writes if one.set_name == "Promotions" and one.id == key]
    was = None if row is None else str(row["status"])
    if own:
        was = None if own[0].before is None else str(own[0].before["status"])
    if _is_revived(of_campaign):
        was = None
    has_new_content = _changes_content(writes) or _changes_content(of_campaign)
    return _Matter(key, row, own, writes, was, has_new_content)


def _changes_content(writes: Sequence[Write]) -> bool:
    """Return whether writes to a promotion or a campaign, or to what belongs to it, change what customers get."""
    for one in writes:
        if one.set_name == "Promotions":
            changed = set(one.changed) - _NOT_CONTENT
        elif one.set_name == "Campaigns":
            changed = set(one.changed) & _CONTENT_OF_CAMPAIGNS
        else:
            return True
        if changed or one.emptied or one.act is Act.CREATE:
            return True
    return False


def _is_revived(writes: Sequence[Write]) -> bool:
    """Return whether a cancelled campaign gets into effect again, and its promotions with it."""
    return any(one.set_name == "Campaigns" and one.verb == "schedule" for one in writes)


def _holds(approval: Columns, matter: _Matter) -> bool:
    is_due = approval["status"] == "APPROVED" or matter.status == "PENDING_APPROVAL"
    return is_due and approval["content_hash"] == matter.content


def _submission(row: Columns, content: str, user: str, at: datetime, new_id: Callable[[], str]) -> Columns:
    return {
        "id": new_id(),
        "promotion_id": row["id"],
        "promotion_name": row["name"],
        "status": "PENDING",
        "submitted_at": at,
        "submitted_by": user,
        "forecast_cost": None,
        "currency": None,
        "decided_at": None,
        "decided_by": None,
        "reason": None,
        "content_hash": content,
        "created_at": at,
        "created_by": user,
        "modified_at": at,
        "modified_by": user,
    }


def _withdrawn(at: datetime, user: str) -> Columns:
    return {"status": "WITHDRAWN", "decided_at": at, "decided_by": user, "modified_at": at, "modified_by": user}
